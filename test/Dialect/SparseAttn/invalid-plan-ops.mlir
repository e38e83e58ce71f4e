// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (place C1)
func.func @place(%q: tensor<8x512x64xf32>, %k: tensor<2x512x64xf32>) {
  // expected-error @below {{'sparseattn.place' op heads of placement must equal heads of q: got 4, expected 8}}
  %0 = sparseattn.place %q, %k on <mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8>
    : tensor<8x512x64xf32>, tensor<2x512x64xf32>
  return
}

// -----

// (place C2)
func.func @place(%q: tensor<4x512x64xf32>, %k: tensor<4x512x64xf32>) {
  // expected-error @below {{'sparseattn.place' op kv heads of placement must equal heads of k: got 2, expected 4}}
  %0 = sparseattn.place %q, %k on <mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8>
    : tensor<4x512x64xf32>, tensor<4x512x64xf32>
  return
}

// -----

// (place C3)
func.func @place(%q: tensor<4x512x64xf32>, %k: tensor<2x512x32xf32>) {
  // expected-error @below {{'sparseattn.place' op head dimension of k must equal that of q: got 32, expected 64}}
  %0 = sparseattn.place %q, %k on <mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8>
    : tensor<4x512x64xf32>, tensor<2x512x32xf32>
  return
}

// -----

// (place C4)
func.func @place(%q: tensor<4x512x64xf32>, %k: tensor<2x512x64xbf16>) {
  // expected-error @below {{'sparseattn.place' op element type of k must equal that of q: got 'bf16', expected 'f32'}}
  %0 = sparseattn.place %q, %k on <mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 2, q_blocks = 8, kv_blocks = 8>
    : tensor<4x512x64xf32>, tensor<2x512x64xbf16>
  return
}

// -----

// (balance C1)
func.func @balance(%p: !sparseattn.plan, %m: !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>) {
  // expected-error @below {{'sparseattn.balance' op thresholds: got 900, 1100, expected 1000 <= k1 <= k2}}
  %0 = sparseattn.balance %p, %m using swap thresholds 900, 1100 : !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>
  return
}

// -----

// (balance C1)
func.func @balance(%p: !sparseattn.plan, %m: !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>) {
  // expected-error @below {{'sparseattn.balance' op thresholds: got 1100, 1050, expected 1000 <= k1 <= k2}}
  %0 = sparseattn.balance %p, %m using swap thresholds 1100, 1050 : !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>
  return
}

// -----

// (balance C2)
func.func @balance(%p: !sparseattn.plan, %m: !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>) {
  // expected-error @below {{'sparseattn.balance' op heads of plan must equal heads of mask: got 5, expected 4}}
  %0 = sparseattn.balance %p, %m using swap plan <mesh = <ulysses = 2, ring = 1>, heads = 5, kv_heads = 1, q_blocks = 8, kv_blocks = 8> : !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>
  return
}

// -----

// (balance C2)
func.func @balance(%p: !sparseattn.plan, %m: !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>) {
  // expected-error @below {{'sparseattn.balance' op q-blocks of plan must equal q-blocks of mask: got 7, expected 8}}
  %0 = sparseattn.balance %p, %m using swap plan <mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 1, q_blocks = 7, kv_blocks = 8> : !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>
  return
}

// -----

// (balance C2)
func.func @balance(%p: !sparseattn.plan, %m: !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>) {
  // expected-error @below {{'sparseattn.balance' op kv-blocks of plan must equal kv-blocks of mask: got 9, expected 8}}
  %0 = sparseattn.balance %p, %m using swap plan <mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 1, q_blocks = 8, kv_blocks = 9> : !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>
  return
}

// -----

// (balance C3)
func.func @balance(%p: !sparseattn.plan, %m: !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>) {
  // expected-error @below {{'sparseattn.balance' op moves of a plan under the algorithm none: got 1, expected 0}}
  %0 = sparseattn.balance %p, %m using none plan <mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 1, q_blocks = 8, kv_blocks = 8, moves = [[1, 0, 1]]> : !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>
  return
}

// -----

func.func @balance_algorithm(%p: !sparseattn.plan, %m: !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>) {
  // expected-error @below {{expected string or keyword containing one of the following enum values for attribute 'algorithm' [none, swap, split, pre]}}
  %0 = sparseattn.balance %p, %m using magic : !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>
  return
}

// -----

// (balance C4)
func.func @balance(%p: !sparseattn.plan, %m: !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>) {
  // expected-error @below {{'sparseattn.balance' op most row moves per rank: got 1025, expected 0 to 1024}}
  %0 = sparseattn.balance %p, %m using split pieces 1025 : !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>
  return
}

// -----

// (augment C1)
func.func @augment(%p: !sparseattn.plan, %m: !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>) {
  // expected-error @below {{'sparseattn.augment' op slack: got -1, 70, expected two numbers from 0 to 1000}}
  %0 = sparseattn.augment %m, %p slack -1, 70 : !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>
  return
}

// -----

// (augment C1)
func.func @augment(%p: !sparseattn.plan, %m: !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>) {
  // expected-error @below {{'sparseattn.augment' op slack: got 800, 1001, expected two numbers from 0 to 1000}}
  %0 = sparseattn.augment %m, %p slack 800, 1001 : !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>
  return
}

// -----

// (augment C2)
func.func @augment_type(%p: !sparseattn.plan, %m: !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>) {
  // expected-error @below {{'sparseattn.augment' op type of the result must equal type of mask: got '!sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512, causal>', expected '!sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>'}}
  %0 = "sparseattn.augment"(%m, %p)
    : (!sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>, !sparseattn.plan) -> !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512, causal>
  return
}

// -----

// (reshard C1)
func.func @reshard(%p: !sparseattn.plan, %x: tensor<4x512x64xf32>) {
  // expected-error @below {{'sparseattn.reshard' op type of output must equal type of input: got 'tensor<4x256x64xf32>', expected 'tensor<4x512x64xf32>'}}
  %0 = "sparseattn.reshard"(%x, %p) <{layout = 1 : i32}>
    : (tensor<4x512x64xf32>, !sparseattn.plan) -> tensor<4x256x64xf32>
  return
}

// -----

func.func @reshard_layout(%p: !sparseattn.plan, %x: tensor<4x512x64xf32>) {
  // expected-error @below {{expected string or keyword containing one of the following enum values for attribute 'layout' [sequence, heads]}}
  %0 = sparseattn.reshard %x, %p to tokens : tensor<4x512x64xf32>
  return
}

// -----

func.func @reshard_dynamic(%p: !sparseattn.plan, %x: tensor<4x?x64xf32>) {
  // expected-error @below {{'sparseattn.reshard' op operand #0 must be static tensor<heads x tokens (x head_dim)> of f32, bf16 or f16, but got 'tensor<4x?x64xf32>'}}
  %0 = sparseattn.reshard %x, %p to heads : tensor<4x?x64xf32>
  return
}

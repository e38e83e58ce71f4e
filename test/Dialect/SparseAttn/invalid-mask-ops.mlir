// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (pool C1)
func.func @pool(%x: tensor<2x260x64xf32>) {
  // expected-error @below {{'sparseattn.pool' op block size is not supported: got 130, expected 16 to 128 in steps of 8}}
  %0 = sparseattn.pool %x block 130 : tensor<2x260x64xf32> -> tensor<2x2x64xf32>
  return
}

// -----

// (pool C1)
func.func @pool(%x: tensor<2x40x64xf32>) {
  // expected-error @below {{'sparseattn.pool' op block size is not supported: got 20, expected 16 to 128 in steps of 8}}
  %0 = sparseattn.pool %x block 20 : tensor<2x40x64xf32> -> tensor<2x2x64xf32>
  return
}

// -----

// (pool C1)
func.func @pool(%x: tensor<2x40x64xf32>) {
  // expected-error @below {{'sparseattn.pool' op block size is not supported: got -64, expected 16 to 128 in steps of 8}}
  %0 = sparseattn.pool %x block -64 : tensor<2x40x64xf32> -> tensor<2x0x64xf32>
  return
}

// -----

// (pool C2)
func.func @pool(%x: tensor<2x100x64xf32>) {
  // expected-error @below {{'sparseattn.pool' op block count of output must equal ceil(100 / 64): got 1, expected 2}}
  %0 = sparseattn.pool %x block 64 : tensor<2x100x64xf32> -> tensor<2x1x64xf32>
  return
}

// -----

// (pool C3)
func.func @pool(%x: tensor<2x100x64xf32>) {
  // expected-error @below {{'sparseattn.pool' op head count of output must equal that of input: got 1, expected 2}}
  %0 = sparseattn.pool %x block 64 : tensor<2x100x64xf32> -> tensor<1x2x64xf32>
  return
}

// -----

// (pool C4)
func.func @pool(%x: tensor<2x100x64xf32>) {
  // expected-error @below {{'sparseattn.pool' op head dimension of output must equal that of input: got 32, expected 64}}
  %0 = sparseattn.pool %x block 64 : tensor<2x100x64xf32> -> tensor<2x2x32xf32>
  return
}

// -----

// (route C1)
func.func @route(%pq: tensor<4x2x64xf32>, %pk: tensor<2x3x64xf32>) {
  // expected-error @below {{'sparseattn.route' op head count of mask must equal heads of pooled q: got 2, expected 4}}
  %0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1
    : tensor<4x2x64xf32>, tensor<2x3x64xf32> -> !sparseattn.mask<2x2x3, block = 64x64, tokens = 100x150>
  return
}

// -----

// (route C2)
func.func @route(%pq: tensor<2x2x64xf32>, %pk: tensor<3x3x64xf32>) {
  // expected-error @below {{'sparseattn.route' op heads of pooled k must divide heads of pooled q: got 3, expected a divisor of 2}}
  %0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1
    : tensor<2x2x64xf32>, tensor<3x3x64xf32> -> !sparseattn.mask<2x2x3, block = 64x64, tokens = 100x150>
  return
}

// -----

// (route C2)
func.func @route(%pq: tensor<2x2x64xf32>, %pk: tensor<0x3x64xf32>) {
  // expected-error @below {{'sparseattn.route' op heads of pooled k must divide heads of pooled q: got 0, expected a divisor of 2}}
  %0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1
    : tensor<2x2x64xf32>, tensor<0x3x64xf32> -> !sparseattn.mask<2x2x3, block = 64x64, tokens = 100x150>
  return
}

// -----

// (route C3)
func.func @route(%pq: tensor<2x2x64xf32>, %pk: tensor<2x3x32xf32>) {
  // expected-error @below {{'sparseattn.route' op head dimension of pooled k must equal that of pooled q: got 32, expected 64}}
  %0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1
    : tensor<2x2x64xf32>, tensor<2x3x32xf32> -> !sparseattn.mask<2x2x3, block = 64x64, tokens = 100x150>
  return
}

// -----

// (route C4)
func.func @route(%pq: tensor<2x4x64xf32>, %pk: tensor<2x3x64xf32>) {
  // expected-error @below {{'sparseattn.route' op q-block count of mask must equal pooled q rows: got 2, expected 4}}
  %0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1
    : tensor<2x4x64xf32>, tensor<2x3x64xf32> -> !sparseattn.mask<2x2x3, block = 64x64, tokens = 100x150>
  return
}

// -----

// (route C5)
func.func @route(%pq: tensor<12x110x128xf32>, %pk: tensor<12x110x128xf32>) {
  // expected-error @below {{'sparseattn.route' op kv-block count of mask must equal pooled k rows: got 109, expected 110}}
  %0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1
    : tensor<12x110x128xf32>, tensor<12x110x128xf32> -> !sparseattn.mask<12x110x109, block = 128x128, tokens = 14040x13900>
  return
}

// -----

// (route C6)
func.func @route(%pq: tensor<2x2x64xf32>, %pk: tensor<2x3x64xf32>) {
  // expected-error @below {{'sparseattn.route' op keep ranges of the policy must end within the kv-blocks: got 4, expected at most 3}}
  %0 = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9, keep = [[0, 1], [2, 4]]> scale 0.1
    : tensor<2x2x64xf32>, tensor<2x3x64xf32> -> !sparseattn.mask<2x2x3, block = 64x64, tokens = 100x150>
  return
}

// -----

// (route C7)
func.func @route(%pq: tensor<2x2x64xf32>, %pk: tensor<2x3x64xf32>) {
  // expected-error @below {{'sparseattn.route' op scale must be finite: got nan, expected a finite number}}
  %0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0x7FC00000
    : tensor<2x2x64xf32>, tensor<2x3x64xf32> -> !sparseattn.mask<2x2x3, block = 64x64, tokens = 100x150>
  return
}

// -----

// (explicit_mask C1)
func.func @explicit_mask() {
  // expected-error @below {{'sparseattn.explicit_mask' op shape of bits must equal that of mask: got 2x2x2, expected 2x2x3}}
  %0 = sparseattn.explicit_mask dense<true> : tensor<2x2x2xi1>
    -> !sparseattn.mask<2x2x3, block = 64x64, tokens = 100x150>
  return
}

// -----

// (explicit_mask C1)
func.func @explicit_mask_rank() {
  // expected-error @below {{'sparseattn.explicit_mask' op shape of bits must equal that of mask: got 12, expected 2x2x3}}
  %0 = sparseattn.explicit_mask dense<true> : tensor<12xi1>
    -> !sparseattn.mask<2x2x3, block = 64x64, tokens = 100x150>
  return
}

// -----

func.func @explicit_mask_element() {
  // expected-error @below {{'sparseattn.explicit_mask' op attribute 'bits' failed to satisfy constraint: 1-bit signless integer elements attribute}}
  %0 = sparseattn.explicit_mask dense<1> : tensor<2x2x3xi8>
    -> !sparseattn.mask<2x2x3, block = 64x64, tokens = 100x150>
  return
}

// -----

// (policy_mask C1)
func.func @policy_mask() {
  // expected-error @below {{'sparseattn.policy_mask' op policy must not need scores: got #sparseattn.top_k<k = 3>, expected #sparseattn.dense or #sparseattn.window}}
  %0 = sparseattn.policy_mask #sparseattn.top_k<k = 3>
    -> !sparseattn.mask<2x2x3, block = 64x64, tokens = 100x150>
  return
}

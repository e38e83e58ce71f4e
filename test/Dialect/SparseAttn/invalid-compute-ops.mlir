// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (permute C1)
func.func @permute(%x: tensor<2x100x64xf32>) {
  // expected-error @below {{'sparseattn.permute' op token count of input must equal that of the order: got 100, expected 128}}
  %0 = sparseattn.permute %x by <hilbert, grid = [2, 8, 8]> : tensor<2x100x64xf32>
  return
}

// -----

// (permute C2)
func.func @permute_type(%x: tensor<2x128x64xf32>) {
  // expected-error @below {{'sparseattn.permute' op type of output must equal type of input: got 'tensor<2x128x64xbf16>', expected 'tensor<2x128x64xf32>'}}
  %0 = "sparseattn.permute"(%x) <{order = #sparseattn.order<hilbert, grid = [2, 8, 8]>}>
    : (tensor<2x128x64xf32>) -> tensor<2x128x64xbf16>
  return
}

// -----

// (attend C1)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<2x150x64xf16>, %v: tensor<2x150x64xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op element type of k must equal that of q: got 'f16', expected 'f32'}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<2x150x64xf16>, tensor<2x150x64xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x64xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C1)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<2x150x64xf32>, %v: tensor<2x150x64xbf16>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op element type of v must equal that of q: got 'bf16', expected 'f32'}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<2x150x64xf32>, tensor<2x150x64xbf16>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x64xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C2)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<2x150x32xf32>, %v: tensor<2x150x32xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op head dimension of k must equal that of q: got 32, expected 64}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<2x150x32xf32>, tensor<2x150x32xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x64xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C2)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<2x150x64xf32>, %v: tensor<2x150x128xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op head dimension of v must equal that of q: got 128, expected 64}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<2x150x64xf32>, tensor<2x150x128xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x64xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C3)
func.func @attend(%q: tensor<4x100x24xf32>, %k: tensor<2x150x24xf32>, %v: tensor<2x150x24xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op head dimension is not supported: got 24, expected 32 to 256 in steps of 8}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x24xf32>, tensor<2x150x24xf32>, tensor<2x150x24xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x24xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C3)
func.func @attend(%q: tensor<4x100x264xf32>, %k: tensor<2x150x264xf32>, %v: tensor<2x150x264xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op head dimension is not supported: got 264, expected 32 to 256 in steps of 8}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x264xf32>, tensor<2x150x264xf32>, tensor<2x150x264xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x264xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C3)
func.func @attend(%q: tensor<4x100x36xf32>, %k: tensor<2x150x36xf32>, %v: tensor<2x150x36xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op head dimension is not supported: got 36, expected 32 to 256 in steps of 8}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x36xf32>, tensor<2x150x36xf32>, tensor<2x150x36xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x36xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C4)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<2x150x64xf32>, %v: tensor<4x150x64xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op head count of v must equal that of k: got 4, expected 2}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<2x150x64xf32>, tensor<4x150x64xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x64xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C5)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<3x150x64xf32>, %v: tensor<3x150x64xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op heads of k must divide heads of q: got 3, expected a divisor of 4}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<3x150x64xf32>, tensor<3x150x64xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x64xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C5)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<8x150x64xf32>, %v: tensor<8x150x64xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op heads of k must divide heads of q: got 8, expected a divisor of 4}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<8x150x64xf32>, tensor<8x150x64xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x64xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C5)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<0x150x64xf32>, %v: tensor<0x150x64xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op heads of k must divide heads of q: got 0, expected a divisor of 4}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<0x150x64xf32>, tensor<0x150x64xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x64xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C6)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<2x150x64xf32>, %v: tensor<2x149x64xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op token count of v must equal that of k: got 149, expected 150}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<2x150x64xf32>, tensor<2x149x64xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x64xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C7)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<2x150x64xf32>, %v: tensor<2x150x64xf32>,
                  %m: !sparseattn.mask<1x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op head count of mask must equal that of q: got 1, expected 4}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<2x150x64xf32>, tensor<2x150x64xf32>, !sparseattn.mask<1x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x64xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C8)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<2x150x64xf32>, %v: tensor<2x150x64xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 101x150>) {
  // expected-error @below {{'sparseattn.attend' op query token count of mask must equal tokens of q: got 101, expected 100}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<2x150x64xf32>, tensor<2x150x64xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 101x150>
    -> tensor<4x100x64xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C9)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<2x150x64xf32>, %v: tensor<2x150x64xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x151>) {
  // expected-error @below {{'sparseattn.attend' op key token count of mask must equal tokens of k: got 151, expected 150}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<2x150x64xf32>, tensor<2x150x64xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x151>
    -> tensor<4x100x64xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C10)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<2x150x64xf32>, %v: tensor<2x150x64xf32>,
                  %m: !sparseattn.mask<4x1x3, block = 256x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op query block size of mask is not supported: got 256, expected 16 to 128 in steps of 8}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<2x150x64xf32>, tensor<2x150x64xf32>, !sparseattn.mask<4x1x3, block = 256x64, tokens = 100x150>
    -> tensor<4x100x64xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C10)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<2x150x64xf32>, %v: tensor<2x150x64xf32>,
                  %m: !sparseattn.mask<4x2x13, block = 64x12, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op key block size of mask is not supported: got 12, expected 16 to 128 in steps of 8}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<2x150x64xf32>, tensor<2x150x64xf32>, !sparseattn.mask<4x2x13, block = 64x12, tokens = 100x150>
    -> tensor<4x100x64xf32>, tensor<4x100xf32>
  return
}

// -----

// (attend C11)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<2x150x64xf32>, %v: tensor<2x150x64xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op type of o must equal type of q: got 'tensor<4x100x64xbf16>', expected 'tensor<4x100x64xf32>'}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<2x150x64xf32>, tensor<2x150x64xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x64xbf16>, tensor<4x100xf32>
  return
}

// -----

// (attend C12)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<2x150x64xf32>, %v: tensor<2x150x64xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op shape of lse must equal heads x tokens of q: got 4x128, expected 4x100}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : tensor<4x100x64xf32>, tensor<2x150x64xf32>, tensor<2x150x64xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x64xf32>, tensor<4x128xf32>
  return
}

// -----

// (attend C13)
func.func @attend(%q: tensor<4x100x64xf32>, %k: tensor<2x150x64xf32>, %v: tensor<2x150x64xf32>,
                  %m: !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>) {
  // expected-error @below {{'sparseattn.attend' op scale must be finite: got inf, expected a finite number}}
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0x7F800000
    : tensor<4x100x64xf32>, tensor<2x150x64xf32>, tensor<2x150x64xf32>, !sparseattn.mask<4x2x3, block = 64x64, tokens = 100x150>
    -> tensor<4x100x64xf32>, tensor<4x100xf32>
  return
}

// -----

func.func @attend_operand(%q: tensor<100x64xf32>, %m: !sparseattn.mask<4x2x2, block = 64x64, tokens = 100x100>) {
  // expected-error @below {{'sparseattn.attend' op operand #0 must be static tensor<heads x tokens x head_dim> of f32, bf16 or f16, but got 'tensor<100x64xf32>'}}
  %o, %lse = sparseattn.attend %q, %q, %q, %m scale 1.0
    : tensor<100x64xf32>, tensor<100x64xf32>, tensor<100x64xf32>,
      !sparseattn.mask<4x2x2, block = 64x64, tokens = 100x100>
    -> tensor<100x64xf32>, tensor<4x100xf32>
  return
}

// -----

func.func @attend_element(%q: tensor<4x100x64xf64>, %m: !sparseattn.mask<4x2x2, block = 64x64, tokens = 100x100>) {
  // expected-error @below {{'sparseattn.attend' op operand #0 must be static tensor<heads x tokens x head_dim> of f32, bf16 or f16, but got 'tensor<4x100x64xf64>'}}
  %o, %lse = sparseattn.attend %q, %q, %q, %m scale 1.0
    : tensor<4x100x64xf64>, tensor<4x100x64xf64>, tensor<4x100x64xf64>,
      !sparseattn.mask<4x2x2, block = 64x64, tokens = 100x100>
    -> tensor<4x100x64xf64>, tensor<4x100xf32>
  return
}

// -----

// (merge C1)
func.func @merge(%o0: tensor<2x100x64xf32>, %l0: tensor<2x100xf32>,
                 %o1: tensor<2x99x64xf32>, %l1: tensor<2x100xf32>) {
  // expected-error @below {{'sparseattn.merge' op type of rhs_o must equal type of lhs_o: got 'tensor<2x99x64xf32>', expected 'tensor<2x100x64xf32>'}}
  %o, %lse = "sparseattn.merge"(%o0, %l0, %o1, %l1)
    : (tensor<2x100x64xf32>, tensor<2x100xf32>, tensor<2x99x64xf32>, tensor<2x100xf32>)
    -> (tensor<2x100x64xf32>, tensor<2x100xf32>)
  return
}

// -----

// (merge C1)
func.func @merge(%o0: tensor<2x100x64xf32>, %l0: tensor<2x100xf32>,
                 %o1: tensor<2x100x64xf32>, %l1: tensor<2x100xf32>) {
  // expected-error @below {{'sparseattn.merge' op type of o must equal type of lhs_o: got 'tensor<2x99x64xf32>', expected 'tensor<2x100x64xf32>'}}
  %o, %lse = "sparseattn.merge"(%o0, %l0, %o1, %l1)
    : (tensor<2x100x64xf32>, tensor<2x100xf32>, tensor<2x100x64xf32>, tensor<2x100xf32>)
    -> (tensor<2x99x64xf32>, tensor<2x100xf32>)
  return
}

// -----

// (merge C2)
func.func @merge(%o0: tensor<2x100x64xf32>, %l0: tensor<2x100xf32>,
                 %o1: tensor<2x100x64xf32>, %l1: tensor<2x99xf32>) {
  // expected-error @below {{'sparseattn.merge' op type of rhs_lse must equal type of lhs_lse: got 'tensor<2x99xf32>', expected 'tensor<2x100xf32>'}}
  %o, %lse = "sparseattn.merge"(%o0, %l0, %o1, %l1)
    : (tensor<2x100x64xf32>, tensor<2x100xf32>, tensor<2x100x64xf32>, tensor<2x99xf32>)
    -> (tensor<2x100x64xf32>, tensor<2x100xf32>)
  return
}

// -----

// (merge C2)
func.func @merge(%o0: tensor<2x100x64xf32>, %l0: tensor<2x100xf32>,
                 %o1: tensor<2x100x64xf32>, %l1: tensor<2x100xf32>) {
  // expected-error @below {{'sparseattn.merge' op type of lse must equal type of lhs_lse: got 'tensor<2x99xf32>', expected 'tensor<2x100xf32>'}}
  %o, %lse = "sparseattn.merge"(%o0, %l0, %o1, %l1)
    : (tensor<2x100x64xf32>, tensor<2x100xf32>, tensor<2x100x64xf32>, tensor<2x100xf32>)
    -> (tensor<2x100x64xf32>, tensor<2x99xf32>)
  return
}

// -----

// (merge C3)
func.func @merge(%o0: tensor<2x100x64xf32>, %l0: tensor<2x99xf32>,
                 %o1: tensor<2x100x64xf32>, %l1: tensor<2x99xf32>) {
  // expected-error @below {{'sparseattn.merge' op shape of lhs_lse must equal heads x tokens of lhs_o: got 2x99, expected 2x100}}
  %o, %lse = "sparseattn.merge"(%o0, %l0, %o1, %l1)
    : (tensor<2x100x64xf32>, tensor<2x99xf32>, tensor<2x100x64xf32>, tensor<2x99xf32>)
    -> (tensor<2x100x64xf32>, tensor<2x99xf32>)
  return
}

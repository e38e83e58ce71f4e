// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

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

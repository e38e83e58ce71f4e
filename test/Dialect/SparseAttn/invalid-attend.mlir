// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

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

// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (intersect C1)
func.func @intersect(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, %b: !sparseattn.mask<3x2x2, block = 64x64, tokens = 128x128>) {
  // expected-error @below {{'sparseattn.intersect' op heads x tokens of rhs must equal that of lhs: got 3x128x128, expected 2x128x128}}
  %0 = "sparseattn.intersect"(%a, %b) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<3x2x2, block = 64x64, tokens = 128x128>) -> !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>
  return
}

// -----

// (intersect C1)
func.func @intersect(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, %b: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x120>) {
  // expected-error @below {{'sparseattn.intersect' op heads x tokens of rhs must equal that of lhs: got 2x128x120, expected 2x128x128}}
  %0 = "sparseattn.intersect"(%a, %b) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x120>) -> !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>
  return
}

// -----

// (intersect C2)
func.func @intersect(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, %b: !sparseattn.mask<2x2x2, block = 64x72, tokens = 128x128>) {
  // expected-error @below {{'sparseattn.intersect' op block of rhs must equal that of lhs: got 64x72, expected 64x64}}
  %0 = "sparseattn.intersect"(%a, %b) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<2x2x2, block = 64x72, tokens = 128x128>) -> !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>
  return
}

// -----

// (intersect C3)
func.func @intersect(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, %b: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, order = <raster, grid = [2, 8, 8]>>) {
  // expected-error @below {{'sparseattn.intersect' op order of rhs must equal that of lhs: got #sparseattn.order<raster, grid = [2, 8, 8]>, expected none}}
  %0 = "sparseattn.intersect"(%a, %b) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, order = <raster, grid = [2, 8, 8]>>) -> !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>
  return
}

// -----

// (intersect C4)
func.func @intersect(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, %b: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, causal>) {
  // expected-error @below {{'sparseattn.intersect' op causality of rhs must equal that of lhs: got causal, expected not causal}}
  %0 = "sparseattn.intersect"(%a, %b) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, causal>) -> !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>
  return
}

// -----

// (intersect C2)
func.func @intersect_result(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>) {
  // expected-error @below {{'sparseattn.intersect' op block of the result must equal that of lhs: got 64x72, expected 64x64}}
  %0 = "sparseattn.intersect"(%a, %a) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>) -> !sparseattn.mask<2x2x2, block = 64x72, tokens = 128x128>
  return
}

// -----

// (intersect C3)
func.func @intersect_result(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>) {
  // expected-error @below {{'sparseattn.intersect' op order of the result must equal that of lhs: got #sparseattn.order<raster, grid = [2, 8, 8]>, expected none}}
  %0 = "sparseattn.intersect"(%a, %a) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>) -> !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, order = <raster, grid = [2, 8, 8]>>
  return
}

// -----

// (intersect C4)
func.func @intersect_result(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>) {
  // expected-error @below {{'sparseattn.intersect' op causality of the result must equal that of lhs: got causal, expected not causal}}
  %0 = "sparseattn.intersect"(%a, %a) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>) -> !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, causal>
  return
}

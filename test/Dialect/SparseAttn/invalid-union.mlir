// RUN: sparseattn-opt %s --split-input-file --verify-diagnostics

// (union C1)
func.func @union(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, %b: !sparseattn.mask<3x2x2, block = 64x64, tokens = 128x128>) {
  // expected-error @below {{'sparseattn.union' op heads x tokens of rhs must equal that of lhs: got 3x128x128, expected 2x128x128}}
  %0 = "sparseattn.union"(%a, %b) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<3x2x2, block = 64x64, tokens = 128x128>) -> !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>
  return
}

// -----

// (union C1)
func.func @union(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, %b: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x120>) {
  // expected-error @below {{'sparseattn.union' op heads x tokens of rhs must equal that of lhs: got 2x128x120, expected 2x128x128}}
  %0 = "sparseattn.union"(%a, %b) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x120>) -> !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>
  return
}

// -----

// (union C2)
func.func @union(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, %b: !sparseattn.mask<2x2x2, block = 64x72, tokens = 128x128>) {
  // expected-error @below {{'sparseattn.union' op block of rhs must equal that of lhs: got 64x72, expected 64x64}}
  %0 = "sparseattn.union"(%a, %b) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<2x2x2, block = 64x72, tokens = 128x128>) -> !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>
  return
}

// -----

// (union C3)
func.func @union(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, %b: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, order = <raster, grid = [2, 8, 8]>>) {
  // expected-error @below {{'sparseattn.union' op order of rhs must equal that of lhs: got #sparseattn.order<raster, grid = [2, 8, 8]>, expected none}}
  %0 = "sparseattn.union"(%a, %b) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, order = <raster, grid = [2, 8, 8]>>) -> !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>
  return
}

// -----

// (union C4)
func.func @union(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, %b: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, causal>) {
  // expected-error @below {{'sparseattn.union' op causality of rhs must equal that of lhs: got causal, expected not causal}}
  %0 = "sparseattn.union"(%a, %b) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, causal>) -> !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>
  return
}

// -----

// (union C2)
func.func @union_result(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>) {
  // expected-error @below {{'sparseattn.union' op block of the result must equal that of lhs: got 64x72, expected 64x64}}
  %0 = "sparseattn.union"(%a, %a) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>) -> !sparseattn.mask<2x2x2, block = 64x72, tokens = 128x128>
  return
}

// -----

// (union C3)
func.func @union_result(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>) {
  // expected-error @below {{'sparseattn.union' op order of the result must equal that of lhs: got #sparseattn.order<raster, grid = [2, 8, 8]>, expected none}}
  %0 = "sparseattn.union"(%a, %a) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>) -> !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, order = <raster, grid = [2, 8, 8]>>
  return
}

// -----

// (union C4)
func.func @union_result(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>) {
  // expected-error @below {{'sparseattn.union' op causality of the result must equal that of lhs: got causal, expected not causal}}
  %0 = "sparseattn.union"(%a, %a) : (!sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>, !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>) -> !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, causal>
  return
}

// -----

// The short form has one type for all masks.
func.func @union_short(%a: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>,
                       // expected-note @below {{prior use here}}
                       %b: !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, causal>) {
  // expected-error @below {{use of value '%b' expects different type than prior uses}}
  %0 = sparseattn.union %a, %b : !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128>
  return
}

// RUN: sparseattn-translate --sparseattn-to-mask-file %s -o %t.bmt
// RUN: sparseattn-translate --mask-file-to-sparseattn %t.bmt | FileCheck %s
// RUN: sparseattn-translate --mask-file-to-sparseattn %t.bmt -o %t.mlir
// RUN: sparseattn-translate --sparseattn-to-mask-file %t.mlir | cmp - %t.bmt
// RUN: cat %s | sparseattn-translate --sparseattn-to-mask-file - | cmp - %t.bmt

// Order, block shape and every bit survive: an empty row, a row of nine blocks
// (more than a byte), a tail block in both directions.

// CHECK: #order = #sparseattn.order<cubes, grid = [3, 5, 9]>
// CHECK: !mask = !sparseattn.mask<2x3x9, block = 48x16, tokens = 135x135, order = #order>
// CHECK: func.func @mask_layer0_step0() -> !mask {
// CHECK-NEXT: %[[M:.*]] = sparseattn.explicit_mask dense<{{\[\[\[}}false, false, false, false, false, false, false, false, false], [true, true, true, true, true, true, true, true, true], [false, false, false, false, false, false, false, false, true]], {{\[\[}}true, false, false, false, false, false, false, false, false], [false, false, false, false, false, false, false, true, false], [true, false, true, false, true, false, true, false, true]]]> : tensor<2x3x9xi1> -> !mask
// CHECK-NEXT: return %[[M]] : !mask
!mask = !sparseattn.mask<2x3x9, block = 48x16, tokens = 135x135,
  order = #sparseattn.order<cubes, grid = [3, 5, 9]>>
func.func @any(%x: tensor<2x135x64xf32>) {
  %m = sparseattn.explicit_mask dense<[
    [[false, false, false, false, false, false, false, false, false],
     [true, true, true, true, true, true, true, true, true],
     [false, false, false, false, false, false, false, false, true]],
    [[true, false, false, false, false, false, false, false, false],
     [false, false, false, false, false, false, false, true, false],
     [true, false, true, false, true, false, true, false, true]]]>
    : tensor<2x3x9xi1> -> !mask
  return
}

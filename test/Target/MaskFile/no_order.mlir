// RUN: sparseattn-translate --sparseattn-to-mask-file %s -o %t.bmt
// RUN: sparseattn-translate --mask-file-to-sparseattn %t.bmt | FileCheck %s

// A mask without an order comes back in the raster order of one long row.
// CHECK: !sparseattn.mask<1x2x2, block = 64x64, tokens = 100x100
// CHECK: sparseattn.explicit_mask dense<{{\[\[\[}}true, false], [true, true]]]>
!mask = !sparseattn.mask<1x2x2, block = 64x64, tokens = 100x100>
func.func @f() -> !mask {
  %m = sparseattn.explicit_mask dense<[[[true, false], [true, true]]]> : tensor<1x2x2xi1> -> !mask
  return %m : !mask
}

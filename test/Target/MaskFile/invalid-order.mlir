// RUN: not sparseattn-translate --sparseattn-to-mask-file %s 2>&1 | FileCheck %s

// A mask file knows three orders.
// CHECK: error: {{.*}}'sparseattn.explicit_mask' op order of a mask file: got #sparseattn.order<stripes, grid = [1, 8, 8]>, expected raster, cubes of 4 x 4 x 4 or hilbert
!mask = !sparseattn.mask<1x1x1, block = 64x64, tokens = 64x64, order = <stripes, grid = [1, 8, 8]>>
func.func @stripes() -> !mask {
  %0 = sparseattn.explicit_mask dense<true> : tensor<1x1x1xi1> -> !mask
  return %0 : !mask
}

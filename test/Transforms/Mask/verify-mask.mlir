// RUN: sparseattn-opt %s --sparseattn-verify-mask --split-input-file | FileCheck %s

// The pass changes nothing.

#order = #sparseattn.order<hilbert, grid = [1, 10, 10]>
!q = tensor<2x100x64xf32>
!lse = tensor<2x100xf32>
!mask = !sparseattn.mask<2x2x2, block = 64x64, tokens = 100x100, order = #order>

// CHECK-LABEL: func.func @routed
// CHECK: sparseattn.attend
func.func @routed(%q: !q, %k: !q, %v: !q) -> !q
    attributes {sparseattn.boundary_order = #order} {
  %pq = sparseattn.pool %q block 64 : !q -> tensor<2x2x64xf32>
  %pk = sparseattn.pool %k block 64 : !q -> tensor<2x2x64xf32>
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.1
    : tensor<2x2x64xf32>, tensor<2x2x64xf32> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1
    : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

!q = tensor<2x100x64xf32>
!lse = tensor<2x100xf32>
!mask = !sparseattn.mask<2x2x2, block = 64x64, tokens = 100x100>

// CHECK-LABEL: func.func @constant
func.func @constant(%q: !q, %k: !q, %v: !q) -> !q {
  %mask = sparseattn.explicit_mask
    dense<[[[false, false], [true, false]], [[false, false], [false, false]]]>
    : tensor<2x2x2xi1> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1
    : !q, !q, !q, !mask -> !q, !lse
  return %o : !q
}

// -----

// Nothing to verify.
// CHECK-LABEL: func.func @no_attend
func.func @no_attend(%x: tensor<2x100x64xf32>) -> tensor<2x100x64xf32> {
  return %x : tensor<2x100x64xf32>
}

// RUN: sparseattn-opt %s --sparseattn-hoist-permutes --split-input-file | FileCheck %s

!q = tensor<2x256x64xf32>
!lse = tensor<2x256xf32>
!p = tensor<2x4x64xf32>
!mask = !sparseattn.mask<2x4x4, block = 64x64, tokens = 256x256, order = #sparseattn.order<hilbert, grid = [4, 8, 8]>>

// CHECK: #order = #sparseattn.order<hilbert, grid = [4, 8, 8]>
// CHECK-LABEL: func.func @whole
// CHECK-SAME: (%[[Q:.*]]: tensor<2x256x64xf32>, %[[K:.*]]: tensor<2x256x64xf32>, %[[V:.*]]: tensor<2x256x64xf32>)
// CHECK-SAME: attributes {sparseattn.boundary_order = #order}
// CHECK-NEXT: %[[PQ:.*]] = sparseattn.pool %[[Q]] block 64
// CHECK-NEXT: %[[PK:.*]] = sparseattn.pool %[[K]] block 64
// CHECK-NEXT: %[[M:.*]] = sparseattn.route %[[PQ]], %[[PK]]
// CHECK-NEXT: %[[O:.*]], %[[L:.*]] = sparseattn.attend %[[Q]], %[[K]], %[[V]], %[[M]]
// CHECK-NEXT: return %[[O]], %[[L]]
func.func @whole(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %qo = sparseattn.permute %q by <hilbert, grid = [4, 8, 8]> : !q
  %ko = sparseattn.permute %k by <hilbert, grid = [4, 8, 8]> : !q
  %vo = sparseattn.permute %v by <hilbert, grid = [4, 8, 8]> : !q
  %pq = sparseattn.pool %qo block 64 : !q -> !p
  %pk = sparseattn.pool %ko block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.125
    : !p, !p -> !mask
  %o, %lse = sparseattn.attend %qo, %ko, %vo, %m scale 0.125
    : !q, !q, !q, !mask -> !q, !lse
  %os = sparseattn.permute %o by <hilbert, grid = [4, 8, 8]> inverse : !q
  %ls = sparseattn.permute %lse by <hilbert, grid = [4, 8, 8]> inverse : !lse
  return %os, %ls : !q, !lse
}

// -----

// An argument may be permuted twice, and only o be returned.

!q = tensor<2x256x64xf32>
!mask = !sparseattn.mask<2x4x4, block = 64x64, tokens = 256x256, order = #sparseattn.order<stripes, grid = [4, 8, 8]>>

// CHECK: #order = #sparseattn.order<stripes, grid = [4, 8, 8]>
// CHECK-LABEL: func.func @twice
// CHECK-SAME: (%[[Q:.*]]: tensor<2x256x64xf32>, %[[K:.*]]: tensor<2x256x64xf32>)
// CHECK-SAME: attributes {sparseattn.boundary_order = #order}
// CHECK-NOT: sparseattn.permute
// CHECK: %[[O:.*]], %{{.*}} = sparseattn.attend %[[Q]], %[[K]], %[[K]], %{{.*}} scale
// CHECK-NEXT: return %[[O]]
func.func @twice(%q: !q, %k: !q) -> !q {
  %qo = sparseattn.permute %q by <stripes, grid = [4, 8, 8]> : !q
  %ko = sparseattn.permute %k by <stripes, grid = [4, 8, 8]> : !q
  %vo = sparseattn.permute %k by <stripes, grid = [4, 8, 8]> : !q
  %m = sparseattn.explicit_mask dense<true> : tensor<2x4x4xi1> -> !mask
  %o, %lse = sparseattn.attend %qo, %ko, %vo, %m scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<2x256xf32>
  %os = sparseattn.permute %o by <stripes, grid = [4, 8, 8]> inverse : !q
  return %os : !q
}

// -----

// Nothing to do: a layer in its mask's order, and a function that is no layer.

!q = tensor<2x256x64xf32>
!mask = !sparseattn.mask<2x4x4, block = 64x64, tokens = 256x256>

// CHECK-LABEL: func.func @ordered
// CHECK-NOT: boundary_order
// CHECK: sparseattn.attend
func.func @ordered(%q: !q) -> !q {
  %m = sparseattn.explicit_mask dense<true> : tensor<2x4x4xi1> -> !mask
  %o, %lse = sparseattn.attend %q, %q, %q, %m scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<2x256xf32>
  return %o : !q
}

// CHECK-LABEL: func.func @entry
// CHECK-SAME: -> tensor<2x256x64xf32> {
// CHECK-NEXT: sparseattn.permute
func.func @entry(%q: !q) -> !q {
  %qo = sparseattn.permute %q by <hilbert, grid = [4, 8, 8]> : !q
  return %qo : !q
}

// CHECK-LABEL: func.func private @declaration
func.func private @declaration(!q)

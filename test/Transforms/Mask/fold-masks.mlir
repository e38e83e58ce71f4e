// RUN: sparseattn-opt %s --sparseattn-fold-masks --split-input-file | FileCheck %s

!mask = !sparseattn.mask<1x2x2, block = 64x64, tokens = 128x128>

// CHECK-LABEL: func.func @window_and_explicit
// CHECK-NEXT: %[[M:.*]] = sparseattn.explicit_mask dense<{{\[\[\[}}true, false], [true, true]]]> : tensor<1x2x2xi1> -> !mask
// CHECK-NEXT: return %[[M]]
func.func @window_and_explicit() -> !mask {
  %0 = sparseattn.policy_mask #sparseattn.window<blocks = 0> -> !mask
  %1 = sparseattn.explicit_mask dense<[[[true, false], [true, false]]]>
    : tensor<1x2x2xi1> -> !mask
  %2 = sparseattn.union %0, %1 : !mask
  return %2 : !mask
}

// -----

// q-block i looks at floor(i * nK / nQ): here kv-blocks 0, 1, 3 of 5.
!wide = !sparseattn.mask<2x3x5, block = 64x64, tokens = 150x300>

// CHECK-LABEL: func.func @window_of_a_wide_mask
// CHECK: explicit_mask dense<{{\[\[\[}}true, false, false, false, false], [false, true, false, false, false], [false, false, false, true, false]],
// CHECK-SAME: {{\[\[}}true, false, false, false, false], [false, true, false, false, false], [false, false, false, true, false]]]>
func.func @window_of_a_wide_mask() -> !wide {
  %0 = sparseattn.policy_mask #sparseattn.window<blocks = 0> -> !wide
  return %0 : !wide
}

// -----

// Causal, Skv - Sq = 28: query 63 sees keys up to 91, which is in kv-block 1.
!causal = !sparseattn.mask<1x2x3, block = 64x48, tokens = 100x128, causal>

// CHECK-LABEL: func.func @dense_causal
// CHECK: explicit_mask dense<{{\[\[\[}}true, true, false], [true, true, true]]]>
func.func @dense_causal() -> !causal {
  %0 = sparseattn.policy_mask #sparseattn.dense -> !causal
  return %0 : !causal
}

// -----

// Tiles that are written but see nothing are dropped; 2 of them here.
!causal = !sparseattn.mask<2x2x2, block = 64x64, tokens = 128x128, causal>

// CHECK-LABEL: func.func @explicit_causal
// CHECK: explicit_mask dense<{{\[\[\[}}true, false], [true, true]], {{\[\[}}true, false], [true, true]]]>
func.func @explicit_causal() -> !causal {
  %0 = sparseattn.explicit_mask dense<true> : tensor<2x2x2xi1> -> !causal
  return %0 : !causal
}

// -----

// More queries than keys: the first q-block sees nothing.
!causal = !sparseattn.mask<1x2x1, block = 64x64, tokens = 128x64, causal>

// CHECK-LABEL: func.func @row_without_a_tile
// CHECK: explicit_mask dense<{{\[\[\[}}false], [true]]]>
func.func @row_without_a_tile() -> !causal {
  %0 = sparseattn.policy_mask #sparseattn.window<blocks = 9> -> !causal
  return %0 : !causal
}

// -----

// Routes that need no scores, and what only they used.
!mask = !sparseattn.mask<2x2x2, block = 64x64, tokens = 100x100>

// CHECK-LABEL: func.func @static_route
// CHECK-NOT: sparseattn.pool
// CHECK-NOT: sparseattn.route
// CHECK: sparseattn.explicit_mask dense<true>
func.func @static_route(%q: tensor<2x100x64xf32>) -> !mask {
  %pq = sparseattn.pool %q block 64 : tensor<2x100x64xf32> -> tensor<2x2x64xf32>
  %0 = sparseattn.route %pq, %pq policy #sparseattn.dense scale 0.1
    : tensor<2x2x64xf32>, tensor<2x2x64xf32> -> !mask
  return %0 : !mask
}

// -----

// With a routed mask: an empty and a dense side fold, others stay.
!mask = !sparseattn.mask<2x2x2, block = 64x64, tokens = 100x100>

// CHECK-LABEL: func.func @routed
// CHECK: %[[R:.*]] = sparseattn.route
// CHECK: %[[W:.*]] = sparseattn.explicit_mask
// CHECK-NEXT: %[[U:.*]] = sparseattn.union %[[R]], %[[W]]
// CHECK-NEXT: return %[[R]], %[[R]], %[[U]]
func.func @routed(%pq: tensor<2x2x64xf32>) -> (!mask, !mask, !mask) {
  %r = sparseattn.route %pq, %pq policy #sparseattn.top_k<k = 1> scale 0.1
    : tensor<2x2x64xf32>, tensor<2x2x64xf32> -> !mask
  %e = sparseattn.explicit_mask dense<false> : tensor<2x2x2xi1> -> !mask
  %d = sparseattn.policy_mask #sparseattn.dense -> !mask
  %w = sparseattn.policy_mask #sparseattn.window<blocks = 0> -> !mask
  %0 = sparseattn.union %r, %e : !mask
  %1 = sparseattn.intersect %d, %r : !mask
  %2 = sparseattn.union %r, %w : !mask
  return %0, %1, %2 : !mask, !mask, !mask
}

// -----

// Nothing to do.
!mask = !sparseattn.mask<1x2x2, block = 64x64, tokens = 128x128>

// CHECK-LABEL: func.func @canonical
// CHECK-NEXT: sparseattn.explicit_mask dense<{{\[\[\[}}true, false], [false, false]]]>
// CHECK-NEXT: return
func.func @canonical() -> !mask {
  %0 = sparseattn.explicit_mask dense<[[[true, false], [false, false]]]>
    : tensor<1x2x2xi1> -> !mask
  return %0 : !mask
}

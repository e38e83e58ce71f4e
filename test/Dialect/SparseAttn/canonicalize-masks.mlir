// RUN: sparseattn-opt %s --canonicalize --split-input-file | FileCheck %s

!mask = !sparseattn.mask<1x2x3, block = 64x64, tokens = 100x150>

// CHECK-LABEL: func.func @with_itself
// CHECK-SAME: (%[[A:.*]]: !mask)
// CHECK-NEXT: return %[[A]], %[[A]]
func.func @with_itself(%a: !mask) -> (!mask, !mask) {
  %0 = sparseattn.union %a, %a : !mask
  %1 = sparseattn.intersect %a, %a : !mask
  return %0, %1 : !mask, !mask
}

// CHECK-LABEL: func.func @with_empty
// CHECK-SAME: (%[[A:.*]]: !mask)
// CHECK: %[[E:.*]] = sparseattn.explicit_mask dense<false>
// CHECK-NEXT: return %[[A]], %[[A]], %[[E]], %[[E]]
func.func @with_empty(%a: !mask) -> (!mask, !mask, !mask, !mask) {
  %e = sparseattn.explicit_mask dense<false> : tensor<1x2x3xi1> -> !mask
  %0 = sparseattn.union %a, %e : !mask
  %1 = sparseattn.union %e, %a : !mask
  %2 = sparseattn.intersect %a, %e : !mask
  %3 = sparseattn.intersect %e, %a : !mask
  return %0, %1, %2, %3 : !mask, !mask, !mask, !mask
}

// A dense policy mask is a splat.
// CHECK-LABEL: func.func @with_dense
// CHECK-SAME: (%[[A:.*]]: !mask)
// CHECK: %[[D:.*]] = sparseattn.explicit_mask dense<true>
// CHECK-NEXT: return %[[D]], %[[D]], %[[A]], %[[A]]
func.func @with_dense(%a: !mask) -> (!mask, !mask, !mask, !mask) {
  %d = sparseattn.policy_mask #sparseattn.dense -> !mask
  %0 = sparseattn.union %a, %d : !mask
  %1 = sparseattn.union %d, %a : !mask
  %2 = sparseattn.intersect %a, %d : !mask
  %3 = sparseattn.intersect %d, %a : !mask
  return %0, %1, %2, %3 : !mask, !mask, !mask, !mask
}

// CHECK-LABEL: func.func @constants
// CHECK-DAG: %[[U:.*]] = sparseattn.explicit_mask dense<{{\[\[\[}}true, true, false], [false, false, true]]]>
// CHECK-DAG: %[[I:.*]] = sparseattn.explicit_mask dense<{{\[\[\[}}false, true, false], [false, false, false]]]>
// CHECK: return %[[U]], %[[I]]
func.func @constants() -> (!mask, !mask) {
  %a = sparseattn.explicit_mask
    dense<[[[true, true, false], [false, false, false]]]> : tensor<1x2x3xi1> -> !mask
  %b = sparseattn.explicit_mask
    dense<[[[false, true, false], [false, false, true]]]> : tensor<1x2x3xi1> -> !mask
  %0 = sparseattn.union %a, %b : !mask
  %1 = sparseattn.intersect %a, %b : !mask
  return %0, %1 : !mask, !mask
}

// CHECK-LABEL: func.func @run_time
// CHECK: sparseattn.union
// CHECK: sparseattn.intersect
func.func @run_time(%a: !mask, %b: !mask) -> (!mask, !mask) {
  %0 = sparseattn.union %a, %b : !mask
  %1 = sparseattn.intersect %a, %b : !mask
  return %0, %1 : !mask, !mask
}

// Routing by a rule that needs no scores reads neither q nor k.
// CHECK-LABEL: func.func @static_routes
// CHECK-NOT: sparseattn.pool
// CHECK-DAG: sparseattn.explicit_mask dense<true>
// CHECK-DAG: sparseattn.policy_mask #sparseattn.window<blocks = 1>
func.func @static_routes(%q: tensor<1x100x64xf32>, %k: tensor<1x150x64xf32>)
    -> (!mask, !mask) {
  %pq = sparseattn.pool %q block 64 : tensor<1x100x64xf32> -> tensor<1x2x64xf32>
  %pk = sparseattn.pool %k block 64 : tensor<1x150x64xf32> -> tensor<1x3x64xf32>
  %0 = sparseattn.route %pq, %pk policy #sparseattn.dense scale 0.1
    : tensor<1x2x64xf32>, tensor<1x3x64xf32> -> !mask
  %1 = sparseattn.route %pq, %pk policy #sparseattn.window<blocks = 1> scale 0.1
    : tensor<1x2x64xf32>, tensor<1x3x64xf32> -> !mask
  return %0, %1 : !mask, !mask
}

// CHECK-LABEL: func.func @scored_route
// CHECK: sparseattn.route
func.func @scored_route(%pq: tensor<1x2x64xf32>, %pk: tensor<1x3x64xf32>) -> !mask {
  %0 = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 2> scale 0.1
    : tensor<1x2x64xf32>, tensor<1x3x64xf32> -> !mask
  return %0 : !mask
}

// -----

// A dense causal mask is not a splat: it waits for sparseattn-fold-masks.
!causal = !sparseattn.mask<1x2x3, block = 64x64, tokens = 100x150, causal>

// CHECK-LABEL: func.func @dense_causal
// CHECK: sparseattn.policy_mask #sparseattn.dense
func.func @dense_causal() -> !causal {
  %0 = sparseattn.policy_mask #sparseattn.dense -> !causal
  return %0 : !causal
}

// -----

// A billion tiles stay one bit.
!huge = !sparseattn.mask<64x4096x4096, block = 16x16, tokens = 65536x65536>

// CHECK-LABEL: func.func @huge
// CHECK: sparseattn.explicit_mask dense<true>
// CHECK-NOT: sparseattn.intersect
func.func @huge() -> !huge {
  %0 = sparseattn.policy_mask #sparseattn.dense -> !huge
  %1 = sparseattn.explicit_mask dense<true> : tensor<64x4096x4096xi1> -> !huge
  %2 = sparseattn.intersect %0, %1 : !huge
  return %2 : !huge
}

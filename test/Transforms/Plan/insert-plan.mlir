// RUN: sparseattn-opt %s --sparseattn-insert-plan="ulysses=4 balance=swap augment=true" --split-input-file | FileCheck %s
// RUN: sparseattn-opt %s --sparseattn-insert-plan="ulysses=2 ring=3" --split-input-file | FileCheck %s --check-prefix=HYBRID
// RUN: sparseattn-opt %s --sparseattn-insert-plan --split-input-file | FileCheck %s --check-prefix=SINGLE
// RUN: sparseattn-opt %s --sparseattn-insert-plan="ulysses=4 augment=true" --sparseattn-insert-plan="ulysses=4" --sparseattn-insert-plan --sparseattn-verify-plan --split-input-file | FileCheck %s

!q = tensor<12x1000x64xf32>
!kv = tensor<4x1000x64xf32>
!lse = tensor<12x1000xf32>
!mask = !sparseattn.mask<12x16x16, block = 64x64, tokens = 1000x1000>

// HYBRID: #placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 3>, heads = 12, kv_heads = 4, q_blocks = 16, kv_blocks = 16>
// HYBRID-LABEL: func.func @routed
// HYBRID: sparseattn.balance %{{.*}}, %{{.*}} using swap
// HYBRID-NOT: augment

// SINGLE: #placement = #sparseattn.placement<mesh = <ulysses = 1, ring = 1>,
// SINGLE-LABEL: func.func @routed
// SINGLE: sparseattn.balance %{{.*}}, %{{.*}} using none

// CHECK: #placement = #sparseattn.placement<mesh = <ulysses = 4, ring = 1>, heads = 12, kv_heads = 4, q_blocks = 16, kv_blocks = 16>
// CHECK-LABEL: func.func @routed
// CHECK-SAME: (%[[Q:.*]]: tensor<12x1000x64xf32>, %[[K:.*]]: tensor<4x1000x64xf32>, %[[V:.*]]: tensor<4x1000x64xf32>)
// CHECK-NEXT: %[[P0:.*]] = sparseattn.place %[[Q]], %[[K]] on #placement
// CHECK-NEXT: %[[QH:.*]] = sparseattn.reshard %[[Q]], %[[P0]] to heads
// CHECK-NEXT: %[[KH:.*]] = sparseattn.reshard %[[K]], %[[P0]] to heads
// CHECK-NEXT: %[[PQ:.*]] = sparseattn.pool %[[QH]] block 64
// CHECK-NEXT: %[[PK:.*]] = sparseattn.pool %[[KH]] block 64
// CHECK-NEXT: %[[M0:.*]] = sparseattn.route %[[PQ]], %[[PK]]
// CHECK-NEXT: %[[P1:.*]] = sparseattn.balance %[[P0]], %[[M0]] using swap : !mask
// CHECK-NEXT: %[[M1:.*]] = sparseattn.augment %[[M0]], %[[P1]] : !mask
// CHECK-NEXT: %[[P2:.*]] = sparseattn.demand %[[M1]], %[[P1]] : !mask
// CHECK-NEXT: %[[VH:.*]] = sparseattn.reshard %[[V]], %[[P0]] to heads
// CHECK-NEXT: %[[O:.*]], %[[L:.*]] = sparseattn.attend %[[QH]], %[[KH]], %[[VH]], %[[M1]] with %[[P2]] scale
// CHECK-NEXT: %[[OS:.*]] = sparseattn.reshard %[[O]], %[[P2]] to sequence : tensor<12x1000x64xf32>
// CHECK-NEXT: %[[LS:.*]] = sparseattn.reshard %[[L]], %[[P2]] to sequence : tensor<12x1000xf32>
// CHECK-NEXT: return %[[OS]], %[[LS]]
func.func @routed(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse) {
  %pq = sparseattn.pool %q block 64 : !q -> tensor<12x16x64xf32>
  %pk = sparseattn.pool %k block 64 : !kv -> tensor<4x16x64xf32>
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9> scale 0.125
    : tensor<12x16x64xf32>, tensor<4x16x64xf32> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.125
    : !q, !kv, !kv, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}

// -----

// Nothing to plan.
// CHECK-LABEL: func.func @no_attend
// CHECK-NEXT: return
func.func @no_attend(%x: tensor<2x100x64xf32>) -> tensor<2x100x64xf32> {
  return %x : tensor<2x100x64xf32>
}

// CHECK-LABEL: func.func private @declaration
func.func private @declaration(!sparseattn.plan)

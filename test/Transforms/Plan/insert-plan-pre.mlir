// RUN: sparseattn-opt %s --sparseattn-insert-plan="ulysses=4 balance=pre repair=true" --sparseattn-verify-plan | FileCheck %s
// RUN: sparseattn-opt %s --sparseattn-insert-plan="ulysses=4 balance=pre" --sparseattn-insert-plan="balance=pre" --sparseattn-verify-plan | FileCheck %s --check-prefix=PLAIN
// RUN: not sparseattn-opt %s --sparseattn-insert-plan="ulysses=4 balance=pre augment=true" 2>&1 | FileCheck %s --check-prefix=AUGMENT

// RUN: not sparseattn-opt %s --sparseattn-insert-plan="ulysses=4 repair=true" 2>&1 | FileCheck %s --check-prefix=REPAIR
// RUN: not sparseattn-opt %s --sparseattn-insert-plan="ulysses=4 balance=pre" --sparseattn-insert-plan="repair=true" 2>&1 | FileCheck %s --check-prefix=KEPT

// The plan stands before the exchange: q and k are pooled as they come.

!q = tensor<12x1000x64xf32>
!lse = tensor<12x1000xf32>
!mask = !sparseattn.mask<12x16x16, block = 64x64, tokens = 1000x1000>

// PLAIN: using pre : !mask
// REPAIR: error: 'sparseattn.attend' op options balance and repair: got swap with repair, expected balance pre
// KEPT: error: 'sparseattn.attend' op balance of a layer that has a plan: got one without repair, expected repair as the options say
// AUGMENT: error: 'sparseattn.attend' op options balance and augment: got pre with augment, expected another balance or none

// CHECK: #placement = #sparseattn.placement<mesh = <ulysses = 4, ring = 1>, heads = 12, kv_heads = 12, q_blocks = 16, kv_blocks = 16, block_shards>
// CHECK-LABEL: func.func @routed
// CHECK-SAME: (%[[Q:.*]]: tensor<12x1000x64xf32>, %[[K:.*]]: tensor<12x1000x64xf32>, %[[V:.*]]: tensor<12x1000x64xf32>)
// CHECK-NEXT: %[[P0:.*]] = sparseattn.place %[[Q]], %[[K]] on #placement
// CHECK-NEXT: %[[PQ:.*]] = sparseattn.pool %[[Q]] block 64
// CHECK-NEXT: %[[PK:.*]] = sparseattn.pool %[[K]] block 64
// CHECK-NEXT: %[[M0:.*]] = sparseattn.route %[[PQ]], %[[PK]]
// CHECK-NEXT: %[[P1:.*]] = sparseattn.balance %[[P0]], %[[M0]] using pre repair : !mask
// CHECK-NEXT: %[[P2:.*]] = sparseattn.demand %[[M0]], %[[P1]] : !mask
// CHECK-NEXT: %[[QH:.*]] = sparseattn.reshard %[[Q]], %[[P2]] to heads
// CHECK-NEXT: %[[KH:.*]] = sparseattn.reshard %[[K]], %[[P2]] to heads
// CHECK-NEXT: %[[VH:.*]] = sparseattn.reshard %[[V]], %[[P2]] to heads
// CHECK-NEXT: sparseattn.attend %[[QH]], %[[KH]], %[[VH]], %[[M0]] with %[[P2]]
func.func @routed(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %pq = sparseattn.pool %q block 64 : !q -> tensor<12x16x64xf32>
  %pk = sparseattn.pool %k block 64 : !q -> tensor<12x16x64xf32>
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9> scale 0.125
    : tensor<12x16x64xf32>, tensor<12x16x64xf32> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.125
    : !q, !q, !q, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}

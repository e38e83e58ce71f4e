// RUN: sparseattn-opt %s --sparseattn-convert-to-comm --split-input-file | FileCheck %s

// Extra tiles follow the scores of what was routed, after the plan that grants
// them and before anything reads the mask.

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template @layer
// CHECK: planner <balance = swap, augment = true>
// CHECK: sa_comm.symbol @augment dynamic
// CHECK: sa_comm.plan @summary_all
// CHECK-NEXT: sa_comm.phase {{[0-9]+}} "augment"
// CHECK-NEXT: sa_comm.augment @pooled_q, @pooled_k -> @mask work @augment
// CHECK-NEXT: sa_comm.phase {{[0-9]+}} "exchange_v"
// CHECK: sa_comm.attend
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p to heads : !q
  %kh = sparseattn.reshard %k, %p to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using swap : !mask
  %a = sparseattn.augment %m, %b : !mask
  %vh = sparseattn.reshard %v, %p to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %a with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

// -----

// Over a ring, by the keys of all segments.

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 1, ring = 2>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template @layer
// CHECK: planner <balance = none, augment = true>
// CHECK: sa_comm.augment @pooled_q, @pooled_k_all -> @mask work @augment
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p to heads : !q
  %kh = sparseattn.reshard %k, %p to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using none : !mask
  %a = sparseattn.augment %m, %b : !mask
  %vh = sparseattn.reshard %v, %p to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %a with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

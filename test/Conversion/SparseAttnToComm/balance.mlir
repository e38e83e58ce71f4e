// RUN: sparseattn-opt %s --sparseattn-convert-to-comm --split-input-file | FileCheck %s

// Every rank learns what every head has to do, then all make the same plan.

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template @layer
// CHECK: planner <balance = swap, {{.*}}1100, {{.*}}1200
// CHECK: sa_comm.window @summary_all : 16 x 1 x 4 x i32{{$}}
// CHECK-DAG: sa_comm.symbol @gs_send static
// CHECK: sa_comm.phase 3 "route"
// CHECK-NEXT: sa_comm.route
// CHECK-NEXT: sa_comm.phase 4 "gather_summary"
// CHECK-NEXT: sa_comm.all_gather all @summary -> @summary_all send @gs_send recv @gs_recv counts @gs_recv_n
// CHECK-NEXT: sa_comm.phase 5 "plan"
// CHECK-NEXT: sa_comm.plan @summary_all
// CHECK: sa_comm.phase {{[0-9]+}} "move"
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p to heads : !q
  %kh = sparseattn.reshard %k, %p to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using swap thresholds 1100, 1200 : !mask
  %vh = sparseattn.reshard %v, %p to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

// -----

// Heads that stay are planned too: the plan has the demand.

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template @layer
// CHECK: planner <balance = none>
// CHECK: sa_comm.plan @summary_all
// CHECK-NOT: "move"
// CHECK-NOT: @mv_
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p to heads : !q
  %kh = sparseattn.reshard %k, %p to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using none : !mask
  %vh = sparseattn.reshard %v, %p to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

// -----

// A plan in the text may move heads, whatever would have been planned.

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template @layer
// CHECK: planner <balance = none>
// CHECK: sa_comm.plan @summary_all
// CHECK: sa_comm.phase {{[0-9]+}} "move"
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p to heads : !q
  %kh = sparseattn.reshard %k, %p to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using none plan <mesh = <ulysses = 2, ring = 2>,
    heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4> : !mask
  %vh = sparseattn.reshard %v, %p to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

// RUN: sparseattn-opt %s -split-input-file -sparseattn-convert-to-comm | FileCheck %s

// Split: pieces travel while the rows that stay are attended, and are attended
// in the plan's order, each when it has arrived.

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 4, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template @split
// CHECK: planner <balance = split, max_pieces = 2>
// One slot for the own head and one for each piece.
// CHECK: sa_comm.window @q : 3 x 256 x 64 x f32
// CHECK: sa_comm.symbol @rm_peer_out_1
// CHECK-NOT: @rm_peer_out_2
// CHECK: sa_comm.plan @summary_all
// CHECK: "move_rows"
// CHECK: sa_comm.send @q @rm_q_out_0 to @rm_peer_out_0
// CHECK: sa_comm.send @v @rm_kv_out_1 to @rm_peer_out_1
// CHECK: %[[Q:.*]] = sa_comm.recv @q @rm_q_in_0 from @rm_peer_in_0
// CHECK: "attend_local"
// CHECK-NEXT: sa_comm.attend {{.*}} work @attend_local
// CHECK-NEXT: sa_comm.wait %[[Q]]
// CHECK-NEXT: sa_comm.attend {{.*}} work @attend_rows_0
// CHECK-NEXT: sa_comm.wait
// CHECK-NEXT: sa_comm.attend {{.*}} work @attend_rows_1
// CHECK: sa_comm.all_to_all ulysses @o -> @o_shard
func.func @split(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p to heads : !q
  %kh = sparseattn.reshard %k, %p to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using split pieces 2 : !mask
  %vh = sparseattn.reshard %v, %p to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

// -----

// Pre: shards are pooled and routed as they are, for all heads; the plan stands
// before the only exchange, and mask rows go with their queries.

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4, block_shards>

// CHECK-LABEL: sa_comm.template @pre mesh <ulysses = 2, ring = 1, block_shards = true>
// CHECK: planner <balance = pre>
// CHECK: sa_comm.window @mask_shard : 4 x 2 x 5 x i32
// CHECK: sa_comm.symbol @pool_q static
// CHECK: sa_comm.symbol @xq_send dynamic
// CHECK: sa_comm.pool queries @q_shard -> @pooled_q
// CHECK: sa_comm.pool keys @k_shard -> @pooled_k
// CHECK: sa_comm.all_gather all @pooled_k -> @pooled_k_all
// CHECK: sa_comm.route @pooled_q, @pooled_k_all -> @mask_shard, @summary
// CHECK: sa_comm.plan @summary_all
// CHECK: sa_comm.all_to_all ulysses @q_shard -> @q
// CHECK: sa_comm.all_to_all ulysses @mask_shard -> @mask
// CHECK: sa_comm.all_to_all ulysses @k_shard -> @k
// CHECK: sa_comm.all_to_all ulysses @v_shard -> @v
// CHECK: sa_comm.attend {{.*}} work @attend_local
// CHECK-NOT: @attend_moved
func.func @pre(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %pq = sparseattn.pool %q block 64 : !q -> !p
  %pk = sparseattn.pool %k block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using pre : !mask
  %qh = sparseattn.reshard %q, %b to heads : !q
  %kh = sparseattn.reshard %k, %b to heads : !q
  %vh = sparseattn.reshard %v, %b to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

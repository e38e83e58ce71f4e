// RUN: sparseattn-opt %s --sparseattn-convert-to-comm | FileCheck %s

// To heads: an exchange of the argument's shard, q and k before v. To sequence:
// the way home of attend's results. A rank holds at most one head more than its
// share (it takes one in before it gives one away), and shards are as long as
// the longest.

!q = tensor<6x202x64xbf16>
!kv = tensor<2x150x64xbf16>
!lse = tensor<6x202xf32>
!mask = !sparseattn.mask<6x4x3, block = 64x64, tokens = 202x150>
#placement = #sparseattn.placement<mesh = <ulysses = 4, ring = 1>, heads = 6, kv_heads = 2, q_blocks = 4, kv_blocks = 3>

// CHECK-NOT: sparseattn.reshard
// CHECK-LABEL: sa_comm.template @layer mesh <ulysses = 4, ring = 1>
// CHECK-DAG: sa_comm.window @q_shard : 6 x 51 x 64 x bf16 input
// CHECK-DAG: sa_comm.window @q : 3 x 202 x 64 x bf16{{$}}
// CHECK-DAG: sa_comm.window @k_shard : 2 x 38 x 64 x bf16 input
// CHECK-DAG: sa_comm.window @k : 2 x 150 x 64 x bf16{{$}}
// CHECK-DAG: sa_comm.window @v_shard : 2 x 38 x 64 x bf16 input
// CHECK-DAG: sa_comm.window @v : 2 x 150 x 64 x bf16{{$}}
// CHECK-DAG: sa_comm.window @o : 3 x 202 x 64 x bf16{{$}}
// CHECK-DAG: sa_comm.window @lse : 3 x 202 x 1 x f32{{$}}
// CHECK-DAG: sa_comm.window @o_shard : 6 x 51 x 64 x bf16 output
// CHECK-DAG: sa_comm.window @lse_shard : 6 x 51 x 1 x f32 output

// What is exchanged first follows from the placement, the way home from the
// plan; k and v travel alike.
// CHECK-DAG: sa_comm.symbol @xq_send static
// CHECK-DAG: sa_comm.symbol @xkv_recv_n static
// CHECK-DAG: sa_comm.symbol @ro_send dynamic
// CHECK-DAG: sa_comm.symbol @ro_recv_n dynamic

// CHECK: sa_comm.spmd
// CHECK-NEXT: sa_comm.phase 0 "exchange_qk"
// CHECK-NEXT: sa_comm.all_to_all ulysses @q_shard -> @q send @xq_send counts @xq_send_n recv @xq_recv counts @xq_recv_n
// CHECK-NEXT: sa_comm.all_to_all ulysses @k_shard -> @k send @xkv_send counts @xkv_send_n recv @xkv_recv counts @xkv_recv_n
// CHECK-NEXT: sa_comm.phase 1 "pool"
// CHECK: sa_comm.phase {{[0-9]+}} "exchange_v"
// CHECK-NEXT: sa_comm.all_to_all ulysses @v_shard -> @v send @xkv_send counts @xkv_send_n recv @xkv_recv counts @xkv_recv_n
// CHECK-NOT: all_to_all
// CHECK: sa_comm.attend
// CHECK-NEXT: sa_comm.phase {{[0-9]+}} "return"
// CHECK-NEXT: sa_comm.all_to_all ulysses @o -> @o_shard send @ro_send counts @ro_send_n recv @ro_recv counts @ro_recv_n
// CHECK-NEXT: sa_comm.all_to_all ulysses @lse -> @lse_shard send @ro_send counts @ro_send_n recv @ro_recv counts @ro_recv_n
// CHECK-NEXT: sa_comm.phase {{[0-9]+}} "release"
func.func @layer(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse) {
  %p = sparseattn.place %q, %k on #placement : !q, !kv
  %qh = sparseattn.reshard %q, %p to heads : !q
  %kh = sparseattn.reshard %k, %p to heads : !kv
  %pq = sparseattn.pool %qh block 64 : !q -> tensor<6x4x64xf32>
  %pk = sparseattn.pool %kh block 64 : !kv -> tensor<2x3x64xf32>
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.125
    : tensor<6x4x64xf32>, tensor<2x3x64xf32> -> !mask
  %b = sparseattn.balance %p, %m using none : !mask
  %vh = sparseattn.reshard %v, %p to heads : !kv
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.125
    : !q, !kv, !kv, !mask -> !q, !lse
  %os = sparseattn.reshard %o, %b to sequence : !q
  %ls = sparseattn.reshard %lse, %b to sequence : !lse
  return %os, %ls : !q, !lse
}

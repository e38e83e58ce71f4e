// RUN: sparseattn-opt %s --sparseattn-convert-to-comm --split-input-file | FileCheck %s

// Both sides in fp32, one row per block; the rows of a segment for queries, of
// all keys for keys.

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 2>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template
// CHECK: sa_comm.window @pooled_q : 3 x 2 x 64 x f32{{$}}
// CHECK: sa_comm.window @pooled_k : 3 x 4 x 64 x f32{{$}}
// CHECK-DAG: sa_comm.symbol @pool_q static
// CHECK-DAG: sa_comm.symbol @pool_k static
// CHECK: sa_comm.phase 1 "pool"
// CHECK-NEXT: sa_comm.pool queries @q -> @pooled_q work @pool_q
// CHECK-NEXT: sa_comm.pool keys @k -> @pooled_k work @pool_k
// CHECK-NOT: sa_comm.pool
// CHECK-NOT: sparseattn.pool
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %qh = sparseattn.reshard %q, %p to heads : !q
  %kh = sparseattn.reshard %k, %p to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 1> scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using swap : !mask
  %vh = sparseattn.reshard %v, %p to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

// -----

// In the order of the body: keys first here, each right after its exchange.

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 1, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template
// CHECK: sa_comm.phase 0 "exchange_qk"
// CHECK-NEXT: sa_comm.all_to_all ulysses @k_shard -> @k
// CHECK-NEXT: sa_comm.phase 1 "pool"
// CHECK-NEXT: sa_comm.pool keys @k -> @pooled_k work @pool_k
// CHECK-NEXT: sa_comm.phase 2 "exchange_qk"
// CHECK-NEXT: sa_comm.all_to_all ulysses @q_shard -> @q
// CHECK-NEXT: sa_comm.phase 3 "pool"
// CHECK-NEXT: sa_comm.pool queries @q -> @pooled_q work @pool_q
func.func @layer(%q: !q, %k: !q, %v: !q) -> !q {
  %p = sparseattn.place %q, %k on #placement : !q, !q
  %kh = sparseattn.reshard %k, %p to heads : !q
  %pk = sparseattn.pool %kh block 64 : !q -> !p
  %qh = sparseattn.reshard %q, %p to heads : !q
  %pq = sparseattn.pool %qh block 64 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.dense scale 0.125
    : !p, !p -> !mask
  %b = sparseattn.balance %p, %m using none : !mask
  %vh = sparseattn.reshard %v, %p to heads : !q
  %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %b scale 0.125
    : !q, !q, !q, !mask -> !q, tensor<4x256xf32>
  %os = sparseattn.reshard %o, %b to sequence : !q
  return %os : !q
}

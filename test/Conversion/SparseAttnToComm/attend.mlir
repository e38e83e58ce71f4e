// RUN: sparseattn-opt %s --sparseattn-convert-to-comm --sparseattn-verify-schedule --split-input-file | FileCheck %s

// One rank: all keys are its own, results go straight to the output type.

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 1, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template @layer mesh <ulysses = 1, ring = 1>
// CHECK-NOT: @o_acc
// CHECK-NOT: @o_part
// CHECK: sa_comm.phase 5 "exchange_v"
// CHECK: sa_comm.phase 6 "attend_local"
// CHECK-NEXT: sa_comm.attend @q, @k, @v, @mask -> @o, @lse work @attend_local
// CHECK-NEXT: sa_comm.phase 7 "return"
// CHECK: sa_comm.phase 8 "release"
// CHECK-NEXT: sa_comm.release @q slots @live_q
// CHECK-NEXT: sa_comm.release @mask slots @live_q
// CHECK-NEXT: sa_comm.release @o slots @live_q
// CHECK-NEXT: sa_comm.release @lse slots @live_q
// CHECK-NEXT: sa_comm.release @k slots @live_kv
// CHECK-NEXT: sa_comm.release @v slots @live_kv
// CHECK-NOT: sa_comm.release
func.func @layer(%q: !q, %k: !q, %v: !q) -> (!q, tensor<4x256xf32>) {
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
  %ls = sparseattn.reshard %lse, %b to sequence : tensor<4x256xf32>
  return %os, %ls : !q, tensor<4x256xf32>
}

// -----

// Heads that move travel while the others are attended; what left is released
// before what came is attended.

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template @layer mesh <ulysses = 2, ring = 1>
// CHECK: sa_comm.phase {{[0-9]+}} "move"
// CHECK-NEXT: %[[S0:.*]] = sa_comm.send @q @mv_q_out to @mv_peer_out
// CHECK-NEXT: %[[S1:.*]] = sa_comm.send @k @mv_kv_out to @mv_peer_out
// CHECK-NEXT: %[[S2:.*]] = sa_comm.send @v @mv_kv_out to @mv_peer_out
// CHECK-NEXT: %[[S3:.*]] = sa_comm.send @mask @mv_mask_out to @mv_peer_out
// CHECK-NEXT: %[[R0:.*]] = sa_comm.recv @q @mv_q_in from @mv_peer_in
// CHECK-NEXT: %[[R1:.*]] = sa_comm.recv @k @mv_kv_in from @mv_peer_in
// CHECK-NEXT: %[[R2:.*]] = sa_comm.recv @v @mv_kv_in from @mv_peer_in
// CHECK-NEXT: %[[R3:.*]] = sa_comm.recv @mask @mv_mask_in from @mv_peer_in
// CHECK-NEXT: sa_comm.attend @q, @k, @v, @mask -> @o, @lse work @attend_local
// CHECK-NEXT: sa_comm.wait %[[S0]], %[[S1]], %[[S2]], %[[S3]], %[[R0]], %[[R1]], %[[R2]], %[[R3]]
// CHECK-NEXT: sa_comm.release @q slots @free_q
// CHECK-NEXT: sa_comm.release @mask slots @free_q
// CHECK-NEXT: sa_comm.release @k slots @free_kv
// CHECK-NEXT: sa_comm.release @v slots @free_kv
// CHECK-NEXT: sa_comm.phase {{[0-9]+}} "attend_moved"
// CHECK-NEXT: sa_comm.attend @q, @k, @v, @mask -> @o, @lse work @attend_moved
// CHECK-NEXT: sa_comm.phase {{[0-9]+}} "return"
func.func @layer(%q: !q, %k: !q, %v: !q) -> (!q, tensor<4x256xf32>) {
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
  %ls = sparseattn.reshard %lse, %b to sequence : tensor<4x256xf32>
  return %os, %ls : !q, tensor<4x256xf32>
}

// -----

// A ring: while one segment's keys are attended the next one's travel; partial
// results are merged in fp32 and converted at the end.

!q = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256>
#placement = #sparseattn.placement<mesh = <ulysses = 1, ring = 3>, heads = 4, kv_heads = 4, q_blocks = 4, kv_blocks = 4>

// CHECK-LABEL: sa_comm.template @layer mesh <ulysses = 1, ring = 3>
// CHECK-DAG: sa_comm.window @o_acc : 4 x 128 x 64 x f32{{$}}
// CHECK-DAG: sa_comm.window @o_part : 4 x 128 x 64 x f32{{$}}
// CHECK: sa_comm.phase {{[0-9]+}} "attend_local"
// CHECK-NEXT: %[[S0:.*]] = sa_comm.send @k @kv_out_1 to @kv_peer_out_1
// CHECK-NEXT: %[[S1:.*]] = sa_comm.send @v @kv_out_1 to @kv_peer_out_1
// CHECK-NEXT: %[[R0:.*]] = sa_comm.recv @k @kv_in_1 from @kv_peer_in_1
// CHECK-NEXT: %[[R1:.*]] = sa_comm.recv @v @kv_in_1 from @kv_peer_in_1
// CHECK-NEXT: sa_comm.attend @q, @k, @v, @mask -> @o_acc, @lse work @attend_local
// CHECK-NEXT: sa_comm.phase {{[0-9]+}} "ring_1"
// CHECK-NEXT: sa_comm.wait %[[S0]], %[[S1]], %[[R0]], %[[R1]]
// CHECK-NEXT: %[[S2:.*]] = sa_comm.send @k @kv_out_2 to @kv_peer_out_2
// CHECK-NEXT: %[[S3:.*]] = sa_comm.send @v @kv_out_2 to @kv_peer_out_2
// CHECK-NEXT: %[[R2:.*]] = sa_comm.recv @k @kv_in_2 from @kv_peer_in_2
// CHECK-NEXT: %[[R3:.*]] = sa_comm.recv @v @kv_in_2 from @kv_peer_in_2
// CHECK-NEXT: sa_comm.attend @q, @k, @v, @mask -> @o_part, @lse_part work @attend_remote_1
// CHECK-NEXT: sa_comm.merge @o_part, @lse_part -> @o_acc, @lse @merge_1
// CHECK-NEXT: sa_comm.release @o_part slots @live_q
// CHECK-NEXT: sa_comm.release @lse_part slots @live_q
// CHECK-NEXT: sa_comm.phase {{[0-9]+}} "ring_2"
// CHECK-NEXT: sa_comm.wait %[[S2]], %[[S3]], %[[R2]], %[[R3]]
// CHECK-NEXT: sa_comm.attend @q, @k, @v, @mask -> @o_part, @lse_part work @attend_remote_2
// CHECK-NEXT: sa_comm.merge @o_part, @lse_part -> @o_acc, @lse @merge_2
// CHECK: sa_comm.phase {{[0-9]+}} "convert"
// CHECK-NEXT: sa_comm.convert @o_acc -> @o @final_o
// CHECK: sa_comm.release @o_acc slots @live_q
func.func @layer(%q: !q, %k: !q, %v: !q) -> (!q, tensor<4x256xf32>) {
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
  %ls = sparseattn.reshard %lse, %b to sequence : tensor<4x256xf32>
  return %os, %ls : !q, tensor<4x256xf32>
}

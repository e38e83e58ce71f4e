// RUN: sparseattn-opt %s --sparseattn-verify-schedule | FileCheck %s
// CHECK: sa_comm.template @layer

// A valid template that the tests of this folder break, one rule at a time: a
// routed layer over 2 x 2 ranks with moves, augmentation and one ring exchange.

sa_comm.template @layer mesh <ulysses = 2, ring = 2>
    shape <heads = 4, kv_heads = 4, sq = 320, skv = 320, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.17677669 policy <top_p, p = 0.9> planner <balance = swap, augment = true, k1_milli = 1000, k2_milli = 1000> {
  sa_comm.window @q_shard : 4 x 80 x 32 x f32 input
  sa_comm.window @k_shard : 4 x 80 x 32 x f32 input
  sa_comm.window @v_shard : 4 x 80 x 32 x f32 input
  sa_comm.window @o_shard : 4 x 80 x 32 x f32 output
  sa_comm.window @lse_shard : 4 x 80 x 1 x f32 output
  sa_comm.window @q : 3 x 160 x 32 x f32
  sa_comm.window @k : 3 x 320 x 32 x f32
  sa_comm.window @v : 3 x 320 x 32 x f32
  sa_comm.window @mask : 3 x 10 x 21 x i32
  sa_comm.window @o : 3 x 160 x 32 x f32
  sa_comm.window @lse : 3 x 160 x 1 x f32
  sa_comm.window @pooled_q : 3 x 10 x 32 x f32
  sa_comm.window @pooled_k : 3 x 20 x 32 x f32
  sa_comm.window @summary : 4 x 1 x 12 x i32
  sa_comm.window @summary_all : 16 x 1 x 12 x i32
  sa_comm.window @pooled_k_all : 3 x 20 x 32 x f32
  sa_comm.window @o_acc : 3 x 160 x 32 x f32
  sa_comm.window @o_part : 3 x 160 x 32 x f32
  sa_comm.window @lse_part : 3 x 160 x 1 x f32
  sa_comm.symbol @xq_send static
  sa_comm.symbol @xq_send_n static
  sa_comm.symbol @xq_recv static
  sa_comm.symbol @xq_recv_n static
  sa_comm.symbol @xkv_send static
  sa_comm.symbol @xkv_send_n static
  sa_comm.symbol @xkv_recv static
  sa_comm.symbol @xkv_recv_n static
  sa_comm.symbol @pool_q static
  sa_comm.symbol @pool_k static
  sa_comm.symbol @gk_send static
  sa_comm.symbol @gk_recv static
  sa_comm.symbol @gk_recv_n static
  sa_comm.symbol @route static
  sa_comm.symbol @gs_send static
  sa_comm.symbol @gs_recv static
  sa_comm.symbol @gs_recv_n static
  sa_comm.symbol @augment dynamic
  sa_comm.symbol @mv_peer_out dynamic
  sa_comm.symbol @mv_peer_in dynamic
  sa_comm.symbol @mv_q_out dynamic
  sa_comm.symbol @mv_q_in dynamic
  sa_comm.symbol @mv_kv_out dynamic
  sa_comm.symbol @mv_kv_in dynamic
  sa_comm.symbol @mv_mask_out dynamic
  sa_comm.symbol @mv_mask_in dynamic
  sa_comm.symbol @free_q dynamic
  sa_comm.symbol @free_kv dynamic
  sa_comm.symbol @attend_local dynamic
  sa_comm.symbol @attend_moved dynamic
  sa_comm.symbol @kv_peer_out_1 dynamic
  sa_comm.symbol @kv_peer_in_1 dynamic
  sa_comm.symbol @kv_out_1 dynamic
  sa_comm.symbol @kv_in_1 dynamic
  sa_comm.symbol @attend_remote_1 dynamic
  sa_comm.symbol @merge_1 dynamic
  sa_comm.symbol @ro_send dynamic
  sa_comm.symbol @ro_send_n dynamic
  sa_comm.symbol @ro_recv dynamic
  sa_comm.symbol @ro_recv_n dynamic
  sa_comm.symbol @final_o dynamic
  sa_comm.symbol @live_q dynamic
  sa_comm.symbol @live_kv dynamic
  sa_comm.spmd {
    sa_comm.phase 0 "exchange"
    sa_comm.all_to_all ulysses @q_shard -> @q send @xq_send counts @xq_send_n recv @xq_recv counts @xq_recv_n
    sa_comm.all_to_all ulysses @k_shard -> @k send @xkv_send counts @xkv_send_n recv @xkv_recv counts @xkv_recv_n
    sa_comm.phase 1 "pool"
    sa_comm.pool queries @q -> @pooled_q work @pool_q
    sa_comm.pool keys @k -> @pooled_k work @pool_k
    sa_comm.phase 2 "gather"
    sa_comm.all_gather ring @pooled_k -> @pooled_k_all send @gk_send recv @gk_recv counts @gk_recv_n
    sa_comm.phase 3 "route"
    sa_comm.route @pooled_q, @pooled_k_all -> @mask, @summary work @route
    sa_comm.phase 4 "gather"
    sa_comm.all_gather all @summary -> @summary_all send @gs_send recv @gs_recv counts @gs_recv_n
    sa_comm.phase 5 "plan"
    sa_comm.plan @summary_all
    sa_comm.phase 6 "augment"
    sa_comm.augment @pooled_q, @pooled_k_all -> @mask work @augment
    sa_comm.phase 7 "exchange"
    sa_comm.all_to_all ulysses @v_shard -> @v send @xkv_send counts @xkv_send_n recv @xkv_recv counts @xkv_recv_n
    sa_comm.phase 8 "move"
    %q_out = sa_comm.send @q @mv_q_out to @mv_peer_out
    %k_out = sa_comm.send @k @mv_kv_out to @mv_peer_out
    %v_out = sa_comm.send @v @mv_kv_out to @mv_peer_out
    %mask_out = sa_comm.send @mask @mv_mask_out to @mv_peer_out
    %q_in = sa_comm.recv @q @mv_q_in from @mv_peer_in
    %k_in = sa_comm.recv @k @mv_kv_in from @mv_peer_in
    %v_in = sa_comm.recv @v @mv_kv_in from @mv_peer_in
    %mask_in = sa_comm.recv @mask @mv_mask_in from @mv_peer_in
    sa_comm.attend @q, @k, @v, @mask -> @o_acc, @lse work @attend_local
    sa_comm.wait %q_out, %k_out, %v_out, %mask_out, %q_in, %k_in, %v_in, %mask_in
    sa_comm.release @q slots @free_q
    sa_comm.release @mask slots @free_q
    sa_comm.release @k slots @free_kv
    sa_comm.release @v slots @free_kv
    sa_comm.phase 9 "ring"
    %k_out_1 = sa_comm.send @k @kv_out_1 to @kv_peer_out_1
    %v_out_1 = sa_comm.send @v @kv_out_1 to @kv_peer_out_1
    %k_in_1 = sa_comm.recv @k @kv_in_1 from @kv_peer_in_1
    %v_in_1 = sa_comm.recv @v @kv_in_1 from @kv_peer_in_1
    sa_comm.attend @q, @k, @v, @mask -> @o_acc, @lse work @attend_moved
    sa_comm.phase 10 "ring"
    sa_comm.wait %k_out_1, %v_out_1, %k_in_1, %v_in_1
    sa_comm.attend @q, @k, @v, @mask -> @o_part, @lse_part work @attend_remote_1
    sa_comm.merge @o_part, @lse_part -> @o_acc, @lse @merge_1
    sa_comm.release @o_part slots @live_q
    sa_comm.release @lse_part slots @live_q
    sa_comm.phase 11 "convert"
    sa_comm.convert @o_acc -> @o @final_o
    sa_comm.phase 12 "return"
    sa_comm.all_to_all ulysses @o -> @o_shard send @ro_send counts @ro_send_n recv @ro_recv counts @ro_recv_n
    sa_comm.all_to_all ulysses @lse -> @lse_shard send @ro_send counts @ro_send_n recv @ro_recv counts @ro_recv_n
    sa_comm.phase 13 "release"
    sa_comm.release @q slots @live_q
    sa_comm.release @mask slots @live_q
    sa_comm.release @o slots @live_q
    sa_comm.release @lse slots @live_q
    sa_comm.release @o_acc slots @live_q
    sa_comm.release @k slots @live_kv
    sa_comm.release @v slots @live_kv
  }
}

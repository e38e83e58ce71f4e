// RUN: sparseattn-opt %s --sparseattn-verify-schedule | FileCheck %s
// CHECK: sa_comm.program @layer

// A valid program that the tests of this folder break, one rule at a time. Two
// ranks of one ring, two heads that share a kv head, four blocks of 16 tokens:
// kv-blocks 0 and 3 cross over.

sa_comm.program @layer mesh <ulysses = 1, ring = 2>
    shape <heads = 2, kv_heads = 1, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.17677669 policy <top_p, p = 0.9> {
  sa_comm.window @q_shard : 2 x 32 x 32 x f32 input
  sa_comm.window @k_shard : 1 x 32 x 32 x f32 input
  sa_comm.window @v_shard : 1 x 32 x 32 x f32 input
  sa_comm.window @o_shard : 2 x 32 x 32 x f32 output
  sa_comm.window @lse_shard : 2 x 32 x 1 x f32 output
  sa_comm.window @q : 2 x 32 x 32 x f32
  sa_comm.window @k : 1 x 64 x 32 x f32
  sa_comm.window @v : 1 x 64 x 32 x f32
  sa_comm.window @mask : 2 x 2 x 5 x i32
  sa_comm.window @o : 2 x 32 x 32 x f32
  sa_comm.window @lse : 2 x 32 x 1 x f32
  sa_comm.window @o_acc : 2 x 32 x 32 x f32
  sa_comm.window @o_part : 2 x 32 x 32 x f32
  sa_comm.window @lse_part : 2 x 32 x 1 x f32
  sa_comm.mask 2 x 4 x 4 {
    head 0 {
      row 0 [0, 3]
      row 1 [0:2]
      row 2 [0, 2]
      row 3 [0, 3]
    }
    head 1 {
      row 0 [0, 3]
      row 1 [0:2]
      row 2 [0, 2]
      row 3 [0, 3]
    }
  }
  sa_comm.rank 0 {
    sa_comm.phase 0 "exchange"
    sa_comm.all_to_all ulysses @q_shard -> @q send [[0, 0:32], [1, 0:32]] counts [2] recv [[0, 0:32], [1, 0:32]] counts [2]  // r0
    sa_comm.all_to_all ulysses @k_shard -> @k send [[0, 0:32]] counts [1] recv [[0, 0:32]] counts [1]  // r0
    sa_comm.phase 1 "route"
    sa_comm.load_mask @mask work [
      {head = 0, q = 0, kv = 0, rows = 0:2, cols = 0:4},
      {head = 1, q = 1, kv = 0, rows = 0:2, cols = 0:4}
    ]
    sa_comm.phase 2 "exchange"
    sa_comm.all_to_all ulysses @v_shard -> @v send [[0, 0:32]] counts [1] recv [[0, 0:32]] counts [1]  // r0
    sa_comm.phase 3 "ring"
    %k_out = sa_comm.send @k [[0, 0:16]] to 1  // r0
    %v_out = sa_comm.send @v [[0, 0:16]] to 1  // r0
    %k_in = sa_comm.recv @k [[0, 48:64]] from 1  // r0
    %v_in = sa_comm.recv @v [[0, 48:64]] from 1  // r0
    sa_comm.attend @q, @k, @v, @mask -> @o_acc, @lse work [
      {head = 0, q = 0, kv = 0, rows = 0:2, cols = 0:2},
      {head = 1, q = 1, kv = 0, rows = 0:2, cols = 0:2}
    ]
    sa_comm.phase 4 "ring"
    sa_comm.wait %k_out, %v_out, %k_in, %v_in  // r0
    sa_comm.attend @q, @k, @v, @mask -> @o_part, @lse_part work [
      {head = 0, q = 0, kv = 0, rows = 0:2, cols = 2:4},
      {head = 1, q = 1, kv = 0, rows = 0:2, cols = 2:4}
    ]
    sa_comm.merge @o_part, @lse_part -> @o_acc, @lse [[0, 0:32], [1, 0:32]]  // r0
    sa_comm.release @o_part slots [0, 1]  // r0
    sa_comm.release @lse_part slots [0, 1]  // r0
    sa_comm.phase 5 "convert"
    sa_comm.convert @o_acc -> @o [[0, 0:32], [1, 0:32]]  // r0
    sa_comm.phase 6 "return"
    sa_comm.all_to_all ulysses @o -> @o_shard send [[0, 0:32], [1, 0:32]] counts [2] recv [[0, 0:32], [1, 0:32]] counts [2]  // r0
    sa_comm.all_to_all ulysses @lse -> @lse_shard send [[0, 0:32], [1, 0:32]] counts [2] recv [[0, 0:32], [1, 0:32]] counts [2]  // r0
    sa_comm.phase 7 "release"
    sa_comm.release @q slots [0, 1]  // r0
    sa_comm.release @mask slots [0, 1]  // r0
    sa_comm.release @o slots [0, 1]  // r0
    sa_comm.release @lse slots [0, 1]  // r0
    sa_comm.release @o_acc slots [0, 1]  // r0
    sa_comm.release @k slots [0]  // r0
    sa_comm.release @v slots [0]  // r0
  }
  sa_comm.rank 1 {
    sa_comm.phase 0 "exchange"
    sa_comm.all_to_all ulysses @q_shard -> @q send [[0, 0:32], [1, 0:32]] counts [2] recv [[0, 0:32], [1, 0:32]] counts [2]  // r1
    sa_comm.all_to_all ulysses @k_shard -> @k send [[0, 0:32]] counts [1] recv [[0, 32:64]] counts [1]  // r1
    sa_comm.phase 1 "route"
    sa_comm.load_mask @mask work [
      {head = 0, q = 0, kv = 0, rows = 0:2, cols = 0:4},
      {head = 1, q = 1, kv = 0, rows = 0:2, cols = 0:4}
    ]
    sa_comm.phase 2 "exchange"
    sa_comm.all_to_all ulysses @v_shard -> @v send [[0, 0:32]] counts [1] recv [[0, 32:64]] counts [1]  // r1
    sa_comm.phase 3 "ring"
    %k_out = sa_comm.send @k [[0, 48:64]] to 0  // r1
    %v_out = sa_comm.send @v [[0, 48:64]] to 0  // r1
    %k_in = sa_comm.recv @k [[0, 0:16]] from 0  // r1
    %v_in = sa_comm.recv @v [[0, 0:16]] from 0  // r1
    sa_comm.attend @q, @k, @v, @mask -> @o_acc, @lse work [
      {head = 0, q = 0, kv = 0, rows = 0:2, cols = 2:4},
      {head = 1, q = 1, kv = 0, rows = 0:2, cols = 2:4}
    ]
    sa_comm.phase 4 "ring"
    sa_comm.wait %k_out, %v_out, %k_in, %v_in  // r1
    sa_comm.attend @q, @k, @v, @mask -> @o_part, @lse_part work [
      {head = 0, q = 0, kv = 0, rows = 0:2, cols = 0:2},
      {head = 1, q = 1, kv = 0, rows = 0:2, cols = 0:2}
    ]
    sa_comm.merge @o_part, @lse_part -> @o_acc, @lse [[0, 0:32], [1, 0:32]]  // r1
    sa_comm.release @o_part slots [0, 1]  // r1
    sa_comm.release @lse_part slots [0, 1]  // r1
    sa_comm.phase 5 "convert"
    sa_comm.convert @o_acc -> @o [[0, 0:32], [1, 0:32]]  // r1
    sa_comm.phase 6 "return"
    sa_comm.all_to_all ulysses @o -> @o_shard send [[0, 0:32], [1, 0:32]] counts [2] recv [[0, 0:32], [1, 0:32]] counts [2]  // r1
    sa_comm.all_to_all ulysses @lse -> @lse_shard send [[0, 0:32], [1, 0:32]] counts [2] recv [[0, 0:32], [1, 0:32]] counts [2]  // r1
    sa_comm.phase 7 "release"
    sa_comm.release @q slots [0, 1]  // r1
    sa_comm.release @mask slots [0, 1]  // r1
    sa_comm.release @o slots [0, 1]  // r1
    sa_comm.release @lse slots [0, 1]  // r1
    sa_comm.release @o_acc slots [0, 1]  // r1
    sa_comm.release @k slots [0]  // r1
    sa_comm.release @v slots [0]  // r1
  }
}

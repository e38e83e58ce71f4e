// RUN: sparseattn-opt %s --sparseattn-verify-schedule | FileCheck %s
// CHECK: sa_comm.program @layer

// A valid program that the tests of this folder break, one rule at a time. Two
// ranks of one Ulysses group, four heads that share two kv heads, four blocks of
// 16 tokens: heads 0 and 3 change places after routing.

sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 4, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.17677669 policy <top_p, p = 0.9> planner <balance = swap, k1_milli = 1000, k2_milli = 1000> {
  sa_comm.window @q_shard : 4 x 32 x 32 x f32 input
  sa_comm.window @k_shard : 2 x 32 x 32 x f32 input
  sa_comm.window @v_shard : 2 x 32 x 32 x f32 input
  sa_comm.window @o_shard : 4 x 32 x 32 x f32 output
  sa_comm.window @lse_shard : 4 x 32 x 1 x f32 output
  sa_comm.window @q : 3 x 64 x 32 x f32
  sa_comm.window @k : 2 x 64 x 32 x f32
  sa_comm.window @v : 2 x 64 x 32 x f32
  sa_comm.window @mask : 3 x 4 x 5 x i32
  sa_comm.window @o : 3 x 64 x 32 x f32
  sa_comm.window @lse : 3 x 64 x 1 x f32
  sa_comm.mask 4 x 4 x 4 {
    head 0 {
      row 0:4 [0:4]
    }
    head 1 {
      row 0:4 [0:4]
    }
    head 2 {
      row 0 [0]
      row 1 [1]
      row 2 [2]
      row 3 [3]
    }
    head 3 {
      row 0 [0]
      row 1 [1]
      row 2 [2]
      row 3 [3]
    }
  }
  sa_comm.rank 0 {
    sa_comm.phase 0 "exchange"
    sa_comm.all_to_all ulysses @q_shard -> @q send [[0, 0:32], [1, 0:32], [2, 0:32], [3, 0:32]] counts [2, 2] recv [[0, 0:32], [1, 0:32], [0, 32:64], [1, 32:64]] counts [2, 2]  // r0
    sa_comm.all_to_all ulysses @k_shard -> @k send [[0, 0:32], [1, 0:32]] counts [1, 1] recv [[0, 0:32], [0, 32:64]] counts [1, 1]  // r0
    sa_comm.phase 1 "route"
    sa_comm.load_mask @mask work [
      {head = 0, q = 0, kv = 0, rows = 0:4, cols = 0:4},
      {head = 1, q = 1, kv = 0, rows = 0:4, cols = 0:4}
    ]
    sa_comm.phase 2 "exchange"
    sa_comm.all_to_all ulysses @v_shard -> @v send [[0, 0:32], [1, 0:32]] counts [1, 1] recv [[0, 0:32], [0, 32:64]] counts [1, 1]  // r0
    sa_comm.phase 3 "move"
    %q_out = sa_comm.send @q [[0, 0:64]] to 1  // r0
    %k_out = sa_comm.send @k [[0, 0:64]] to 1  // r0
    %v_out = sa_comm.send @v [[0, 0:64]] to 1  // r0
    %mask_out = sa_comm.send @mask [[0, 0:4]] to 1  // r0
    %q_in = sa_comm.recv @q [[2, 0:64]] from 1  // r0
    %k_in = sa_comm.recv @k [[1, 0:64]] from 1  // r0
    %v_in = sa_comm.recv @v [[1, 0:64]] from 1  // r0
    %mask_in = sa_comm.recv @mask [[2, 0:4]] from 1  // r0
    sa_comm.attend @q, @k, @v, @mask -> @o, @lse work [{head = 1, q = 1, kv = 0, rows = 0:4, cols = 0:4}]  // r0
    sa_comm.wait %q_out, %k_out, %v_out, %mask_out, %q_in, %k_in, %v_in, %mask_in  // r0
    sa_comm.release @q slots [0]  // r0
    sa_comm.release @mask slots [0]  // r0
    sa_comm.phase 4 "attend"
    sa_comm.attend @q, @k, @v, @mask -> @o, @lse work [{head = 2, q = 2, kv = 1, rows = 0:4, cols = 0:4}]  // r0
    sa_comm.phase 5 "return"
    sa_comm.all_to_all ulysses @o -> @o_shard send [[1, 0:32], [2, 0:32], [1, 32:64], [2, 32:64]] counts [2, 2] recv [[1, 0:32], [2, 0:32], [0, 0:32], [3, 0:32]] counts [2, 2]  // r0
    sa_comm.all_to_all ulysses @lse -> @lse_shard send [[1, 0:32], [2, 0:32], [1, 32:64], [2, 32:64]] counts [2, 2] recv [[1, 0:32], [2, 0:32], [0, 0:32], [3, 0:32]] counts [2, 2]  // r0
    sa_comm.phase 6 "release"
    sa_comm.release @q slots [1, 2]  // r0
    sa_comm.release @mask slots [1, 2]  // r0
    sa_comm.release @o slots [1, 2]  // r0
    sa_comm.release @lse slots [1, 2]  // r0
    sa_comm.release @k slots [0, 1]  // r0
    sa_comm.release @v slots [0, 1]  // r0
  }
  sa_comm.rank 1 {
    sa_comm.phase 0 "exchange"
    sa_comm.all_to_all ulysses @q_shard -> @q send [[0, 0:32], [1, 0:32], [2, 0:32], [3, 0:32]] counts [2, 2] recv [[0, 0:32], [1, 0:32], [0, 32:64], [1, 32:64]] counts [2, 2]  // r1
    sa_comm.all_to_all ulysses @k_shard -> @k send [[0, 0:32], [1, 0:32]] counts [1, 1] recv [[0, 0:32], [0, 32:64]] counts [1, 1]  // r1
    sa_comm.phase 1 "route"
    sa_comm.load_mask @mask work [
      {head = 2, q = 0, kv = 0, rows = 0:4, cols = 0:4},
      {head = 3, q = 1, kv = 0, rows = 0:4, cols = 0:4}
    ]
    sa_comm.phase 2 "exchange"
    sa_comm.all_to_all ulysses @v_shard -> @v send [[0, 0:32], [1, 0:32]] counts [1, 1] recv [[0, 0:32], [0, 32:64]] counts [1, 1]  // r1
    sa_comm.phase 3 "move"
    %q_out = sa_comm.send @q [[0, 0:64]] to 0  // r1
    %k_out = sa_comm.send @k [[0, 0:64]] to 0  // r1
    %v_out = sa_comm.send @v [[0, 0:64]] to 0  // r1
    %mask_out = sa_comm.send @mask [[0, 0:4]] to 0  // r1
    %q_in = sa_comm.recv @q [[2, 0:64]] from 0  // r1
    %k_in = sa_comm.recv @k [[1, 0:64]] from 0  // r1
    %v_in = sa_comm.recv @v [[1, 0:64]] from 0  // r1
    %mask_in = sa_comm.recv @mask [[2, 0:4]] from 0  // r1
    sa_comm.attend @q, @k, @v, @mask -> @o, @lse work [{head = 3, q = 1, kv = 0, rows = 0:4, cols = 0:4}]  // r1
    sa_comm.wait %q_out, %k_out, %v_out, %mask_out, %q_in, %k_in, %v_in, %mask_in  // r1
    sa_comm.release @q slots [0]  // r1
    sa_comm.release @mask slots [0]  // r1
    sa_comm.phase 4 "attend"
    sa_comm.attend @q, @k, @v, @mask -> @o, @lse work [{head = 0, q = 2, kv = 1, rows = 0:4, cols = 0:4}]  // r1
    sa_comm.phase 5 "return"
    sa_comm.all_to_all ulysses @o -> @o_shard send [[2, 0:32], [1, 0:32], [2, 32:64], [1, 32:64]] counts [2, 2] recv [[1, 0:32], [2, 0:32], [0, 0:32], [3, 0:32]] counts [2, 2]  // r1
    sa_comm.all_to_all ulysses @lse -> @lse_shard send [[2, 0:32], [1, 0:32], [2, 32:64], [1, 32:64]] counts [2, 2] recv [[1, 0:32], [2, 0:32], [0, 0:32], [3, 0:32]] counts [2, 2]  // r1
    sa_comm.phase 6 "release"
    sa_comm.release @q slots [1, 2]  // r1
    sa_comm.release @mask slots [1, 2]  // r1
    sa_comm.release @o slots [1, 2]  // r1
    sa_comm.release @lse slots [1, 2]  // r1
    sa_comm.release @k slots [0, 1]  // r1
    sa_comm.release @v slots [0, 1]  // r1
  }
}

// RUN: sparseattn-opt %s | sparseattn-opt | FileCheck %s
// RUN: sparseattn-opt %s --mlir-print-op-generic | sparseattn-opt | FileCheck %s
// RUN: sparseattn-opt %s --emit-bytecode | sparseattn-opt | FileCheck %s

// A bound program keeps its text through text, generic text and bytecode.

// CHECK-LABEL: sa_comm.program @layer mesh <ulysses = 2, ring = 1>
// CHECK-NEXT:      shape <heads = 2, kv_heads = 1, sq = 64, skv = 48, head_dim = 32, block_q = 16, block_k = 16, dtype = bf16, causal = true>
// CHECK-NEXT:      scale 0.17677669 policy <explicit> planner <balance = none, augment = true, n1_milli = 900, cost = <row_ps = 5>> {
sa_comm.program @layer mesh <ulysses = 2, ring = 1>
    shape <heads = 2, kv_heads = 1, sq = 64, skv = 48, head_dim = 32, block_q = 16, block_k = 16, dtype = bf16, causal = true>
    scale 0.17677669 policy <explicit>
    planner <balance = none, augment = true, n1_milli = 900, cost = <tile_ps = 1000, row_ps = 5>> {
  // CHECK-NEXT: sa_comm.window @q : 4 x 64 x 32 x bf16 input
  sa_comm.window @q : 4x64x32xbf16 input
  // CHECK-NEXT: sa_comm.window @k : 1 x 48 x 32 x bf16{{$}}
  sa_comm.window @k : 1 x 48 x 32 x bf16 internal
  // CHECK-NEXT: sa_comm.window @o : 4 x 64 x 32 x f32 output
  sa_comm.window @o : 4 x 64 x 32 x f32 output
  // CHECK-NEXT: sa_comm.window @"odd name" : 1 x 0 x 2 x i64
  sa_comm.window @"odd name" : 1 x 0 x 2 x i64
  // CHECK-NEXT: sa_comm.window @mask : 2 x 4 x 4 x i32
  sa_comm.window @mask : 2 x 4 x 4 x i32
  // Rows that are not written are empty, equal neighbours share a line, and
  // neighbouring indices become ranges.
  // CHECK-NEXT: sa_comm.mask 2 x 4 x 3 {
  // CHECK-NEXT:   head 0 {
  // CHECK-NEXT:     row 0 []
  // CHECK-NEXT:     row 1:3 [0:2]
  // CHECK-NEXT:     row 3 [0, 2]
  // CHECK-NEXT:   }
  // CHECK-NEXT:   head 1 {
  // CHECK-NEXT:     row 0:4 []
  // CHECK-NEXT:   }
  // CHECK-NEXT: }
  sa_comm.mask 2x4x3 {
    head 0 {
      row 1 [0:2]
      row 2 [0, 1]
      row 3 [0, 2]
    }
  }
  // CHECK-NEXT: sa_comm.rank 0 {
  sa_comm.rank 0 {
    // CHECK-NEXT: sa_comm.phase 0 "exchange"
    sa_comm.phase 0 "exchange"
    // CHECK-NEXT: sa_comm.all_to_all ulysses @q -> @o
    // CHECK-NEXT:   send {{\[\[}}0, 0:32], [1, 0:32]] counts [1, 1]
    // CHECK-NEXT:   recv {{\[\[}}0, 0:32]] counts [1, 0]
    sa_comm.all_to_all ulysses @q -> @o send [[0, 0:32], [1, 0:32]] counts [1, 1]
      recv [[0, 0:32]] counts [1, 0]
    // CHECK-NEXT: sa_comm.all_gather all @k -> @k
    // CHECK-NEXT:   send []
    // CHECK-NEXT:   recv [] counts []
    sa_comm.all_gather all @k -> @k send [] recv [] counts []
    // A phase may come without a label and in any order.
    // CHECK-NEXT: sa_comm.phase 7{{$}}
    sa_comm.phase 7
    // CHECK-NEXT: sa_comm.load_mask @mask work {{\[}}
    // CHECK-NEXT:   {head = 0, q = 0, kv = 0, rows = 0:4, cols = 0:3},
    // CHECK-NEXT:   {head = 1, q = 1, kv = 0, rows = 1:2, cols = 2:3, budget = 4}
    // CHECK-NEXT: ]
    sa_comm.load_mask @mask work [
      {head = 0, q = 0, kv = 0, rows = 0:4, cols = 0:3},
      {cols = 2, rows = 1, kv = 0, q = 1, head = 1, budget = 4}
    ]
    // CHECK-NEXT: sa_comm.pack @q {{\[\[}}0, 0:1]] -> @q {{\[\[}}1, 5:6]]
    sa_comm.pack @q [[0, 0:1]] -> @q [[1, 5:6]]
    // CHECK-NEXT: %[[SENT:.*]] = sa_comm.send @q {{\[\[}}0, 0:16]] to 1
    %sent = sa_comm.send @q [[0, 0:16]] to 1
    // More than four chunks are wrapped.
    // CHECK-NEXT: %[[RECEIVED:.*]] = sa_comm.recv @q {{\[$}}
    // CHECK-NEXT:   [2, 0:1], [2, 1:2], [2, 2:3], [2, 3:4],
    // CHECK-NEXT:   [2, 4:5]
    // CHECK-NEXT: ] from 1
    %received = sa_comm.recv @q [[2, 0:1], [2, 1:2], [2, 2:3], [2, 3:4], [2, 4:5]] from 1
    // CHECK-NEXT: %[[SKIPPED:.*]] = sa_comm.recv @k [] from none
    %skipped = sa_comm.recv @k [] from none
    // CHECK-NEXT: sa_comm.wait %[[SENT]], %[[SKIPPED]], %[[RECEIVED]]
    sa_comm.wait %sent, %skipped, %received
    // CHECK-NEXT: sa_comm.wait{{ *$}}
    sa_comm.wait
    // CHECK-NEXT: sa_comm.phase 3
    sa_comm.phase 3
    // CHECK-NEXT: sa_comm.put @k {{\[\[}}0, 0:16]] -> @k {{\[\[}}0, 16:32]] to 1
    sa_comm.put @k [[0, 0:16]] -> @k [[0, 16:32]] to 1
    // CHECK-NEXT: sa_comm.signal to 1
    sa_comm.signal to 1
    // CHECK-NEXT: sa_comm.wait_signal from 1
    sa_comm.wait_signal from 1
    // CHECK-NEXT: sa_comm.attend @q, @k, @k, @mask -> @o, @o work [{head = 0, q = 0, kv = 0, rows = 0:4, cols = 0:3}]
    sa_comm.attend @q, @k, @k, @mask -> @o, @o
      work [{head = 0, q = 0, kv = 0, rows = 0:4, cols = 0:3}]
    // CHECK-NEXT: sa_comm.merge @o, @o -> @o, @o {{\[\[}}0, 0:64]]
    sa_comm.merge @o, @o -> @o, @o [[0, 0:64]]
    // CHECK-NEXT: sa_comm.convert @o -> @q {{\[\[}}0, 0:64]]
    sa_comm.convert @o -> @q [[0, 0:64]]
    // CHECK-NEXT: sa_comm.release @"odd name" slots [0, 3]
    sa_comm.release @"odd name" slots [0, 3]
  }
  // CHECK-NEXT: }
  // CHECK-NEXT: sa_comm.rank 1 {
  // CHECK-NEXT: }
  sa_comm.rank 1 {}
}

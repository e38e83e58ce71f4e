// RUN: sparseattn-opt %s | sparseattn-opt | FileCheck %s
// RUN: sparseattn-opt %s --mlir-print-op-generic | sparseattn-opt | FileCheck %s
// RUN: sparseattn-opt %s --emit-bytecode | sparseattn-opt | FileCheck %s

// A template keeps its symbols, and every operand may be one.

// CHECK-LABEL: sa_comm.template @layer mesh <ulysses = 2, ring = 2>
// CHECK-NEXT:      shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
// CHECK-NEXT:      scale 1.0e-05 policy <top_p, p = 0.95, min_blocks = 4, keep = [0:2, 3]> {
sa_comm.template @layer mesh <ulysses = 2, ring = 2>
    shape <heads = 2, kv_heads = 2, sq = 64, skv = 64, head_dim = 32, block_q = 16, block_k = 16, dtype = f32>
    scale 0.00001 policy <top_p, keep = [0:2, 3:4], p = 0.95, min_blocks = 4> {
  // CHECK-NEXT: sa_comm.window @w : 4 x 64 x 32 x f32
  sa_comm.window @w : 4 x 64 x 32 x f32
  // CHECK-NEXT: sa_comm.symbol @chunks dynamic
  sa_comm.symbol @chunks dynamic
  // CHECK-NEXT: sa_comm.symbol @counts static values {{\[\[}}1, 1], [2, 0], [], [0]]
  sa_comm.symbol @counts static values [[1, 1], [2, 0], [], [0]]
  // CHECK-NEXT: sa_comm.symbol @work static{{$}}
  sa_comm.symbol @work static
  // CHECK-NEXT: sa_comm.symbol @peer dynamic
  sa_comm.symbol @peer dynamic
  // CHECK-NEXT: sa_comm.spmd {
  sa_comm.spmd {
    // CHECK-NEXT: sa_comm.all_to_all ring @w -> @w send @chunks counts @counts recv @chunks counts @counts
    sa_comm.all_to_all ring @w -> @w send @chunks counts @counts recv @chunks counts @counts
    // CHECK-NEXT: sa_comm.all_gather all @w -> @w send @chunks recv @chunks counts @counts
    sa_comm.all_gather all @w -> @w send @chunks recv @chunks counts @counts
    // CHECK-NEXT: sa_comm.phase 1 "route"
    sa_comm.phase 1 "route"
    // CHECK-NEXT: sa_comm.pool queries @w -> @w work @work
    sa_comm.pool queries @w -> @w work @work
    // CHECK-NEXT: sa_comm.pool keys @w -> @w work []
    sa_comm.pool keys @w -> @w work []
    // CHECK-NEXT: sa_comm.route @w, @w -> @w, @w work @work
    sa_comm.route @w, @w -> @w, @w work @work
    // CHECK-NEXT: sa_comm.plan @w
    sa_comm.plan @w
    // CHECK-NEXT: sa_comm.augment @w, @w -> @w work @work
    sa_comm.augment @w, @w -> @w work @work
    // CHECK-NEXT: sa_comm.load_mask @w work @work
    sa_comm.load_mask @w work @work
    // CHECK-NEXT: sa_comm.pack @w @chunks -> @w @chunks
    sa_comm.pack @w @chunks -> @w @chunks
    // CHECK-NEXT: %[[SENT:.*]] = sa_comm.send @w @chunks to @peer
    %a = sa_comm.send @w @chunks to @peer
    // CHECK-NEXT: %[[RECEIVED:.*]] = sa_comm.recv @w @chunks from @peer
    %b = sa_comm.recv @w @chunks from @peer
    // CHECK-NEXT: sa_comm.wait %[[SENT]], %[[RECEIVED]]
    sa_comm.wait %a, %b
    // CHECK-NEXT: sa_comm.put @w @chunks -> @w @chunks to @peer
    sa_comm.put @w @chunks -> @w @chunks to @peer
    // CHECK-NEXT: sa_comm.signal to @peer
    sa_comm.signal to @peer
    // CHECK-NEXT: sa_comm.wait_signal from @peer
    sa_comm.wait_signal from @peer
    // CHECK-NEXT: sa_comm.attend @w, @w, @w, @w -> @w, @w work @work
    sa_comm.attend @w, @w, @w, @w -> @w, @w work @work
    // CHECK-NEXT: sa_comm.merge @w, @w -> @w, @w @chunks
    sa_comm.merge @w, @w -> @w, @w @chunks
    // CHECK-NEXT: sa_comm.convert @w -> @w @chunks
    sa_comm.convert @w -> @w @chunks
    // CHECK-NEXT: sa_comm.release @w slots @counts
    sa_comm.release @w slots @counts
  }
}

// CHECK-LABEL: sa_comm.template @dense
// CHECK: scale 0.5 policy <dense> {
sa_comm.template @dense mesh <ulysses = 1, ring = 1>
    shape <heads = 1, kv_heads = 1, sq = 0, skv = 0, head_dim = 32, block_q = 16, block_k = 16, dtype = f16>
    scale 0.5 policy <dense> {
  sa_comm.spmd {}
}

// CHECK-LABEL: sa_comm.template @window
// CHECK: scale -2.0 policy <window, blocks = 3> planner <balance = swap, k1_milli = 0> {
sa_comm.template @window mesh <ulysses = 1, ring = 1>
    shape <heads = 1, kv_heads = 1, sq = 1, skv = 1, head_dim = 32, block_q = 16, block_k = 16, dtype = f16>
    scale -2.0 policy <window, blocks = 3> planner <balance = swap, k1_milli = 0> {
  sa_comm.spmd {}
}

// CHECK-LABEL: sa_comm.template @topk
// CHECK: policy <top_k, k = 16> {
sa_comm.template @topk mesh <ulysses = 1, ring = 1>
    shape <heads = 1, kv_heads = 1, sq = 1, skv = 1, head_dim = 32, block_q = 16, block_k = 16, dtype = f16>
    scale 1.0 policy <top_k, k = 16> {
  sa_comm.spmd {}
}

// Attributes by themselves.
// CHECK: module @attributes attributes {
// CHECK-SAME: sa_comm.a = #sa_comm.chunks<{{\[\[}}0, 0:128], [3, 5:6]]>
// CHECK-SAME: sa_comm.b = #sa_comm.work<[{head = 1, q = 0, kv = 0, rows = 0:1, cols = 2:4}]>
// CHECK-SAME: sa_comm.c = #sa_comm.mask_rows<1 x 2 x 3 { head 0 { row 0 [0:3] row 1 [] } }>
// CHECK-SAME: sa_comm.d = !sa_comm.token
module @attributes attributes {
  sa_comm.a = #sa_comm.chunks<[[0, 0:128], [3, 5:6]]>,
  sa_comm.b = #sa_comm.work<[{head = 1, q = 0, kv = 0, rows = 0, cols = 2:4}]>,
  sa_comm.c = #sa_comm.mask_rows<1x2x3 {head 0 {row 0 [0:3]}}>,
  sa_comm.d = !sa_comm.token
} {}

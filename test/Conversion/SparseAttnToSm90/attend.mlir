// The order inside a step, and that the steady step and the one at a tile's
// boundary come in the same order.
// RUN: sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128 | FileCheck %s
// RUN: sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend_f16_f32_d128_q64_k64 | FileCheck %s --check-prefix=PAIRS
// RUN: sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k64 | FileCheck %s --check-prefix=TWO
// RUN: sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d256_q128_k128 | FileCheck %s --check-prefix=D256
// RUN: sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128 recipe=stages=5,probabilities_in_registers=0" | FileCheck %s --check-prefix=SHARED

module {}

// CHECK-LABEL: sa_sm90.kernel @attend_bf16_bf16_d128_q128_k128
// CHECK-SAME: threads 384 registers 168 shared
// CHECK: %[[RING:.*]] = sa_sm90.ring at 0 {{.*}} : <7, <128, 128, box 128, bf16>, consumers 8>
// CHECK: %[[MAIL:.*]] = sa_sm90.mailbox
// CHECK: sa_sm90.role "load" warps 0 count 1 registers 40 single_thread
// CHECK: sa_sm90.role "empty_tiles" warps 1 count 1 registers 40
// CHECK: sa_sm90.role "attend" warps 4 count 8 registers 232
// The first step of the first tile.
// CHECK: sa_sm90.load_operand
// CHECK: sa_sm90.scores
// CHECK: sa_sm90.wait 0
// CHECK: sa_sm90.release
// CHECK: sa_sm90.mask_columns
// The steady step: no mask.
// CHECK: scf.while
// CHECK: scf.for
// CHECK-NOT: sa_sm90.mask_columns
// CHECK: sa_sm90.barrier_sync
// CHECK-NEXT: sa_sm90.scores
// CHECK: sa_sm90.await %[[RING]]
// CHECK-NEXT: sa_sm90.accumulate
// CHECK: sa_sm90.barrier_arrive
// CHECK-NEXT: sa_sm90.wait 1
// CHECK-NEXT: sa_sm90.release %[[RING]]
// CHECK-NEXT: sa_sm90.row_max
// CHECK: sa_sm90.exp2
// CHECK: sa_sm90.row_sum
// CHECK: sa_sm90.wait 0
// CHECK: sa_sm90.release %[[RING]]
// CHECK: sa_sm90.to_operand
// CHECK: sa_sm90.scale_rows
// CHECK: scf.yield
// The boundary: the same, with a new Q, a mask and a store.
// CHECK: sa_sm90.fetch %[[MAIL]]
// CHECK: scf.condition
// CHECK: sa_sm90.load_operand
// CHECK: sa_sm90.barrier_sync
// CHECK-NEXT: sa_sm90.scores
// CHECK: sa_sm90.accumulate
// CHECK: sa_sm90.barrier_arrive
// Where the rows go is read while the products run.
// CHECK: llvm.load
// CHECK: sa_sm90.wait 1
// CHECK: sa_sm90.mask_columns
// CHECK: sa_sm90.row_max
// CHECK: sa_sm90.wait 0
// CHECK: sa_sm90.to_operand
// CHECK: sa_sm90.store_rows {{.*}} as bf16
// CHECK: sa_sm90.store_row_values
// The last product.
// CHECK: sa_sm90.accumulate
// CHECK: sa_sm90.wait 0
// CHECK: sa_sm90.store_rows

// Two tiles of 64 rows, no turns; O is rescaled where a row needs it; fp32
// outputs.
// PAIRS-LABEL: sa_sm90.kernel @attend_f16_f32_d128_q64_k64
// PAIRS: sa_sm90.ring at 0 {{.*}} copies 2 stride {{.*}} : <6, <64, 128, box 64, f16>, consumers 4>
// PAIRS: sa_sm90.ring at 98304 {{.*}} copies 2 stride {{.*}} : <1, <64, 128, box 64, f16>, consumers 4>
// PAIRS: sa_sm90.role "load" warps 0 count 2
// PAIRS: sa_sm90.role "attend"
// PAIRS-NOT: sa_sm90.barrier_sync
// PAIRS: nvvm.vote.sync any
// PAIRS: scf.if
// PAIRS-NEXT: sa_sm90.scale_rows
// PAIRS: sa_sm90.store_rows {{.*}} as f32

// Two list entries in a step: the second may have to be masked whole.
// TWO-LABEL: sa_sm90.kernel @attend_bf16_bf16_d128_q128_k64
// TWO: sa_sm90.scores %{{.*}}, %{{.*}}, %{{.*}} : {{.*}} -> <128>
// TWO: sa_sm90.mask_columns %{{.*}}, %{{.*}}, %{{.*}} :

// Q stays in shared memory, in a buffer of its own.
// D256: sa_sm90.ring at 0 {{.*}} : <5, <64, 256, box 64, bf16>, consumers 8>
// D256: sa_sm90.ring at 163840 {{.*}} : <1, <128, 256, box 128, bf16>, consumers 8>
// D256-NOT: sa_sm90.load_operand
// D256: sa_sm90.scores {{.*}} : !sa_sm90.tile<64, 256, box 128, bf16>

// P through shared memory.
// SHARED: sa_sm90.scratch at
// SHARED: sa_sm90.store_operand
// SHARED: sa_sm90.accumulate {{.*}} : <128>, !sa_sm90.tile<64, 128, box 64, bf16>

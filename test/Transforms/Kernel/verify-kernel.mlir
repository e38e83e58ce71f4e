// Every recipe's kernel passes, of all types, and one with fields changed.
// RUN: sparseattn-opt %s --sparseattn-emit-sm90-kernels --sparseattn-verify-kernel | FileCheck %s --check-prefix=RECIPES
// RUN: sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend_f16_f16_d64_q64_k64,attend_f16_f16_d64_q64_k128,attend_f16_f16_d64_q128_k64,attend_f16_f16_d64_q128_k128,attend_f16_f16_d128_q64_k64,attend_f16_f16_d128_q64_k128,attend_f16_f16_d128_q128_k64,attend_f16_f16_d128_q128_k128,attend_f16_f16_d256_q64_k64,attend_f16_f16_d256_q64_k128,attend_f16_f16_d256_q128_k64,attend_f16_f16_d256_q128_k128 --sparseattn-verify-kernel -o /dev/null
// RUN: sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend_f16_f32_d64_q64_k64,attend_f16_f32_d64_q64_k128,attend_f16_f32_d64_q128_k64,attend_f16_f32_d64_q128_k128,attend_f16_f32_d128_q64_k64,attend_f16_f32_d128_q64_k128,attend_f16_f32_d128_q128_k64,attend_f16_f32_d128_q128_k128,attend_f16_f32_d256_q64_k64,attend_f16_f32_d256_q64_k128,attend_f16_f32_d256_q128_k64,attend_f16_f32_d256_q128_k128 --sparseattn-verify-kernel -o /dev/null
// RUN: sparseattn-opt %s --sparseattn-emit-sm90-kernels=kernels=attend_bf16_f32_d64_q64_k64,attend_bf16_f32_d64_q64_k128,attend_bf16_f32_d64_q128_k64,attend_bf16_f32_d64_q128_k128,attend_bf16_f32_d128_q64_k64,attend_bf16_f32_d128_q64_k128,attend_bf16_f32_d128_q128_k64,attend_bf16_f32_d128_q128_k128,attend_bf16_f32_d256_q64_k64,attend_bf16_f32_d256_q64_k128,attend_bf16_f32_d256_q128_k64,attend_bf16_f32_d256_q128_k128 --sparseattn-verify-kernel -o /dev/null
// RUN: sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128 recipe=stages=3" --sparseattn-verify-kernel -o /dev/null
// RUN: sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128 recipe=stages=5,probabilities_in_registers=0" --sparseattn-verify-kernel -o /dev/null
// RUN: sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128 recipe=stages=5,query_in_ring=0,query_in_registers=0" --sparseattn-verify-kernel -o /dev/null
// RUN: sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128 recipe=ping_pong=0" --sparseattn-verify-kernel -o /dev/null
// RUN: sparseattn-opt %s --sparseattn-verify-kernel | FileCheck %s

// More registers than there are: with changed fields the emitter checks too.
// RUN: not sparseattn-opt %s "--sparseattn-emit-sm90-kernels=kernels=attend_bf16_bf16_d128_q128_k128 recipe=consumer_registers=240" 2>&1 | FileCheck %s --check-prefix=REGISTERS
// REGISTERS: error: 'sa_sm90.kernel' op registers of all roles: got 66560, expected at most those at entry, 64512

// RECIPES: sa_sm90.kernel @attend_bf16_bf16_d64_
// RECIPES: sa_sm90.kernel @attend_bf16_bf16_d256_

// The kernel that verify-kernel-*-invalid.mlir break rule by rule is a good one,
// and is not changed.

// CHECK: sa_sm90.kernel @k(
// CHECK: sa_sm90.role "load"
// CHECK: sa_sm90.role "attend"
// CHECK: sa_sm90.store_rows
sa_sm90.kernel @k(%map: !llvm.ptr, %n: i32, %out: !llvm.ptr<1>, %s: i64)
    threads 384 registers 168 shared 81920 {
  %rq = sa_sm90.ring at 0 barriers 73728 copies 1 stride 0 : !sa_sm90.ring<1, <128, 64, box 128, bf16>, consumers 8>
  %rk = sa_sm90.ring at 16384 barriers 73744 copies 1 stride 0 : !sa_sm90.ring<3, <64, 64, box 64, bf16>, consumers 8>
  %posts = sa_sm90.mailbox at 73792 barriers 73824 copies 1 stride 0 : !sa_sm90.mailbox<2, consumers 8>
  sa_sm90.role "load" warps 0 count 1 registers 40 single_thread {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %cq = sa_sm90.cursor producer : !sa_sm90.cursor<1>
    %ck = sa_sm90.cursor producer : !sa_sm90.cursor<3>
    %cm = sa_sm90.cursor producer : !sa_sm90.cursor<2>
    sa_sm90.post %posts[%cm], %n, %n, %n, %n : !sa_sm90.mailbox<2, consumers 8>, !sa_sm90.cursor<2>
    sa_sm90.load %rq[%cq] from %map[%c0, %c0, %c0] : !sa_sm90.ring<1, <128, 64, box 128, bf16>, consumers 8>, !sa_sm90.cursor<1>, !llvm.ptr
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%c = %ck) -> (!sa_sm90.cursor<3>) : i32 {
      sa_sm90.load %rk[%c] from %map[%i, %c0, %c0] : !sa_sm90.ring<3, <64, 64, box 64, bf16>, consumers 8>, !sa_sm90.cursor<3>, !llvm.ptr
      %d = sa_sm90.advance %c by 1 : !sa_sm90.cursor<3>
      sa_sm90.load %rk[%d] from %map[%i, %c0, %c0] : !sa_sm90.ring<3, <64, 64, box 64, bf16>, consumers 8>, !sa_sm90.cursor<3>, !llvm.ptr
      %e = sa_sm90.advance %c by 2 : !sa_sm90.cursor<3>
      scf.yield %e : !sa_sm90.cursor<3>
    }
  }
  sa_sm90.role "attend" warps 4 count 8 registers 232 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %wg = arith.shrui %warp, %c2 : i32
    %own = arith.addi %wg, %c1 : i32
    %other = arith.subi %c2, %wg : i32
    %second = arith.cmpi eq, %wg, %c1 : i32
    %cm = sa_sm90.cursor consumer : !sa_sm90.cursor<2>
    %post:4 = sa_sm90.fetch %posts[%cm] : !sa_sm90.mailbox<2, consumers 8>, !sa_sm90.cursor<2>
    scf.if %second {
      sa_sm90.barrier_arrive %c1, 256
    }
    %cq = sa_sm90.cursor consumer : !sa_sm90.cursor<1>
    %ck = sa_sm90.cursor consumer : !sa_sm90.cursor<3>
    %tq = sa_sm90.await %rq[%cq] : !sa_sm90.ring<1, <128, 64, box 128, bf16>, consumers 8>, !sa_sm90.cursor<1> -> !sa_sm90.tile<128, 64, box 128, bf16>
    %mine = sa_sm90.rows %tq[%wg] : !sa_sm90.tile<128, 64, box 128, bf16> -> !sa_sm90.tile<64, 64, box 128, bf16>
    %zero = sa_sm90.zero : !sa_sm90.accumulator<64>
    %p0 = sa_sm90.to_operand %zero : !sa_sm90.accumulator<64> -> !sa_sm90.operand<64, bf16>
    %r:3 = scf.for %i = %c0 to %post#0 step %c1 iter_args(%c = %ck, %p = %p0, %o = %zero)
        -> (!sa_sm90.cursor<3>, !sa_sm90.operand<64, bf16>, !sa_sm90.accumulator<64>) : i32 {
      %k = sa_sm90.await %rk[%c] : !sa_sm90.ring<3, <64, 64, box 64, bf16>, consumers 8>, !sa_sm90.cursor<3> -> !sa_sm90.tile<64, 64, box 64, bf16>
      sa_sm90.barrier_sync %own, 256
      %s0 = sa_sm90.scores %mine, %k : !sa_sm90.tile<64, 64, box 128, bf16>, !sa_sm90.tile<64, 64, box 64, bf16> -> !sa_sm90.accumulator<64>
      %d = sa_sm90.advance %c by 1 : !sa_sm90.cursor<3>
      %v = sa_sm90.await %rk[%d] : !sa_sm90.ring<3, <64, 64, box 64, bf16>, consumers 8>, !sa_sm90.cursor<3> -> !sa_sm90.tile<64, 64, box 64, bf16>
      %o0 = sa_sm90.accumulate %o, %p, %v : !sa_sm90.accumulator<64>, !sa_sm90.operand<64, bf16>, !sa_sm90.tile<64, 64, box 64, bf16>
      sa_sm90.barrier_arrive %other, 256
      %s1 = sa_sm90.wait 1, %s0 : !sa_sm90.accumulator<64> -> !sa_sm90.accumulator<64>
      sa_sm90.release %rk[%c] : !sa_sm90.ring<3, <64, 64, box 64, bf16>, consumers 8>, !sa_sm90.cursor<3>
      %m:2 = sa_sm90.row_max %s1 : !sa_sm90.accumulator<64>
      %o1 = sa_sm90.wait 0, %o0 : !sa_sm90.accumulator<64> -> !sa_sm90.accumulator<64>
      sa_sm90.release %rk[%d] : !sa_sm90.ring<3, <64, 64, box 64, bf16>, consumers 8>, !sa_sm90.cursor<3>
      %q = sa_sm90.to_operand %s1 : !sa_sm90.accumulator<64> -> !sa_sm90.operand<64, bf16>
      %e = sa_sm90.advance %c by 2 : !sa_sm90.cursor<3>
      scf.yield %e, %q, %o1 : !sa_sm90.cursor<3>, !sa_sm90.operand<64, bf16>, !sa_sm90.accumulator<64>
    }
    sa_sm90.release %rq[%cq] : !sa_sm90.ring<1, <128, 64, box 128, bf16>, consumers 8>, !sa_sm90.cursor<1>
    sa_sm90.store_rows %r#2, %out stride %s valid %n as bf16 : !sa_sm90.accumulator<64>, !llvm.ptr<1>
  }
}

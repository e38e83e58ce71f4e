// RUN: sparseattn-opt %s --sparseattn-lower-sm90 --split-input-file | FileCheck %s

!ring = !sa_sm90.ring<2, <64, 64, box 64, bf16>, consumers 8>

// Barriers: one arrival fills a slot, one of each consuming warp empties it. One
// chain of branches, one exit, registers given back and taken by warpgroup.

// CHECK: llvm.func @roles(%[[MAPS:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<384 x i8>, nvvm.grid_constant}, %[[N:.*]]: i32)
// CHECK-SAME: attributes {nvvm.kernel, nvvm.maxntid = array<i32: 384>, nvvm.minctasm = 1 : i32} {
// CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK: %[[LANE:.*]] = arith.andi %[[TID]], %{{.*}} : i32
// CHECK: %[[OFWARP:.*]] = arith.shrui %[[TID]], %{{.*}} : i32
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[OFWARP]], %{{.*}}, %{{.*}} : i32 -> i32
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[TID]], %{{.*}} : i32
// CHECK: llvm.cond_br %[[FIRST]], ^[[INIT:.*]], ^[[READY:.*]]
// CHECK: ^[[INIT]]:
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[ONE]]
// CHECK: nvvm.mbarrier.init
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[EIGHT]]
// CHECK-COUNT-5: nvvm.mbarrier.init
// CHECK-NOT: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK-NEXT: llvm.br ^[[READY]]
// CHECK: ^[[READY]]:
// CHECK-NEXT: nvvm.barrier0
// CHECK: arith.cmpi ult, %[[WARP]]
// CHECK: llvm.cond_br %{{.*}}, ^[[WG0:.*]], ^[[REST:.*]]
// CHECK: ^[[WG0]]:
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: llvm.cond_br %{{.*}}, ^[[LOAD:.*]], ^[[OTHER:.*]]
// CHECK: ^[[REST]]:
// CHECK: nvvm.setmaxregister increase 232
// CHECK: "bar.sync 1, 256;"
// CHECK: llvm.br ^[[EXIT:.*]]
// CHECK: ^[[LOAD]]:
// CHECK: nvvm.elect.sync -> i1
// CHECK: llvm.cond_br %{{.*}}, ^[[ELECTED:.*]], ^[[EXIT]]
// Warp 1 has no role: what is below 2 leaves, what is below 3 is warp 2.
// CHECK: ^[[OTHER]]:
// CHECK: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK: arith.cmpi ult, %[[WARP]], %[[TWO]]
// CHECK: llvm.cond_br %{{.*}}, ^[[EXIT]], ^[[ABOVE:.*]]
// CHECK: ^[[ELECTED]]:
// CHECK: llvm.br ^[[EXIT]]
// CHECK: ^[[ABOVE]]:
// CHECK: llvm.cond_br %{{.*}}, ^[[IDLE:.*]], ^[[EXIT]]
// CHECK: ^[[IDLE]]:
// CHECK: "bar.arrive 2, 64;"
// CHECK: llvm.br ^[[EXIT]]
// CHECK: ^[[EXIT]]:
// CHECK-NEXT: llvm.return
// CHECK-NOT: llvm.return
sa_sm90.kernel @roles(
    %maps: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<384 x i8>},
    %n: i32) threads 384 registers 168 shared 49216 {
  %a = sa_sm90.ring at 0 barriers 32768 copies 2 stride 16384 : !ring
  sa_sm90.role "load" warps 0 count 1 registers 40 single_thread {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %at = sa_sm90.cursor producer : !sa_sm90.cursor<2>
    sa_sm90.load %a[%at] from %maps[%c0, %c0, %c0] : !ring, !sa_sm90.cursor<2>, !llvm.ptr
  }
  sa_sm90.role "attend" warps 4 count 8 registers 232 {
  ^bb0(%warp: i32, %lane: i32):
    %c1 = arith.constant 1 : i32
    sa_sm90.barrier_sync %c1, 256
  }
  sa_sm90.role "idle" warps 2 count 1 registers 40 {
  ^bb0(%warp: i32, %lane: i32):
    %c2 = arith.constant 2 : i32
    sa_sm90.barrier_arrive %c2, 64
  }
}

// -----

// Without reallocation there is no instruction for it. Two kernels share the
// symbol of shared memory.

// CHECK-COUNT-1: llvm.mlir.global
// CHECK: llvm.func @one
// CHECK-NOT: nvvm.setmaxregister
// CHECK-NOT: llvm.mlir.global
// CHECK: llvm.func @two
sa_sm90.kernel @one() threads 128 registers 168 shared 0 {
  sa_sm90.role "all" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c1 = arith.constant 1 : i32
    sa_sm90.barrier_sync %c1, 128
  }
}
sa_sm90.kernel @two() threads 128 registers 168 shared 0 {
  sa_sm90.role "all" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c1 = arith.constant 1 : i32
    sa_sm90.barrier_sync %c1, 128
  }
}

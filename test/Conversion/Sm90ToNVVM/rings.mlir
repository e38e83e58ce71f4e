// RUN: sparseattn-opt %s --sparseattn-lower-sm90 --cse | FileCheck %s
// RUN: sparseattn-opt %s --sparseattn-lower-sm90 --cse | FileCheck %s --check-prefix=LOAD
// RUN: sparseattn-opt %s --sparseattn-lower-sm90="guard=true" | FileCheck %s --check-prefix=GUARD

!tile = !sa_sm90.tile<64, 128, box 64, bf16>
!ring = !sa_sm90.ring<3, !tile, consumers 4>
!posts = !sa_sm90.mailbox<2, consumers 4>

// CHECK: llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: llvm.func @rings
sa_sm90.kernel @rings(%maps: !llvm.ptr, %n: i32) threads 256 registers 168 shared 98560 {
  %rings = sa_sm90.ring at 0 barriers 98304 copies 1 stride 0 : !ring
  %posts = sa_sm90.mailbox at 98352 barriers 98416 copies 2 stride 64 : !posts
  sa_sm90.role "load" warps 0 count 1 registers 40 single_thread {
  ^bb0(%warp: i32, %lane: i32):
    %c7 = arith.constant 7 : i32
    // A producer begins with the parity of the phase before the first: its first
    // waits for an empty slot pass.
    %at = sa_sm90.cursor producer : !sa_sm90.cursor<3>
    // Slots, full and empty barriers.
    // LOAD: nvvm.elect.sync
    // LOAD: %[[EMPTY:.*]] = arith.addi %[[FULL:.*]], %c24_i32{{[_0-9]*}} : i32
    // LOAD: llvm.inline_asm has_side_effects asm_dialect = att "{ .reg .pred p; TRY: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; @p bra DONE; bra TRY; DONE: }", "r,r,~{memory}" %[[EMPTY]], %c1_i32{{[_0-9]*}}
    // LOAD: llvm.inline_asm has_side_effects asm_dialect = att "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 16384;", "r,~{memory}" %[[FULL]]
    // LOAD: %[[BAR:.*]] = llvm.inttoptr %[[FULL]] : i32 to !llvm.ptr<3>
    // LOAD: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %[[BAR]], box[%c0_i32{{[_0-9]*}}, %c7_i32{{[_0-9]*}}, %{{.*}}, %{{.*}}] : !llvm.ptr<7>, !llvm.ptr
    // LOAD: arith.addi %{{.*}}, %c8192_i32{{[_0-9]*}} : i32
    // LOAD: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %[[BAR]], box[%c64_i32{{[_0-9]*}}, %c7_i32{{[_0-9]*}}, %{{.*}}, %{{.*}}] : !llvm.ptr<7>, !llvm.ptr
    // GUARD: "{ .reg .pred p; .reg .b32 n; mov.b32 n, 0; TRY: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; @p bra DONE; add.u32 n, n, 1; setp.gt.u32 p, n, 4000000; @p trap; bra TRY; DONE: }"
    sa_sm90.load %rings[%at] from %maps[%c7, %n, %n] : !ring, !sa_sm90.cursor<3>, !llvm.ptr
    %to = sa_sm90.cursor producer : !sa_sm90.cursor<2>
    // LOAD: "st.shared.v4.b32 [$0], {$1, $2, $3, $4};", "r,r,r,r,r,~{memory}"
    // LOAD-NEXT: "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}"
    %c1 = arith.constant 1 : i32
    %post = sa_sm90.copy %posts[%n] : !posts
    sa_sm90.post %post[%to], %n, %c7, %c7, %c7 : !posts, !sa_sm90.cursor<2>
  }
  sa_sm90.role "attend" warps 4 count 4 registers 232 {
  ^bb0(%warp: i32, %lane: i32):
    %at = sa_sm90.cursor consumer : !sa_sm90.cursor<2>
    %post = sa_sm90.copy %posts[%n] : !posts
    // CHECK: llvm.inline_asm {{.*}} "{ .reg .pred p; TRY: {{.*}} %c0_i32{{[_0-9]*}}
    // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "ld.shared.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,r,~{memory}"
    // CHECK-COUNT-4: nvvm.shfl.sync idx
    // CHECK: "{ .reg .pred p; setp.eq.u32 p, $1, 0; @p mbarrier.arrive.shared::cta.b64 _, [$0]; }", "r,r,~{memory}"
    %got:4 = sa_sm90.fetch %post[%at] : !posts, !sa_sm90.cursor<2>
    %first = sa_sm90.cursor consumer : !sa_sm90.cursor<3>
    // CHECK: llvm.inline_asm {{.*}} "{ .reg .pred p; TRY:
    %tile = sa_sm90.await %rings[%first] : !ring, !sa_sm90.cursor<3> -> !tile
    // CHECK: "{ .reg .pred p; setp.eq.u32 p, $1, 0; @p mbarrier.arrive.shared::cta.b64 _, [$0]; }"
    sa_sm90.release %rings[%first] : !ring, !sa_sm90.cursor<3>
    %c1 = arith.constant 1 : i32
    // A constant id is an immediate.
    // CHECK: "bar.sync 1, 128;", "~{memory}"
    sa_sm90.barrier_sync %c1, 128
    // CHECK: "bar.arrive $0, 256;", "r,~{memory}" %{{.*}} : (i32) -> ()
    sa_sm90.barrier_arrive %got#0, 256
  }
}

// The parity turns with each round; a step of whole rounds moves no slot.

// CHECK-LABEL: llvm.func @cursors
sa_sm90.kernel @cursors(%maps: !llvm.ptr, %n: i32) threads 128 registers 168 shared 98368 {
  %rings = sa_sm90.ring at 0 barriers 98304 copies 1 stride 0 : !ring
  sa_sm90.role "load" warps 0 count 1 registers 168 single_thread {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %at = sa_sm90.cursor producer : !sa_sm90.cursor<3>
    // CHECK: scf.for {{.*}} iter_args(%[[SLOT:.*]] = %c0_i32{{[_0-9]*}}, %[[PHASE:.*]] = %{{.*}}) -> (i32, i32)
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%p = %at) -> (!sa_sm90.cursor<3>) : i32 {
      sa_sm90.load %rings[%p] from %maps[%c0, %c0, %c0] : !ring, !sa_sm90.cursor<3>, !llvm.ptr
      // CHECK: %[[TURNED:.*]] = arith.xori %[[PHASE]], %c1_i32{{[_0-9]*}} : i32
      // CHECK: %[[NEXT:.*]] = arith.addi %[[SLOT]], %c2_i32{{[_0-9]*}} : i32
      // CHECK: %[[WRAPS:.*]] = arith.cmpi uge, %[[NEXT]], %c3_i32{{[_0-9]*}} : i32
      // CHECK: %[[AGAIN:.*]] = arith.xori %[[TURNED]], %c1_i32{{[_0-9]*}} : i32
      // CHECK: %[[BACK:.*]] = arith.subi %[[NEXT]], %c3_i32{{[_0-9]*}} : i32
      // CHECK: %[[S:.*]] = arith.select %[[WRAPS]], %[[BACK]], %[[NEXT]] : i32
      // CHECK: %[[P:.*]] = arith.select %[[WRAPS]], %[[AGAIN]], %[[TURNED]] : i32
      // CHECK: scf.yield %[[S]], %[[P]] : i32, i32
      %q = sa_sm90.advance %p by 5 : !sa_sm90.cursor<3>
      scf.yield %q : !sa_sm90.cursor<3>
    }
    // CHECK-NOT: arith.cmpi
    // CHECK: llvm.br
    %two = sa_sm90.advance %end by 6 : !sa_sm90.cursor<3>
    sa_sm90.load %rings[%two] from %maps[%c0, %c0, %c0] : !ring, !sa_sm90.cursor<3>, !llvm.ptr
  }
}

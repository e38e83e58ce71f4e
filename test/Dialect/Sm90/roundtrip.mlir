// RUN: sparseattn-opt %s --verify-roundtrip | FileCheck %s

// Every operation and type, in both forms where there are two.

// CHECK-LABEL: sa_sm90.kernel @all(
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<384 x i8>}, %{{.*}}: !llvm.ptr<1>, %{{.*}}: i32, %{{.*}}: f32)
// CHECK-SAME: threads 256 registers 168 shared 98432 attributes {tag} {
sa_sm90.kernel @all(%maps: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<384 x i8>},
    %out: !llvm.ptr<1>, %n: i32, %scale: f32)
    threads 256 registers 168 shared 98432 attributes {tag} {
  // CHECK: %[[RING:.*]] = sa_sm90.ring at 0 barriers 98304 copies 1 stride 0 : <3, <64, 128, box 64, bf16>, consumers 4>
  %rings = sa_sm90.ring at 0 barriers 98304 copies 1 stride 0 : !sa_sm90.ring<3, <64, 128, box 64, bf16>, consumers 4>
  // CHECK: sa_sm90.mailbox at 98352 barriers 98384 copies 1 stride 0 : <2, consumers 4>
  %posts = sa_sm90.mailbox at 98352 barriers 98384 copies 1 stride 0 : !sa_sm90.mailbox<2, consumers 4>
  // CHECK: sa_sm90.role "load" warps 0 count 1 registers 40 single_thread {
  // CHECK-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: i32):
  sa_sm90.role "load" warps 0 count 1 registers 40 single_thread {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    // CHECK: sa_sm90.copy %{{.*}}[%{{.*}}] : !sa_sm90.ring<3, <64, 128, box 64, bf16>, consumers 4>
    %ring = sa_sm90.copy %rings[%c0] : !sa_sm90.ring<3, <64, 128, box 64, bf16>, consumers 4>
    // CHECK: sa_sm90.cursor producer : <3>
    %at = sa_sm90.cursor producer : !sa_sm90.cursor<3>
    // CHECK: sa_sm90.load %{{.*}}[%{{.*}}] from %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : <3, <64, 128, box 64, bf16>, consumers 4>, <3>, !llvm.ptr
    sa_sm90.load %ring[%at] from %maps[%c0, %c0, %c0] : !sa_sm90.ring<3, <64, 128, box 64, bf16>, consumers 4>, !sa_sm90.cursor<3>, !llvm.ptr
    %to = sa_sm90.cursor producer : !sa_sm90.cursor<2>
    // CHECK: sa_sm90.post %{{.*}}[%{{.*}}], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : <2, consumers 4>, <2>
    sa_sm90.post %posts[%to], %n, %c0, %c0, %c0 : !sa_sm90.mailbox<2, consumers 4>, !sa_sm90.cursor<2>
  }
  // CHECK: sa_sm90.role "attend" warps 4 count 4 registers 232 {
  sa_sm90.role "attend" warps 4 count 4 registers 232 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %stride = arith.constant 128 : i64
    %from = sa_sm90.cursor consumer : !sa_sm90.cursor<2>
    // CHECK: sa_sm90.fetch %{{.*}}[%{{.*}}] : <2, consumers 4>, <2>
    %post:4 = sa_sm90.fetch %posts[%from] : !sa_sm90.mailbox<2, consumers 4>, !sa_sm90.cursor<2>
    // CHECK: sa_sm90.cursor consumer : <3>
    %at = sa_sm90.cursor consumer : !sa_sm90.cursor<3>
    // CHECK: sa_sm90.advance %{{.*}} by 2 : <3>
    %next = sa_sm90.advance %at by 2 : !sa_sm90.cursor<3>
    // CHECK: sa_sm90.await %[[RING]][%{{.*}}] : <3, <64, 128, box 64, bf16>, consumers 4>, <3> -> <64, 128, box 64, bf16>
    %tile = sa_sm90.await %rings[%next] : !sa_sm90.ring<3, <64, 128, box 64, bf16>, consumers 4>, !sa_sm90.cursor<3> -> !sa_sm90.tile<64, 128, box 64, bf16>
    // CHECK: sa_sm90.rows %{{.*}}[%{{.*}}] : <64, 128, box 64, bf16> -> <64, 128, box 64, bf16>
    %rows = sa_sm90.rows %tile[%c0] : !sa_sm90.tile<64, 128, box 64, bf16> -> !sa_sm90.tile<64, 128, box 64, bf16>
    // CHECK: sa_sm90.load_operand %{{.*}} : <64, 128, box 64, bf16> -> <128, bf16>
    %q = sa_sm90.load_operand %rows : !sa_sm90.tile<64, 128, box 64, bf16> -> !sa_sm90.operand<128, bf16>
    // CHECK: sa_sm90.barrier_sync %{{.*}}, 128
    sa_sm90.barrier_sync %c1, 128
    // CHECK: sa_sm90.scores %{{.*}}, %{{.*}}, %{{.*}} : !sa_sm90.operand<128, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>, !sa_sm90.tile<64, 128, box 64, bf16> -> <128>
    %s = sa_sm90.scores %q, %tile, %tile : !sa_sm90.operand<128, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>, !sa_sm90.tile<64, 128, box 64, bf16> -> !sa_sm90.accumulator<128>
    // CHECK: sa_sm90.wait 0, %{{.*}} : !sa_sm90.accumulator<128> -> !sa_sm90.accumulator<128>
    %t = sa_sm90.wait 0, %s : !sa_sm90.accumulator<128> -> !sa_sm90.accumulator<128>
    // CHECK: sa_sm90.release %[[RING]][%{{.*}}] : <3, <64, 128, box 64, bf16>, consumers 4>, <3>
    sa_sm90.release %rings[%next] : !sa_sm90.ring<3, <64, 128, box 64, bf16>, consumers 4>, !sa_sm90.cursor<3>
    // CHECK: sa_sm90.barrier_arrive %{{.*}}, 256
    sa_sm90.barrier_arrive %c1, 256
    // CHECK: sa_sm90.mask_columns %{{.*}}, %{{.*}}, %{{.*}} : <128>
    %m = sa_sm90.mask_columns %t, %n, %c1 : !sa_sm90.accumulator<128>
    // CHECK: sa_sm90.row_max %{{.*}} : <128>
    %low, %high = sa_sm90.row_max %m : !sa_sm90.accumulator<128>
    // CHECK: sa_sm90.exp2 %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : <128>
    %p = sa_sm90.exp2 %m, %scale, %low, %high : !sa_sm90.accumulator<128>
    // CHECK: sa_sm90.row_sum %{{.*}} : <128>
    %l, %h = sa_sm90.row_sum %p : !sa_sm90.accumulator<128>
    // CHECK: sa_sm90.to_operand %{{.*}} : <128> -> <128, bf16>
    %a = sa_sm90.to_operand %p : !sa_sm90.accumulator<128> -> !sa_sm90.operand<128, bf16>
    // CHECK: sa_sm90.scratch at 49152[%{{.*}}] : <64, 128, box 64, bf16>
    %w = sa_sm90.scratch at 49152[%c0] : !sa_sm90.tile<64, 128, box 64, bf16>
    // CHECK: sa_sm90.store_operand %{{.*}}, %{{.*}} barrier %{{.*}} : <128, bf16>, <64, 128, box 64, bf16>
    sa_sm90.store_operand %a, %w barrier %c1 : !sa_sm90.operand<128, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>
    // CHECK: sa_sm90.zero : <128>
    %zero = sa_sm90.zero : !sa_sm90.accumulator<128>
    // CHECK: sa_sm90.accumulate %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : <128>, !sa_sm90.tile<64, 128, box 64, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>
    %o = sa_sm90.accumulate %zero, %w, %tile, %tile : !sa_sm90.accumulator<128>, !sa_sm90.tile<64, 128, box 64, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>
    // CHECK: sa_sm90.accumulate %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} clear : <128>, !sa_sm90.operand<128, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>
    %o1 = sa_sm90.accumulate %o, %a, %tile, %tile clear : !sa_sm90.accumulator<128>, !sa_sm90.operand<128, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>
    // CHECK: sa_sm90.wait 1, %{{.*}}, %{{.*}} : !sa_sm90.accumulator<128>, !sa_sm90.accumulator<128> -> !sa_sm90.accumulator<128>, !sa_sm90.accumulator<128>
    %both:2 = sa_sm90.wait 1, %o, %o1 : !sa_sm90.accumulator<128>, !sa_sm90.accumulator<128> -> !sa_sm90.accumulator<128>, !sa_sm90.accumulator<128>
    // CHECK: sa_sm90.quad_sum %{{.*}}
    %sum = sa_sm90.quad_sum %l
    // CHECK: sa_sm90.scale_rows %{{.*}}, %{{.*}}, %{{.*}} : <128>
    %y = sa_sm90.scale_rows %both#1, %sum, %h : !sa_sm90.accumulator<128>
    // CHECK: sa_sm90.store_rows %{{.*}}, %{{.*}} stride %{{.*}} valid %{{.*}} as f32 : <128>, <1>
    sa_sm90.store_rows %y, %out stride %stride valid %n as f32 : !sa_sm90.accumulator<128>, !llvm.ptr<1>
    // CHECK: sa_sm90.store_row_values %{{.*}}, %{{.*}}, %{{.*}} valid %{{.*}} : <1>
    sa_sm90.store_row_values %sum, %h, %out valid %n : !llvm.ptr<1>
  }
}

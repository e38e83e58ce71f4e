// RUN: sparseattn-opt %s --sparseattn-lower-sm90 --cse | FileCheck %s

!tile = !sa_sm90.tile<64, 128, box 64, bf16>
!wide = !sa_sm90.tile<128, 128, box 128, f16>
!half = !sa_sm90.tile<64, 128, box 128, f16>

// A in registers, two b: two chains of eight k steps, each into its own half of
// the result. Outputs are written early: A's registers must not be among them.

// CHECK-LABEL: llvm.func @scores
sa_sm90.kernel @scores(%out: !llvm.ptr<1>, %n: i32, %s: i64) threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = sa_sm90.scratch at 0[%c0] : !tile
    %u = sa_sm90.scratch at 0[%c1] : !tile
    %a = sa_sm90.load_operand %t : !tile -> !sa_sm90.operand<128, bf16>
    // Address bits 4 to 17, leading dimension 16, stride 1024, 128-byte swizzle.
    // CHECK-DAG: %[[ROWS:.*]] = arith.constant 4611686293305360384 : i64
    // CHECK: arith.ori %{{.*}}, %[[ROWS]] : i64
    // CHECK: %[[S:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "{ .reg .pred no, yes; .reg .b64 a, b; setp.ne.b32 no, 0, 0; setp.eq.b32 yes, 0, 0; wgmma.fence.sync.aligned;
    // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, {{[^}]*}}, $31}, {$64, $65, $66, $67}, $96, no, 1, 1, 0;
    // CHECK-SAME: add.s64 b, $96, 2; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, {{[^}]*}}, $31}, {$68, $69, $70, $71}, b, yes, 1, 1, 0;
    // CHECK-SAME: add.s64 b, $96, 4; {{[^;]*}}, {$72, $73, $74, $75}, b, yes, 1, 1, 0;
    // CHECK-SAME: add.s64 b, $96, 6; {{[^;]*}}, {$76, $77, $78, $79}, b, yes, 1, 1, 0;
    // CHECK-SAME: add.s64 b, $96, 512; {{[^;]*}}, {$80, $81, $82, $83}, b, yes, 1, 1, 0;
    // CHECK-SAME: add.s64 b, $96, 518; {{[^;]*}}, {$92, $93, $94, $95}, b, yes, 1, 1, 0;
    // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$32, {{[^}]*}}, $63}, {$64, $65, $66, $67}, $97, no, 1, 1, 0;
    // CHECK-SAME: add.s64 b, $97, 518; {{[^;]*}} {$32, {{[^}]*}}, $63}, {$92, $93, $94, $95}, b, yes, 1, 1, 0; wgmma.commit_group.sync.aligned; }",
    // CHECK-SAME: "=&f,{{.*}},=&f,r,{{.*}},r,l,l,~{memory}"
    // CHECK-NEXT: llvm.extractvalue %[[S]][0]
    %s0 = sa_sm90.scores %a, %t, %u : !sa_sm90.operand<128, bf16>, !tile, !tile -> !sa_sm90.accumulator<128>
    // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 0;", "=f,{{.*}},=f,0,1,2,{{.*}},63,~{memory}"
    %s1 = sa_sm90.wait 0, %s0 : !sa_sm90.accumulator<128> -> !sa_sm90.accumulator<128>
    sa_sm90.store_rows %s1, %out stride %s valid %n as bf16 : !sa_sm90.accumulator<128>, !llvm.ptr<1>
  }
}

// A in shared memory: its own descriptor, and both transposition flags. The box
// of a part of a tile is as high as the tile.

// CHECK-LABEL: llvm.func @scores_of_rows
sa_sm90.kernel @scores_of_rows(%out: !llvm.ptr<1>, %n: i32, %s: i64) threads 256 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 8 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %t = sa_sm90.scratch at 0[%c0] : !wide
    %u = sa_sm90.scratch at 0[%c1] : !wide
    // CHECK: nvvm.barrier0
    // CHECK: %[[WG:.*]] = arith.shrui
    %wg = arith.shrui %warp, %c2 : i32
    // CHECK: %[[OFF:.*]] = arith.muli %[[WG]], %c8192_i32{{[_0-9]*}} : i32
    // CHECK: arith.addi %{{.*}}, %[[OFF]] : i32
    %a = sa_sm90.rows %t[%wg] : !wide -> !half
    // CHECK: "{ .reg .pred no, yes; {{[^"]*}} wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {$0, {{[^}]*}}, $63}, $64, $65, no, 1, 1, 0, 0;
    // CHECK-SAME: add.s64 a, $64, 2; add.s64 b, $65, 2; {{[^;]*}}, a, b, yes, 1, 1, 0, 0;
    // CHECK-SAME: add.s64 a, $64, 1024; add.s64 b, $65, 1024; {{[^;]*}}, a, b, yes, 1, 1, 0, 0;
    // CHECK-SAME: add.s64 a, $64, 1030; add.s64 b, $65, 1030; {{[^;]*}}, a, b, yes, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; }", "=f,{{.*}},=f,l,l,~{memory}"
    %s0 = sa_sm90.scores %a, %u : !half, !wide -> !sa_sm90.accumulator<128>
    %s1 = sa_sm90.wait 0, %s0 : !sa_sm90.accumulator<128> -> !sa_sm90.accumulator<128>
    sa_sm90.store_rows %s1, %out stride %s valid %n as f16 : !sa_sm90.accumulator<128>, !llvm.ptr<1>
  }
}

// b is read transposed: its leading dimension is the distance of its boxes, and
// a k step is 16 rows of 128 bytes. The parts of b follow one another along k.

// CHECK-LABEL: llvm.func @accumulate
sa_sm90.kernel @accumulate(%out: !llvm.ptr<1>, %n: i32, %s: i64) threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = sa_sm90.scratch at 0[%c0] : !tile
    %u = sa_sm90.scratch at 0[%c1] : !tile
    %a = sa_sm90.load_operand %t : !tile -> !sa_sm90.operand<128, bf16>
    %z = sa_sm90.zero : !sa_sm90.accumulator<128>
    // CHECK-DAG: arith.constant 4611686293338849280 : i64
    // CHECK: "{ .reg .pred no, yes; {{[^"]*}} wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {$0, {{[^}]*}}, $63}, {$128, $129, $130, $131}, $160, yes, 1, 1, 1;
    // CHECK-SAME: add.s64 b, $160, 128; {{[^;]*}}, {$132, $133, $134, $135}, b, yes, 1, 1, 1;
    // CHECK-SAME: add.s64 b, $160, 256; {{[^;]*}}, {$136, $137, $138, $139}, b, yes, 1, 1, 1;
    // CHECK-SAME: add.s64 b, $160, 384; {{[^;]*}}, {$140, $141, $142, $143}, b, yes, 1, 1, 1;
    // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {$0, {{[^}]*}}, $63}, {$144, $145, $146, $147}, $161, yes, 1, 1, 1;
    // CHECK-SAME: add.s64 b, $161, 384; {{[^;]*}}, {$156, $157, $158, $159}, b, yes, 1, 1, 1; wgmma.commit_group.sync.aligned; }",
    // CHECK-SAME: "=f,{{.*}},=f,0,1,{{.*}},62,63,r,{{.*}},r,l,l,~{memory}"
    %o = sa_sm90.accumulate %z, %a, %t, %u : !sa_sm90.accumulator<128>, !sa_sm90.operand<128, bf16>, !tile, !tile
    // Two accumulators through one wait.
    // With clear there is nothing to tie, and the first step does not add.
    // CHECK: "{ .reg .pred no, yes; {{[^"]*}} wgmma.fence.sync.aligned; {{[^;]*}}, {$64, $65, $66, $67}, $96, no, 1, 1, 1; add.s64 b, $96, 128; {{[^;]*}}, b, yes, 1, 1, 1;
    // CHECK-SAME: {$80, $81, $82, $83}, $97, yes, 1, 1, 1;
    // CHECK-SAME: "=&f,{{.*}},=&f,r,{{.*}},r,l,l,~{memory}"
    %p = sa_sm90.accumulate %o, %a, %t, %u clear : !sa_sm90.accumulator<128>, !sa_sm90.operand<128, bf16>, !tile, !tile
    // CHECK: "wgmma.wait_group.sync.aligned 1;", "=f,{{.*}},=f,0,1,{{.*}},126,127,~{memory}"
    %both:2 = sa_sm90.wait 1, %o, %p : !sa_sm90.accumulator<128>, !sa_sm90.accumulator<128> -> !sa_sm90.accumulator<128>, !sa_sm90.accumulator<128>
    // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 0;", "~{memory}"  : () -> ()
    "sa_sm90.wait"() {pending = 0 : i64} : () -> ()
    sa_sm90.store_rows %both#0, %out stride %s valid %n as bf16 : !sa_sm90.accumulator<128>, !llvm.ptr<1>
    sa_sm90.store_rows %both#1, %out stride %s valid %n as bf16 : !sa_sm90.accumulator<128>, !llvm.ptr<1>
  }
}

// A of accumulate in shared memory, and 256 columns: four boxes.

// CHECK-LABEL: llvm.func @accumulate_of_rows
sa_sm90.kernel @accumulate_of_rows(%out: !llvm.ptr<1>, %n: i32, %s: i64) threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %t = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, f16>
    %u = sa_sm90.scratch at 8192[%c0] : !sa_sm90.tile<64, 256, box 64, f16>
    %z = sa_sm90.zero : !sa_sm90.accumulator<256>
    // CHECK: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {$0, {{[^}]*}}, $127}, $256, $257, yes, 1, 1, 0, 1;
    // CHECK-SAME: add.s64 a, $256, 6; add.s64 b, $257, 384; {{[^;]*}}, a, b, yes, 1, 1, 0, 1; wgmma.commit_group.sync.aligned; }"
    %o = sa_sm90.accumulate %z, %t, %u : !sa_sm90.accumulator<256>, !sa_sm90.tile<64, 64, box 64, f16>, !sa_sm90.tile<64, 256, box 64, f16>
    %p = sa_sm90.wait 0, %o : !sa_sm90.accumulator<256> -> !sa_sm90.accumulator<256>
    sa_sm90.store_rows %p, %out stride %s valid %n as f16 : !sa_sm90.accumulator<256>, !llvm.ptr<1>
  }
}

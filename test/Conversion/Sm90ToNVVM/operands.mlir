// RUN: sparseattn-opt %s --sparseattn-lower-sm90 --cse | FileCheck %s

// Lane l of warp w reads or writes row 16 w + l % 16, 16-byte chunk
// 2 (k step) + l / 16, swizzled by the row's number in its group of 8.

!tile = !sa_sm90.tile<64, 128, box 128, bf16>

// CHECK-LABEL: llvm.func @operands
sa_sm90.kernel @operands(%n: i32) threads 256 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 4 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %whole = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<128, 128, box 128, bf16>
    // CHECK: %[[TILE:.*]] = arith.addi
    %tile = sa_sm90.rows %whole[%n] : !sa_sm90.tile<128, 128, box 128, bf16> -> !tile
    // CHECK: %[[WARP:.*]] = arith.andi %{{.*}}, %c3_i32{{[_0-9]*}} : i32
    // CHECK: %[[ROWINWARP:.*]] = arith.andi %[[LANE:.*]], %c15_i32{{[_0-9]*}} : i32
    // CHECK: %[[FIRST:.*]] = arith.muli %[[WARP]], %c16_i32{{[_0-9]*}} : i32
    // CHECK: %[[ROW:.*]] = arith.addi %[[ROWINWARP]], %[[FIRST]] : i32
    // CHECK: %[[HALF:.*]] = arith.shrui %[[LANE]], %c4_i32{{[_0-9]*}} : i32
    // CHECK: %[[SWIZZLE:.*]] = arith.andi %[[LANE]], %c7_i32{{[_0-9]*}} : i32
    // CHECK: %[[ROWBYTES:.*]] = arith.muli %[[ROW]], %c128_i32{{[_0-9]*}} : i32
    // CHECK: %[[START:.*]] = arith.addi %[[TILE]], %[[ROWBYTES]] : i32
    // CHECK: %[[CHUNK0:.*]] = arith.xori %[[HALF]], %[[SWIZZLE]] : i32
    // CHECK: %[[BYTES0:.*]] = arith.muli %[[CHUNK0]], %c16_i32{{[_0-9]*}} : i32
    // CHECK: %[[AT0:.*]] = arith.addi %[[START]], %[[BYTES0]] : i32
    // CHECK: %[[NEXT:.*]] = arith.addi %[[HALF]], %c2_i32{{[_0-9]*}} : i32
    // CHECK: arith.xori %[[NEXT]], %[[SWIZZLE]] : i32
    // CHECK: "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,r,~{memory}" %[[AT0]]
    // CHECK-COUNT-3: {$0, $1, $2, $3}, [$4];"
    // The second box of 64 columns is 128 rows of 128 bytes further on.
    // CHECK: "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4+16384];", "=r,=r,=r,=r,r,~{memory}" %[[AT0]]
    // CHECK-COUNT-3: {$0, $1, $2, $3}, [$4+16384];"
    // CHECK-NOT: ldmatrix
    %a = sa_sm90.load_operand %tile : !tile -> !sa_sm90.operand<128, bf16>
    // CHECK: %[[PLACE:.*]] = arith.muli %{{.*}}, %c16384_i32{{[_0-9]*}} : i32
    // CHECK: %[[TO:.*]] = arith.addi %{{.*}}, %[[PLACE]] : i32
    %out = sa_sm90.scratch at 32768[%n] : !sa_sm90.tile<64, 128, box 64, bf16>
    // CHECK: arith.addi %[[TO]], %[[ROWBYTES]] : i32
    // CHECK: "stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0], {$1, $2, $3, $4};", "r,r,r,r,r,~{memory}"
    // CHECK-COUNT-3: stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0],
    // CHECK-COUNT-4: stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0+8192],
    // CHECK: "fence.proxy.async.shared::cta;", "~{memory}"
    // CHECK-NEXT: "bar.sync $0, 128;", "r,~{memory}"
    sa_sm90.store_operand %a, %out barrier %n : !sa_sm90.operand<128, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>
    %c3 = arith.constant 3 : i32
    // CHECK: "bar.sync 3, 128;", "~{memory}"
    sa_sm90.store_operand %a, %out barrier %c3 : !sa_sm90.operand<128, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>
  }
}

// Values of the dialect through control flow and selection.

// CHECK-LABEL: llvm.func @control
sa_sm90.kernel @control(%n: i32, %out: !llvm.ptr<1>, %s: i64) threads 128 registers 168 shared 65536 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %first = arith.cmpi eq, %n, %c0 : i32
    %t = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, f16>
    %u = sa_sm90.scratch at 0[%c1] : !sa_sm90.tile<64, 64, box 64, f16>
    // CHECK: %[[AT:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
    %v = arith.select %first, %t, %u : !sa_sm90.tile<64, 64, box 64, f16>
    %a = sa_sm90.load_operand %v : !sa_sm90.tile<64, 64, box 64, f16> -> !sa_sm90.operand<64, f16>
    %z = sa_sm90.zero : !sa_sm90.accumulator<64>
    // CHECK: scf.while
    // CHECK-COUNT-16: i32,
    // CHECK-NOT: unrealized_conversion_cast
    // CHECK-NOT: sa_sm90
    %w:3 = scf.while (%i = %n, %x = %z, %b = %a) : (i32, !sa_sm90.accumulator<64>, !sa_sm90.operand<64, f16>) -> (i32, !sa_sm90.accumulator<64>, !sa_sm90.operand<64, f16>) {
      %more = arith.cmpi sgt, %i, %c0 : i32
      scf.condition(%more) %i, %x, %b : i32, !sa_sm90.accumulator<64>, !sa_sm90.operand<64, f16>
    } do {
    ^bb0(%i: i32, %x: !sa_sm90.accumulator<64>, %b: !sa_sm90.operand<64, f16>):
      %o = sa_sm90.accumulate %x, %b, %v : !sa_sm90.accumulator<64>, !sa_sm90.operand<64, f16>, !sa_sm90.tile<64, 64, box 64, f16>
      %p = sa_sm90.wait 0, %o : !sa_sm90.accumulator<64> -> !sa_sm90.accumulator<64>
      %q, %r = scf.if %first -> (!sa_sm90.accumulator<64>, !sa_sm90.operand<64, f16>) {
        %c = sa_sm90.to_operand %p : !sa_sm90.accumulator<64> -> !sa_sm90.operand<64, f16>
        scf.yield %p, %c : !sa_sm90.accumulator<64>, !sa_sm90.operand<64, f16>
      } else {
        scf.yield %p, %b : !sa_sm90.accumulator<64>, !sa_sm90.operand<64, f16>
      }
      %j = arith.subi %i, %c1 : i32
      scf.yield %j, %q, %r : i32, !sa_sm90.accumulator<64>, !sa_sm90.operand<64, f16>
    }
    sa_sm90.store_rows %w#1, %out stride %s valid %n as f16 : !sa_sm90.accumulator<64>, !llvm.ptr<1>
  }
}

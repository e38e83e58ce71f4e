// RUN: sparseattn-opt %s --sparseattn-lower-sm90 --cse | FileCheck %s

// 32 columns: one group of four words a row half. Bit 0 of the lane exchanges
// words 0 with 1 and 2 with 3, bit 1 words 0 with 2 and 1 with 3; then each lane
// has the four words of its 8 columns.

// CHECK-LABEL: llvm.func @narrow
// CHECK-SAME: %[[OUT:.*]]: !llvm.ptr<1>, %[[N:.*]]: i32, %[[S:.*]]: i64)
sa_sm90.kernel @narrow(%out: !llvm.ptr<1>, %n: i32, %s: i64) threads 128 registers 168 shared 0 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %x = sa_sm90.zero : !sa_sm90.accumulator<32>
    // CHECK: arith.andi %{{.*}}, %c3_i32{{[_0-9]*}} : i32
    // CHECK: %[[QUAD:.*]] = arith.andi %[[LANE:.*]], %c3_i32{{[_0-9]*}} : i32
    // CHECK: %[[BIT0:.*]] = arith.andi %[[QUAD]], %c1_i32{{[_0-9]*}} : i32
    // CHECK: %[[ODD:.*]] = arith.cmpi ne, %[[BIT0]], %{{.*}} : i32
    // CHECK: %[[BIT1:.*]] = arith.andi %[[QUAD]], %c2_i32{{[_0-9]*}} : i32
    // CHECK: %[[HIGH:.*]] = arith.cmpi ne, %[[BIT1]], %{{.*}} : i32
    // CHECK: %[[BYTE:.*]] = arith.muli %[[QUAD]], %c16_i32{{[_0-9]*}} : i32
    // CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c16_i32{{[_0-9]*}} : i32
    // CHECK: %[[OF:.*]] = arith.shrui %[[LANE]], %c2_i32{{[_0-9]*}} : i32
    // CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[OF]] : i32
    // CHECK: %[[ROW64:.*]] = arith.extui %[[ROW]] : i32 to i64
    // CHECK: %[[ELEMENTS:.*]] = arith.muli %[[ROW64]], %[[S]] : i64
    // CHECK: %[[BYTES:.*]] = arith.muli %[[ELEMENTS]], %c2_i64{{[_0-9]*}} : i64
    // CHECK: %[[BYTE64:.*]] = arith.extui %[[BYTE]] : i32 to i64
    // CHECK: %[[AT:.*]] = arith.addi %[[BYTES]], %[[BYTE64]] : i64
    // CHECK: %[[P:.*]] = llvm.getelementptr %[[OUT]][%[[AT]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    // CHECK: llvm.fptrunc
    // CHECK: %[[SENT:.*]] = arith.select %[[ODD]], %[[W0:.*]], %[[W1:.*]] : i32
    // CHECK: %[[GOT:.*]] = nvvm.shfl.sync bfly %c-1_i32{{[_0-9]*}}, %[[SENT]], %c1_i32{{[_0-9]*}}, %c31_i32{{[_0-9]*}} : i32 -> i32
    // CHECK: arith.select %[[ODD]], %[[GOT]], %[[W0]] : i32
    // CHECK: arith.select %[[ODD]], %[[W1]], %[[GOT]] : i32
    // CHECK: nvvm.shfl.sync bfly %c-1_i32{{[_0-9]*}}, %{{.*}}, %c1_i32{{[_0-9]*}}, %c31_i32{{[_0-9]*}}
    // CHECK: arith.select %[[HIGH]]
    // CHECK: nvvm.shfl.sync bfly %c-1_i32{{[_0-9]*}}, %{{.*}}, %c2_i32{{[_0-9]*}}, %c31_i32{{[_0-9]*}}
    // CHECK: nvvm.shfl.sync bfly %c-1_i32{{[_0-9]*}}, %{{.*}}, %c2_i32{{[_0-9]*}}, %c31_i32{{[_0-9]*}}
    // CHECK: "{ .reg .pred p; setp.lt.s32 p, $0, $1; @p st.global.v4.b32 [$2+0], {$3, $4, $5, $6}; }", "r,r,l,r,r,r,r,~{memory}" %[[ROW]], %[[N]], %[[P]]
    // CHECK: %[[ROW8:.*]] = arith.addi %[[ROW]], %c8_i32{{[_0-9]*}} : i32
    // CHECK: @p st.global.v4.b32 [$2+0], {$3, $4, $5, $6}; }", "r,r,l,r,r,r,r,~{memory}" %[[ROW8]], %[[N]]
    // CHECK-NOT: st.global
    sa_sm90.store_rows %x, %out stride %s valid %n as bf16 : !sa_sm90.accumulator<32>, !llvm.ptr<1>
  }
}

// f32: neighbours exchange pairs, so that the even lane has columns 0 to 3 (or 4
// to 7) of the first 8 and the odd lane those of the second: bytes 16 (q / 2) +
// 32 (q % 2).

// CHECK-LABEL: llvm.func @wide
sa_sm90.kernel @wide(%out: !llvm.ptr<1>, %n: i32, %s: i64) threads 128 registers 168 shared 0 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %x = sa_sm90.zero : !sa_sm90.accumulator<32>
    // CHECK: arith.andi %{{.*}}, %c3_i32{{[_0-9]*}} : i32
    // CHECK: %[[QUAD:.*]] = arith.andi %{{.*}}, %c3_i32{{[_0-9]*}} : i32
    // CHECK: %[[BIT0:.*]] = arith.andi %[[QUAD]], %c1_i32{{[_0-9]*}} : i32
    // CHECK: %[[BIT1:.*]] = arith.andi %[[QUAD]], %c2_i32{{[_0-9]*}} : i32
    // CHECK: %[[A:.*]] = arith.muli %[[BIT1]], %c8_i32{{[_0-9]*}} : i32
    // CHECK: %[[B:.*]] = arith.muli %[[BIT0]], %c32_i32{{[_0-9]*}} : i32
    // CHECK: arith.addi %[[A]], %[[B]] : i32
    // CHECK: arith.muli %{{.*}}, %c4_i64{{[_0-9]*}} : i64
    // CHECK: @p st.global.v4.b32 [$2+0],
    // CHECK: @p st.global.v4.b32 [$2+64],
    // CHECK: @p st.global.v4.b32 [$2+0],
    // CHECK: @p st.global.v4.b32 [$2+64],
    // CHECK-NOT: st.global
    sa_sm90.store_rows %x, %out stride %s valid %n as f32 : !sa_sm90.accumulator<32>, !llvm.ptr<1>
  }
}

// CHECK-LABEL: llvm.func @values
sa_sm90.kernel @values(%out: !llvm.ptr<1>, %n: i32, %f: f32) threads 128 registers 168 shared 0 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    // CHECK: "{ .reg .pred p; setp.lt.s32 p, $0, $1; setp.eq.and.s32 p, $2, 0, p; @p st.global.f32 [$3+0], $4; }", "r,r,r,l,f,~{memory}"
    // CHECK: @p st.global.f32 [$3+32], $4; }"
    sa_sm90.store_row_values %f, %f, %out valid %n : !llvm.ptr<1>
  }
}

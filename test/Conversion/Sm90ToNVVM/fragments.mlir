// RUN: sparseattn-opt %s --sparseattn-lower-sm90 | FileCheck %s

// A fragment of 16 columns: registers 0, 1, 4, 5 belong to the thread's first
// row, 2, 3, 6, 7 to its second.

!acc = !sa_sm90.accumulator<16>

// CHECK-LABEL: llvm.func @reductions
sa_sm90.kernel @reductions(%p: !llvm.ptr<1>, %n: i32, %f: f32) threads 128 registers 168 shared 16384 {
  sa_sm90.role "attend" warps 0 count 4 registers 168 {
  ^bb0(%warp: i32, %lane: i32):
    %c0 = arith.constant 0 : i32
    %t = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<16, 64, box 16, bf16>
    %u = sa_sm90.scratch at 2048[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
    %s = sa_sm90.scores %u, %t : !sa_sm90.tile<64, 64, box 64, bf16>, !sa_sm90.tile<16, 64, box 16, bf16> -> !acc
    // CHECK: %[[X:.*]] = llvm.inline_asm {{.*}} "wgmma.wait_group
    // CHECK: %[[X0:.*]] = llvm.extractvalue %[[X]][0]
    // CHECK: %[[X1:.*]] = llvm.extractvalue %[[X]][1]
    // CHECK: %[[X2:.*]] = llvm.extractvalue %[[X]][2]
    // CHECK: %[[X3:.*]] = llvm.extractvalue %[[X]][3]
    // CHECK: %[[X4:.*]] = llvm.extractvalue %[[X]][4]
    // CHECK: %[[X5:.*]] = llvm.extractvalue %[[X]][5]
    // CHECK: %[[X6:.*]] = llvm.extractvalue %[[X]][6]
    // CHECK: %[[X7:.*]] = llvm.extractvalue %[[X]][7]
    %x = sa_sm90.wait 0, %s : !acc -> !acc

    // CHECK: %[[A:.*]] = arith.maxnumf %[[X0]], %[[X1]] : f32
    // CHECK: %[[B:.*]] = arith.maxnumf %[[X4]], %[[X5]] : f32
    // CHECK: %[[C:.*]] = arith.maxnumf %[[A]], %[[B]] : f32
    // CHECK: %[[D:.*]] = nvvm.shfl.sync bfly %c-1_i32{{[_0-9]*}}, %[[C]], %c1_i32{{[_0-9]*}}, %c31_i32{{[_0-9]*}} : f32 -> f32
    // CHECK: %[[E:.*]] = arith.maxnumf %[[C]], %[[D]] : f32
    // CHECK: %[[F:.*]] = nvvm.shfl.sync bfly %c-1_i32{{[_0-9]*}}, %[[E]], %c2_i32{{[_0-9]*}}, %c31_i32{{[_0-9]*}} : f32 -> f32
    // CHECK: %[[LOW:.*]] = arith.maxnumf %[[E]], %[[F]] : f32
    // CHECK: arith.maxnumf %[[X2]], %[[X3]] : f32
    // CHECK: arith.maxnumf %[[X6]], %[[X7]] : f32
    // CHECK: nvvm.shfl.sync bfly
    // CHECK: nvvm.shfl.sync bfly
    // CHECK: %[[HIGH:.*]] = arith.maxnumf
    %m:2 = sa_sm90.row_max %x : !acc
    // CHECK: %[[G:.*]] = arith.addf %[[X0]], %[[X1]] : f32
    // CHECK: %[[H:.*]] = arith.addf %[[X4]], %[[X5]] : f32
    // CHECK: %[[I:.*]] = arith.addf %[[G]], %[[H]] : f32
    // CHECK-NOT: nvvm.shfl
    %l:2 = sa_sm90.row_sum %x : !acc
    // CHECK: nvvm.shfl.sync bfly %c-1_i32{{[_0-9]*}}, %[[I]], %c1_i32{{[_0-9]*}}, %c31_i32{{[_0-9]*}}
    // CHECK: arith.addf
    // CHECK: nvvm.shfl.sync bfly %c-1_i32{{[_0-9]*}}, %{{.*}}, %c2_i32{{[_0-9]*}}, %c31_i32{{[_0-9]*}}
    // CHECK: arith.addf
    %q = sa_sm90.quad_sum %l#0

    // CHECK: %[[NLOW:.*]] = arith.negf %[[LOW]] : f32
    // CHECK: %[[NHIGH:.*]] = arith.negf %[[HIGH]] : f32
    // CHECK: %[[T:.*]] = llvm.intr.fma(%[[X0]], %{{.*}}, %[[NLOW]]) : (f32, f32, f32) -> f32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%[[T]]) : (f32) -> f32
    // CHECK: llvm.intr.fma(%[[X1]], %{{.*}}, %[[NLOW]])
    // CHECK: llvm.intr.fma(%[[X2]], %{{.*}}, %[[NHIGH]])
    // CHECK: llvm.intr.fma(%[[X3]], %{{.*}}, %[[NHIGH]])
    // CHECK: llvm.intr.fma(%[[X4]], %{{.*}}, %[[NLOW]])
    %e = sa_sm90.exp2 %x, %f, %m#0, %m#1 : !acc
    // CHECK: arith.mulf %[[X0]], %[[LOW]] : f32
    // CHECK: arith.mulf %[[X1]], %[[LOW]] : f32
    // CHECK: arith.mulf %[[X2]], %[[HIGH]] : f32
    %y = sa_sm90.scale_rows %x, %m#0, %m#1 : !acc

    // Columns 0, 1 and 8, 9 past the lane's own first one; two parts of 8, so
    // both compare 0 and 1, each with its limit.
    // CHECK: arith.andi %{{.*}}, %c3_i32{{[_0-9]*}} : i32
    // CHECK: %[[QUAD:.*]] = arith.andi %{{.*}}, %c3_i32{{[_0-9]*}} : i32
    // CHECK: %[[OWN:.*]] = arith.muli %[[QUAD]], %c2_i32{{[_0-9]*}} : i32
    // CHECK: %[[L0:.*]] = arith.subi %[[N:.*]], %[[OWN]] : i32
    // CHECK: %[[L1:.*]] = arith.subi %c0_i32{{[_0-9]*}}, %[[OWN]] : i32
    // CHECK: %[[INF:.*]] = arith.constant 0xFF800000 : f32
    // CHECK: %[[IN0:.*]] = arith.cmpi sgt, %[[L0]], %c0_i32{{[_0-9]*}} : i32
    // CHECK: arith.select %[[IN0]], %[[X0]], %[[INF]] : f32
    // CHECK: %[[IN1:.*]] = arith.cmpi sgt, %[[L0]], %c1_i32{{[_0-9]*}} : i32
    // CHECK: arith.select %[[IN1]], %[[X1]], %[[INF]] : f32
    // CHECK: arith.select %[[IN0]], %[[X2]], %[[INF]] : f32
    // CHECK: arith.select %[[IN1]], %[[X3]], %[[INF]] : f32
    // CHECK: %[[IN4:.*]] = arith.cmpi sgt, %[[L1]], %c0_i32{{[_0-9]*}} : i32
    // CHECK: arith.select %[[IN4]], %[[X4]], %[[INF]] : f32
    %k = sa_sm90.mask_columns %x, %n, %c0 : !acc

    // CHECK: %[[V:.*]] = llvm.insertelement %[[X0]], %{{.*}}[%c0_i32{{[_0-9]*}} : i32] : vector<2xf32>
    // CHECK: %[[W:.*]] = llvm.insertelement %[[X1]], %[[V]][%c1_i32{{[_0-9]*}} : i32] : vector<2xf32>
    // CHECK: %[[R:.*]] = llvm.fptrunc %[[W]] : vector<2xf32> to vector<2xbf16>
    // CHECK: llvm.bitcast %[[R]] : vector<2xbf16> to i32
    // CHECK-COUNT-3: llvm.fptrunc
    %a = sa_sm90.to_operand %x : !acc -> !sa_sm90.operand<16, bf16>
    // CHECK: vector<2xf32> to vector<2xf16>
    %b = sa_sm90.to_operand %x : !acc -> !sa_sm90.operand<16, f16>
  }
}

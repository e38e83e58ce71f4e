// RUN: sparseattn-opt %s --sparseattn-gpu-kernel-pipeline | FileCheck %s
// RUN: sparseattn-opt %s --sparseattn-gpu-kernel-pipeline | sparseattn-opt --sparseattn-gpu-kernel-pipeline | FileCheck %s

// A kernel keeps its attributes; what its body is written in becomes the LLVM
// and NVVM dialects.

// CHECK-LABEL: llvm.func @sum(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr<1>, %[[N:.*]]: i32, %[[FACTOR:.*]]: f32
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.maxntid = array<i32: 128>
// CHECK-NOT: {{scf|arith|math|index|vector|cf|unrealized}}.
// CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: llvm.cond_br
// CHECK: llvm.intr.exp2
// CHECK: llvm.br
// CHECK: llvm.call @half
// CHECK: llvm.return
// CHECK-LABEL: llvm.func @half
// CHECK: llvm.fmul
llvm.func @sum(%x: !llvm.ptr<1>, %n: i32, %factor: f32)
    attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128>} {
  %thread = nvvm.read.ptx.sreg.tid.x : i32
  %step = arith.constant 128 : i32
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %thread to %n step %step iter_args(%s = %zero) -> f32 : i32 {
    %place = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %value = llvm.load %place : !llvm.ptr<1> -> f32
    %power = math.exp2 %value fastmath<afn> : f32
    %pair = vector.broadcast %power : f32 to vector<2xf32>
    %first = vector.extract %pair[0] : f32 from vector<2xf32>
    %next = arith.addf %s, %first : f32
    scf.yield %next : f32
  }
  %idx = index.castu %thread : i32 to index
  %offset = index.castu %idx : index to i64
  %half = func.call @half(%sum) : (f32) -> f32
  %to = llvm.getelementptr %x[%offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  llvm.store %half, %to : f32, !llvm.ptr<1>
  llvm.return
}

func.func private @half(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %y = arith.mulf %x, %half : f32
  return %y : f32
}

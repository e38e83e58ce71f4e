// A small kernel with what attention kernels are made of, end to end: TMA loads
// on barriers, register reallocation, two roles, wgmma, waits that carry values.
//
// RUN: sparseattn-translate --kernel-to-ptx %s -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: grep -cE "wgmma.mma_async|cp.async.bulk.tensor|setmaxnreg|wgmma.wait_group" %t.ptx | FileCheck %s --check-prefix=COUNT
// RUN: sparseattn-translate --kernel-to-ptx --ptxas none %s | FileCheck %s --check-prefix=OLDEST
// RUN: sparseattn-translate --kernel-to-cubin --ptxas %ptxas_oldest %s -o %t.oldest
// RUN: llvm-readelf -h %t.oldest | FileCheck %s --check-prefix=CUBIN
// RUN: sparseattn-translate --kernel-to-cubin --ptxas %ptxas_newest %s -o %t.newest
// RUN: llvm-readelf -h %t.newest | FileCheck %s --check-prefix=CUBIN
// RUN: not cmp %t.oldest %t.newest

// LLVM may order the roles as it likes, and may not double asm.
// CHECK: .version {{[89]}}.
// CHECK: .target sm_90a
// CHECK: .visible .entry product(
// CHECK: .param .align 64 .b8 product_param_0[128]
// CHECK: .maxntid 256
// CHECK: .minnctapersm 1
// CHECK-DAG: setmaxnreg.dec.sync.aligned.u32 {{.*}}40;
// CHECK-DAG: cp.async.bulk.tensor.2d
// CHECK-DAG: setmaxnreg.inc.sync.aligned.u32 {{.*}}232;
// CHECK-DAG: mbarrier.try_wait.parity
// CHECK-DAG: wgmma.mma_async
// CHECK-DAG: wgmma.wait_group
// COUNT: {{^}}5{{$}}
// OLDEST: .version 8.0
// CUBIN: Machine: NVIDIA CUDA architecture

llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

llvm.func @product(
    %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
    %out: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 1 : i32} {
  %smem = llvm.mlir.addressof @smem : !llvm.ptr<3>
  %barrier = llvm.getelementptr %smem[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  %address = llvm.ptrtoint %smem : !llvm.ptr<3> to i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %bytes = arith.constant 8192 : i32
  %full = arith.constant 0xffffffff : i32
  %lanes = arith.constant 31 : i32
  %thread = nvvm.read.ptx.sreg.tid.x : i32
  %first = arith.cmpi eq, %thread, %zero : i32
  scf.if %first {
    nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
  }
  nvvm.barrier0
  %seven = arith.constant 7 : i32
  %group = arith.shrui %thread, %seven : i32
  %role = nvvm.shfl.sync idx %full, %group, %zero, %lanes : i32 -> i32
  %producer = arith.cmpi eq, %role, %zero : i32
  scf.if %producer {
    nvvm.setmaxregister decrease 40
    scf.if %first {
      %destination = llvm.inttoptr %address : i32 to !llvm.ptr<7>
      nvvm.mbarrier.arrive.expect_tx %barrier, %bytes : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.tensor.shared.cluster.global %destination, %map, %barrier, box[%zero, %zero] : !llvm.ptr<7>, !llvm.ptr
    }
  } else {
    nvvm.setmaxregister increase 232
    scf.while : () -> () {
      %done = nvvm.mbarrier.try_wait %barrier, %zero : !llvm.ptr<3>, i32 -> i1
      %true = arith.constant true
      %again = arith.xori %done, %true : i1
      scf.condition(%again)
    } do {
      scf.yield
    }
    %four = arith.constant 4 : i32
    %field = arith.shrui %address, %four : i32
    %wide = arith.extui %field : i32 to i64
    %constant = arith.constant 0x4000004000010000 : i64
    %descriptor = arith.ori %wide, %constant : i64
    %acc = llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, $4, $4, 0, 1, 1, 0, 0; wgmma.commit_group.sync.aligned;", "=f,=f,=f,=f,l,~{memory}" %descriptor : (i64) -> !llvm.struct<(f32, f32, f32, f32)>
    %a0 = llvm.extractvalue %acc[0] : !llvm.struct<(f32, f32, f32, f32)>
    %a1 = llvm.extractvalue %acc[1] : !llvm.struct<(f32, f32, f32, f32)>
    %a2 = llvm.extractvalue %acc[2] : !llvm.struct<(f32, f32, f32, f32)>
    %a3 = llvm.extractvalue %acc[3] : !llvm.struct<(f32, f32, f32, f32)>
    %ready = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,~{memory}" %a0, %a1, %a2, %a3 : (f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %value = llvm.extractvalue %ready[3] : !llvm.struct<(f32, f32, f32, f32)>
    %place = llvm.getelementptr %out[%thread] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %value, %place : f32, !llvm.ptr<1>
  }
  llvm.return
}

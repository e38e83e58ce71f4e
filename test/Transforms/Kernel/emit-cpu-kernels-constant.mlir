// RUN: sparseattn-opt %s --compile-to=comm -o %t.mlir
// RUN: sparseattn-opt %t.mlir --sparseattn-emit-cpu-kernels="cpu=x86-64-v3" | FileCheck %s

// A program with its mask in it neither pools nor routes, and a kernel does not
// depend on what the mask selects. One rank writes the output type.

// CHECK: sa_comm.program @layer
// CHECK: module @kernels {
// CHECK-NEXT: func.func @attend_f16_f16_d64_q64_k32(
// CHECK-NOT: func.func
!q = tensor<2x128x64xf16>
!lse = tensor<2x128xf32>
!mask = !sparseattn.mask<2x2x4, block = 64x32, tokens = 128x128>
func.func @layer(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %m = sparseattn.policy_mask #sparseattn.dense -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : !q, !q, !q, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}

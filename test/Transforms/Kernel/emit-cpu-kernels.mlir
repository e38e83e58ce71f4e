// RUN: sparseattn-opt %s --compile-to=comm --compile-to-options="ulysses=2 ring=2" -o %t.mlir
// RUN: sparseattn-opt %t.mlir --sparseattn-emit-cpu-kernels="cpu=x86-64-v3" | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: sparseattn-opt %t.mlir --sparseattn-emit-cpu-kernels="cpu=x86-64-v4" | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: sparseattn-opt %t.mlir --sparseattn-emit-cpu-kernels="cpu=x86-64" | FileCheck %s --check-prefixes=CHECK,SSE
// RUN: sparseattn-opt %t.mlir --sparseattn-emit-cpu-kernels="cpu=x86-64 features=+avx2,+fma,+f16c" | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: sparseattn-opt %s --sparseattn-emit-cpu-kernels="cpu=x86-64-v3" | FileCheck %s --check-prefix=NONE

// One kernel per kind and type, however many instructions call it: attend over
// own keys, of moved heads and over received keys are the same one, pooling of
// q and k too.

// CHECK: sa_comm.template @layer
// CHECK: module @kernels {
// CHECK-NEXT: func.func @pool_bf16_d64_b32(
// CHECK-SAME: llvm.emit_c_interface
// CHECK: func.func @route_d64(
// CHECK-SAME: llvm.emit_c_interface
// CHECK: func.func @attend_bf16_f32_d64_q32_k32_causal(
// CHECK-SAME: llvm.emit_c_interface
// CHECK-NOT: func.func
// AVX2: vector<8xf32>
// AVX2-NOT: vector<16xf32>
// AVX512: vector<16xf32>
// SSE: vector<4xf32>
// SSE-NOT: vector<8xf32>

// Nothing to do: no schedule, no kernels.
// NONE: func.func @layer
// NONE: module @kernels {
// NONE-NEXT: }
!q = tensor<4x256x64xbf16>
!p = tensor<4x8x64xf32>
!lse = tensor<4x256xf32>
!mask = !sparseattn.mask<4x8x8, block = 32x32, tokens = 256x256, causal>
func.func @layer(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {
  %pq = sparseattn.pool %q block 32 : !q -> !p
  %pk = sparseattn.pool %k block 32 : !q -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_k<k = 2> scale 0.125
    : !p, !p -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : !q, !q, !q, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}

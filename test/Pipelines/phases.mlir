// RUN: sparseattn-opt %s --compile-to=mask | FileCheck %s --check-prefix=MASK
// RUN: sparseattn-opt %s --compile-to=plan --compile-to-options="ulysses=2 ring=2" | FileCheck %s --check-prefix=PLAN
// RUN: sparseattn-opt %s --compile-to=comm --compile-to-options="ulysses=2 ring=2" | FileCheck %s --check-prefix=COMM
// RUN: sparseattn-opt %s --compile-to=kernel --compile-to-options="ulysses=2 ring=2" | FileCheck %s --check-prefix=KERNEL
// RUN: sparseattn-opt %s --compile-to=jit --compile-to-options="ulysses=2 ring=2" | FileCheck %s --check-prefix=JIT

// The same in steps: phases may be run one by one, over text.
// RUN: sparseattn-opt %s --sparseattn-mask-pipeline | sparseattn-opt --sparseattn-plan-pipeline="ulysses=2 ring=2" | sparseattn-opt --sparseattn-comm-pipeline > %t.steps
// RUN: sparseattn-opt %s --compile-to=comm --compile-to-options="ulysses=2 ring=2" > %t.once
// RUN: diff %t.steps %t.once

// Two layers with one mask each: one known at run time, one now.

// MASK-LABEL: func.func @routed
// MASK-SAME: sparseattn.boundary_order = #order
// MASK-NOT: sparseattn.permute
// MASK: sparseattn.route
// MASK: sparseattn.attend
// MASK-NOT: sparseattn.place
// MASK-LABEL: func.func @constant
// MASK-NOT: sparseattn.policy_mask
// MASK: sparseattn.explicit_mask
// MASK: sparseattn.attend

// PLAN-LABEL: func.func @routed
// PLAN: sparseattn.place
// PLAN: sparseattn.route
// PLAN: sparseattn.balance %{{.*}} using swap : !mask{{[0-9]*$}}
// PLAN: sparseattn.demand
// PLAN: sparseattn.attend
// PLAN-LABEL: func.func @constant
// PLAN: sparseattn.balance %{{.*}} using swap plan #plan
// PLAN: sparseattn.attend

// COMM-NOT: sparseattn.
// COMM: sa_comm.template @routed mesh <ulysses = 2, ring = 2>
// COMM: sa_comm.spmd
// COMM: sa_comm.program @constant mesh <ulysses = 2, ring = 2>
// COMM-COUNT-4: sa_comm.rank
// COMM-NOT: module @kernels

// KERNEL: sa_comm.template @routed
// KERNEL: sa_comm.program @constant
// KERNEL: module @kernels {
// KERNEL-DAG: func.func @pool_f32_d64_b64(
// KERNEL-DAG: func.func @route_d64(
// KERNEL-DAG: func.func @attend_f32_f32_d64_q64_k64(
// KERNEL-DAG: vector.fma

// JIT: sa_comm.template @routed
// JIT: sa_comm.program @constant
// JIT: module @kernels {
// JIT-NOT: func.func
// JIT-NOT: {{[ "](scf|memref|vector|arith)\.}}
// JIT-DAG: llvm.func @attend_f32_f32_d64_q64_k64(
// JIT-DAG: llvm.func @_mlir_ciface_attend_f32_f32_d64_q64_k64(
!t = tensor<4x256x64xf32>
!p = tensor<4x4x64xf32>
!lse = tensor<4x256xf32>
!mask = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256, order = #sparseattn.order<hilbert, grid = [4, 8, 8]>>
!window = !sparseattn.mask<4x4x4, block = 64x64, tokens = 256x256, causal>
func.func @routed(%q: !t, %k: !t, %v: !t) -> (!t, !lse) {
  %qo = sparseattn.permute %q by <hilbert, grid = [4, 8, 8]> : !t
  %ko = sparseattn.permute %k by <hilbert, grid = [4, 8, 8]> : !t
  %vo = sparseattn.permute %v by <hilbert, grid = [4, 8, 8]> : !t
  %pq = sparseattn.pool %qo block 64 : !t -> !p
  %pk = sparseattn.pool %ko block 64 : !t -> !p
  %m = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9> scale 0.125
    : !p, !p -> !mask
  %o, %lse = sparseattn.attend %qo, %ko, %vo, %m scale 0.125
    : !t, !t, !t, !mask -> !t, !lse
  %os = sparseattn.permute %o by <hilbert, grid = [4, 8, 8]> inverse : !t
  %ls = sparseattn.permute %lse by <hilbert, grid = [4, 8, 8]> inverse : !lse
  return %os, %ls : !t, !lse
}
func.func @constant(%q: !t, %k: !t, %v: !t) -> (!t, !lse) {
  %m = sparseattn.policy_mask #sparseattn.dense -> !window
  %o, %lse = sparseattn.attend %q, %k, %v, %m scale 0.125
    : !t, !t, !t, !window -> !t, !lse
  return %o, %lse : !t, !lse
}

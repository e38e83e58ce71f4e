// RUN: sparseattn-opt %s --pass-pipeline="builtin.module(sparseattn-mask-pipeline)" --dump-pass-pipeline 2>&1 >/dev/null | FileCheck %s --check-prefix=MASK
// RUN: sparseattn-opt %s --pass-pipeline="builtin.module(sparseattn-plan-pipeline)" --dump-pass-pipeline 2>&1 >/dev/null | FileCheck %s --check-prefix=PLAN
// RUN: sparseattn-opt %s --pass-pipeline="builtin.module(sparseattn-plan-pipeline{ulysses=4 ring=2 balance=none augment=true})" --dump-pass-pipeline 2>&1 >/dev/null | FileCheck %s --check-prefix=OPTIONS
// RUN: sparseattn-opt %s --pass-pipeline="builtin.module(sparseattn-comm-pipeline)" --dump-pass-pipeline 2>&1 >/dev/null | FileCheck %s --check-prefix=COMM
// RUN: sparseattn-opt %s --pass-pipeline="builtin.module(sparseattn-kernel-pipeline)" --dump-pass-pipeline 2>&1 >/dev/null | FileCheck %s --check-prefix=KERNEL
// RUN: sparseattn-opt %s --pass-pipeline="builtin.module(sparseattn-jit-pipeline)" --dump-pass-pipeline 2>&1 >/dev/null | FileCheck %s --check-prefix=JIT

// Each pipeline as text: whoever changes one sees it here.

// MASK: Pass Manager with 4 passes:
// MASK-NEXT: builtin.module(
// MASK-NEXT: sparseattn-hoist-permutes,
// MASK-NEXT: canonicalize{{.*}},
// MASK-NEXT: sparseattn-fold-masks{{.*}},
// MASK-NEXT: sparseattn-verify-mask
// MASK-NEXT: )

// PLAN: Pass Manager with 3 passes:
// PLAN-NEXT: builtin.module(
// PLAN-NEXT: sparseattn-insert-plan{augment=false balance= repair=false ring=0 ulysses=0},
// PLAN-NEXT: sparseattn-plan-constant-masks,
// PLAN-NEXT: sparseattn-verify-plan
// PLAN-NEXT: )
// OPTIONS: sparseattn-insert-plan{augment=true balance=none repair=false ring=2 ulysses=4},

// COMM: Pass Manager with 2 passes:
// COMM-NEXT: builtin.module(
// COMM-NEXT: sparseattn-convert-to-comm,
// COMM-NEXT: sparseattn-verify-schedule{coverage=true max-violations=8}
// COMM-NEXT: )

// KERNEL: Pass Manager with 1 passes:
// KERNEL-NEXT: builtin.module(
// KERNEL-NEXT: sparseattn-emit-cpu-kernels{cpu= features=}
// KERNEL-NEXT: )

// JIT: Pass Manager with 1 passes:
// JIT-NEXT: builtin.module(
// JIT-NEXT: builtin.module(
// JIT-NEXT: convert-vector-to-llvm{
// JIT-NEXT: finalize-memref-to-llvm{
// JIT-NEXT: convert-arith-to-llvm{
// JIT-NEXT: cse,
// JIT-NEXT: loop-invariant-code-motion,
// JIT-NEXT: convert-scf-to-cf{
// JIT-NEXT: convert-arith-to-llvm{
// JIT-NEXT: convert-cf-to-llvm{
// JIT-NEXT: convert-func-to-llvm{
// JIT-NEXT: reconcile-unrealized-casts
// JIT-NEXT: )
// JIT-NEXT: )
module {
}

//===- Passes.h - Kernels of a schedule -------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TRANSFORMS_KERNEL_PASSES_H
#define SPARSEATTN_TRANSFORMS_KERNEL_PASSES_H

#include "sparseattn-rt/Executable.h"
#include "sparseattn/Dialect/Sm90/IR/Sm90.h"
#include "sparseattn/Jit/CpuTarget.h"

#include "sparseattn/Support/PassStatistics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace mlir {
namespace sparseattn {

/// Name of the nested module that holds the kernels.
inline constexpr llvm::StringLiteral kKernelModuleName = "kernels";

/// Writes a module `@kernels` with one function per spec at the builder's
/// insertion point. An unsupported spec is an error at `loc`.
FailureOr<ModuleOp> emitCpuKernels(OpBuilder &builder, Location loc,
                                   ArrayRef<sart::KernelSpec> specs,
                                   const CpuTarget &target);

/// Checks what no operation of a Hopper kernel shows alone: that nothing is
/// released, redefined or read too early, that the roles end, and that
/// registers and shared memory suffice (see `sparseattn-verify-kernel`).
LogicalResult verifyKernel(sa_sm90::KernelOp kernel);

#define GEN_PASS_DECL
#include "sparseattn/Transforms/Kernel/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "sparseattn/Transforms/Kernel/Passes.h.inc"

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_TRANSFORMS_KERNEL_PASSES_H

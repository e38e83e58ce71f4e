//===- KernelPipeline.h - Passes from kernels to LLVM dialect ---*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_JIT_KERNELPIPELINE_H
#define SPARSEATTN_JIT_KERNELPIPELINE_H

#include "mlir/Pass/PassManager.h"

namespace mlir {
namespace sparseattn {

/// Lowers a module of kernel functions (scf, vector, memref, arith, func) to
/// the LLVM dialect. `passManager` works on builtin.module.
void buildCpuKernelPipeline(OpPassManager &passManager);

/// Registers the pipeline under the name `sparseattn-cpu-kernel-pipeline`.
void registerCpuKernelPipeline();

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_JIT_KERNELPIPELINE_H

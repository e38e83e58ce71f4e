//===- GpuKernelPipeline.h - Passes from GPU kernels to LLVM dialect  -*- C++
//-*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_JIT_GPUKERNELPIPELINE_H
#define SPARSEATTN_JIT_GPUKERNELPIPELINE_H

#include "mlir/Pass/PassManager.h"

namespace mlir {
class DialectRegistry;

namespace sparseattn {

/// The dialects that GPU kernels are written in.
void registerGpuKernelDialects(DialectRegistry &registry);

/// Lowers a module of GPU kernels to the LLVM and NVVM dialects. A kernel is an
/// sa_sm90.kernel, or an llvm.func with nvvm.kernel whose body may hold scf,
/// vector, memref, arith, math, index, cf and nvvm; so may the func.func that
/// it calls. `passManager` works on builtin.module.
void buildGpuKernelPipeline(OpPassManager &passManager);

/// Registers the pipeline under the name `sparseattn-gpu-kernel-pipeline`.
void registerGpuKernelPipeline();

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_JIT_GPUKERNELPIPELINE_H

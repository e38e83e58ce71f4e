//===- GpuKernelEmitter.h - Who writes a kernel of a GPU ------ -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_JIT_GPUKERNELEMITTER_H
#define SPARSEATTN_JIT_GPUKERNELEMITTER_H

#include "sparseattn/Jit/GpuTarget.h"

#include "sparseattn-rt/Executable.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <vector>

namespace mlir {
class DialectRegistry;

namespace sparseattn {

/// A module that buildGpuKernelPipeline lowers, and its kernels, each with its
/// launch. A name is the kernel's own; one spec may need several kernels.
struct EmittedGpuKernels {
  OwningOpRef<ModuleOp> module;
  std::vector<sart::ExecutableKernel> kernels;
};

/// Writes the kernels of some specs. Safe for use by several threads.
class GpuKernelEmitter {
public:
  virtual ~GpuKernelEmitter() = default;

  /// The dialects that emit() writes and its module lowers through.
  virtual void registerDialects(DialectRegistry &registry) const = 0;

  /// Whether kernels of this kind are this emitter's work.
  virtual bool emits(const sart::KernelSpec &spec) const = 0;

  /// All that decides the module beside the spec, the target and this build:
  /// tile shapes, stages, variants. Costs no IR: it is part of the key that a
  /// kernel is looked up by. Errors: a spec that there is no kernel for, with
  /// what would have to change.
  virtual sart::Expected<std::string> recipe(const sart::KernelSpec &spec,
                                             const GpuTarget &target) const = 0;

  /// Writes the module; the dialects are loaded. Errors may be diagnostics too.
  virtual sart::Expected<EmittedGpuKernels>
  emit(const sart::KernelSpec &spec, const GpuTarget &target,
       MLIRContext &context) const = 0;
};

using GpuKernelEmitters = std::vector<std::shared_ptr<const GpuKernelEmitter>>;

/// The emitters of every kernel that programs need on a GPU.
GpuKernelEmitters standardGpuKernelEmitters();

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_JIT_GPUKERNELEMITTER_H

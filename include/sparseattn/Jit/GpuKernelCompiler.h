//===- GpuKernelCompiler.h - GPU kernel modules to cubins ----- -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_JIT_GPUKERNELCOMPILER_H
#define SPARSEATTN_JIT_GPUKERNELCOMPILER_H

#include "sparseattn/Jit/PtxCompiler.h"

namespace mlir {
namespace sparseattn {

/// Milliseconds of each stage of one compilation.
struct GpuCompileTimes {
  double passes = 0;    ///< MLIR to the LLVM dialect
  double translate = 0; ///< LLVM dialect to LLVM IR
  double optimize = 0;  ///< LLVM's passes
  double codegen = 0;   ///< LLVM IR to PTX
  double ptxas = 0;     ///< PTX to a cubin
  double total() const {
    return passes + translate + optimize + codegen + ptxas;
  }
};

/// The result of one compilation.
struct CompiledCubin {
  std::vector<std::string> kernels; ///< functions that can be launched
  std::string ptx;
  std::string cubin; ///< empty for a target without ptxas
  std::string log;   ///< of ptxas
  PtxasReport report;
  GpuCompileTimes times;
};

/// Compiles modules of GPU kernels. May be used by several threads at once, as
/// long as each module's context is used by one.
class GpuKernelCompiler {
public:
  explicit GpuKernelCompiler(GpuTarget target) : target(std::move(target)) {}

  const GpuTarget &getTarget() const { return target; }

  /// lower() and assemble(). The module is of no further use.
  llvm::Expected<CompiledCubin> compile(ModuleOp module) const;

  /// Module of kernels, of whatever buildGpuKernelPipeline takes, to PTX. The
  /// module is lowered in place. Errors of passes are emitted as diagnostics
  /// and summed up in the returned error.
  llvm::Expected<CompiledCubin> lower(ModuleOp module) const;

  /// PTX to a cubin, through the gate of checkPtxasReport; does nothing for a
  /// target without ptxas. Touches no MLIR: modules can be assembled at once.
  llvm::Error assemble(CompiledCubin &compiled) const;

private:
  GpuTarget target;
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_JIT_GPUKERNELCOMPILER_H

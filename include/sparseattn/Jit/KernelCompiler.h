//===- KernelCompiler.h - Kernel modules to callable code -------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_JIT_KERNELCOMPILER_H
#define SPARSEATTN_JIT_KERNELCOMPILER_H

#include "sparseattn/Jit/CpuTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mlir {
namespace sparseattn {

/// One kernel function of a compiled module.
struct CompiledKernel {
  std::string name;                 ///< symbol in the module
  void *entry = nullptr;            ///< C interface function
  int64_t scratchBytes = 0;         ///< per call, fixed part
  int64_t scratchBytesPerBlock = 0; ///< per call and kv-block
};

/// Milliseconds of each stage of one compilation.
struct CompileTimes {
  double passes = 0;    ///< MLIR to the LLVM dialect
  double translate = 0; ///< LLVM dialect to LLVM IR
  double codegen = 0;   ///< LLVM IR to an object
  double link = 0;      ///< object to callable code
  double total() const { return passes + translate + codegen + link; }
};

/// The result of one compilation.
struct CompiledKernels {
  std::vector<CompiledKernel> kernels; ///< in module order
  std::string object;                  ///< relocatable object of the target
  CompileTimes times;
};

/// Compiles modules of kernel functions and holds the code. Code stays callable
/// as long as the compiler lives. May be used by several threads; compilations
/// run one after the other. Each module gets a symbol space of its own, in
/// which only its own functions are visible: kernels call no library.
class KernelCompiler {
public:
  static llvm::Expected<std::unique_ptr<KernelCompiler>>
  create(CpuTarget target);
  ~KernelCompiler();

  const CpuTarget &getTarget() const;

  /// Compiles every function of `module` that has a C interface. The module is
  /// lowered in place and is of no further use. Errors of passes are emitted as
  /// diagnostics and summed up in the returned error.
  llvm::Expected<CompiledKernels> compile(ModuleOp module);

  /// Loads an object made by compile() for the same target. `kernels` names the
  /// functions; their entries are filled in.
  llvm::Error load(llvm::StringRef object,
                   std::vector<CompiledKernel> &kernels);

private:
  struct Impl;
  explicit KernelCompiler(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_JIT_KERNELCOMPILER_H

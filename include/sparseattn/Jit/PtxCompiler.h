//===- PtxCompiler.h - Kernels of the LLVM dialect to PTX text  -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_JIT_PTXCOMPILER_H
#define SPARSEATTN_JIT_PTXCOMPILER_H

#include "sparseattn/Jit/GpuTarget.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace mlir {
namespace sparseattn {

/// PTX of a module, and milliseconds of what made it.
struct PtxText {
  std::string ptx;
  std::vector<std::string> kernels; ///< functions that can be launched
  double translateMs = 0;           ///< LLVM dialect to LLVM IR
  double optimizeMs = 0;            ///< LLVM's passes for -O3
  double codegenMs = 0;             ///< LLVM IR to PTX
};

/// Translates a module of the LLVM and NVVM dialects, whose kernels carry
/// nvvm.kernel. Errors: no kernel, a text that does not translate (the
/// diagnostics are emitted), a call of a function that the module does not
/// have: no device library is linked.
llvm::Expected<PtxText> compileToPtx(ModuleOp module, const GpuTarget &target);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_JIT_PTXCOMPILER_H

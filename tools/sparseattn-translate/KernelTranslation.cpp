//===- KernelTranslation.cpp - GPU kernels as text to PTX and cubins ------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelTranslation.h"

#include "sparseattn/Jit/GpuKernelCompiler.h"
#include "sparseattn/Support/DiagnosticText.h"
#include "sparseattn/Support/ModuleText.h"

using namespace mlir;
using namespace mlir::sparseattn;
using sart::Expected;

/// Compiles as far as PTX, or to the cubin.
static Expected<CompiledCubin> compile(const std::string &text,
                                       MLIRContext &context,
                                       const GpuTarget &target, bool assemble) {
  DiagnosticText diagnostics(context);
  OwningOpRef<ModuleOp> module = parseModule(text, context, "input");
  if (!module)
    return diagnostics.failure("text");
  GpuKernelCompiler compiler(target);
  auto compiled =
      assemble ? compiler.compile(*module) : compiler.lower(*module);
  if (!compiled) {
    std::string reason = llvm::toString(compiled.takeError());
    // Diagnostics of passes have the place in the text.
    return diagnostics.empty() ? sart::makeError(reason)
                               : diagnostics.failure(reason);
  }
  return std::move(*compiled);
}

Expected<std::string> mlir::sparseattn::kernelToPtx(const std::string &text,
                                                    MLIRContext &context,
                                                    const std::string &ptxas) {
  llvm::Expected<GpuTarget> target = GpuTarget::get(ptxas);
  if (!target)
    return sart::makeError(llvm::toString(target.takeError()));
  auto compiled = compile(text, context, *target, /*assemble=*/false);
  if (!compiled)
    return compiled.status();
  return std::move(compiled->ptx);
}

Expected<std::string>
mlir::sparseattn::kernelToCubin(const std::string &text, MLIRContext &context,
                                const std::string &ptxas) {
  llvm::Expected<GpuTarget> target = GpuTarget::get(ptxas);
  if (!target)
    return sart::makeError(llvm::toString(target.takeError()));
  if (!target->ptxas)
    return sart::makeError(Ptxas::notFound());
  auto compiled = compile(text, context, *target, /*assemble=*/true);
  if (!compiled)
    return compiled.status();
  return std::move(compiled->cubin);
}

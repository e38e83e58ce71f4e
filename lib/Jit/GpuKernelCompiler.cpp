//===- GpuKernelCompiler.cpp - GPU kernel modules to cubins ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Jit/GpuKernelCompiler.h"

#include "Stopwatch.h"

#include "sparseattn/Jit/GpuKernelPipeline.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::sparseattn;

llvm::Expected<CompiledCubin> GpuKernelCompiler::lower(ModuleOp module) const {
  CompiledCubin result;
  Stopwatch watch;
  PassManager passManager(module.getContext(), ModuleOp::getOperationName());
  buildGpuKernelPipeline(passManager);
  if (failed(passManager.run(module)))
    return llvm::createStringError(
        "kernel module does not lower to the LLVM dialect: got '" +
        llvm::Twine(module.getSymName().value_or("unnamed")) + "'");
  result.times.passes = watch.lap();
  llvm::Expected<PtxText> text = compileToPtx(module, target);
  if (!text)
    return text.takeError();
  result.kernels = std::move(text->kernels);
  result.ptx = std::move(text->ptx);
  result.times.translate = text->translateMs;
  result.times.optimize = text->optimizeMs;
  result.times.codegen = text->codegenMs;
  return result;
}

llvm::Error GpuKernelCompiler::assemble(CompiledCubin &compiled) const {
  if (!target.ptxas)
    return llvm::Error::success();
  llvm::Expected<AssembledPtx> assembled =
      target.ptxas->assemble(compiled.ptx, target.chip);
  if (!assembled)
    return assembled.takeError();
  compiled.cubin = std::move(assembled->cubin);
  compiled.log = std::move(assembled->log);
  compiled.report = std::move(assembled->report);
  compiled.times.ptxas = assembled->milliseconds;
  if (llvm::Error error = checkPtxasReport(compiled.report))
    return llvm::createStringError(
        "kernel '" + llvm::join(compiled.kernels, "', '") + "' by ptxas " +
        target.ptxasVersion() + ": " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

llvm::Expected<CompiledCubin>
GpuKernelCompiler::compile(ModuleOp module) const {
  llvm::Expected<CompiledCubin> result = lower(module);
  if (!result)
    return result.takeError();
  if (llvm::Error error = assemble(*result))
    return error;
  return result;
}

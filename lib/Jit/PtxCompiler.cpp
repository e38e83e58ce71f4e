//===- PtxCompiler.cpp - Kernels of the LLVM dialect to PTX text ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Jit/PtxCompiler.h"

#include "Stopwatch.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::sparseattn;

/// What `opt -passes='default<O3>'` does.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

/// Math functions that NVPTX has no instructions for: LLVM ends the process
/// when it meets them.
static bool needsDeviceLibrary(const llvm::Function &function) {
  switch (function.getIntrinsicID()) {
  case llvm::Intrinsic::pow:
  case llvm::Intrinsic::powi:
  case llvm::Intrinsic::exp:
  case llvm::Intrinsic::exp10:
  case llvm::Intrinsic::log:
  case llvm::Intrinsic::log10:
  case llvm::Intrinsic::tan:
  case llvm::Intrinsic::asin:
  case llvm::Intrinsic::acos:
  case llvm::Intrinsic::atan:
  case llvm::Intrinsic::atan2:
  case llvm::Intrinsic::sinh:
  case llvm::Intrinsic::cosh:
  case llvm::Intrinsic::tanh:
    return true;
  default:
    return false;
  }
}

/// Refuses calls of what is not in the module.
static llvm::Error checkClosed(const llvm::Module &module) {
  SmallVector<StringRef> missing;
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.use_empty() &&
        (!function.isIntrinsic() || needsDeviceLibrary(function)))
      missing.push_back(function.getName());
  llvm::sort(missing);
  if (missing.empty())
    return llvm::Error::success();
  return llvm::createStringError(
      "functions that kernels call: got '" + llvm::join(missing, "', '") +
      "', expected none from outside: no device library is linked");
}

/// Whether PTX takes it for an identifier; LLVM ends the process at some others
/// and writes the rest as they are.
static bool isPtxName(StringRef name) {
  auto follows = [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '$';
  };
  if (name.empty() || !llvm::all_of(name, follows))
    return false;
  return llvm::isAlpha(name[0]) || (!llvm::isDigit(name[0]) && name.size() > 1);
}

/// Refuses names that PTX does not have. Local ones are replaced.
static llvm::Error checkNames(const llvm::Module &module) {
  for (const llvm::GlobalValue &value : module.global_values()) {
    const auto *function = llvm::dyn_cast<llvm::Function>(&value);
    if ((function && function->isIntrinsic()) || value.hasLocalLinkage() ||
        isPtxName(value.getName()))
      continue;
    std::string shown;
    llvm::raw_string_ostream stream(shown);
    llvm::printEscapedString(value.getName(), stream);
    return llvm::createStringError(
        "name of a function or variable: got '" + shown +
        "', expected letters, digits, _ and $, the first no digit, and not _ "
        "or $ alone");
  }
  return llvm::Error::success();
}

/// The kernels' names. Refuses what cannot be launched.
static llvm::Expected<std::vector<std::string>>
listKernels(const llvm::Module &module) {
  std::vector<std::string> names;
  for (const llvm::Function &function : module) {
    if (function.getCallingConv() != llvm::CallingConv::PTX_Kernel)
      continue;
    std::string name = function.getName().str();
    if (function.isDeclaration())
      return llvm::createStringError("kernel '" + name +
                                     "': got a declaration, expected a body");
    if (!function.getReturnType()->isVoidTy())
      return llvm::createStringError("kernel '" + name +
                                     "': got a result, expected none");
    names.push_back(std::move(name));
  }
  if (names.empty())
    return llvm::createStringError(
        "kernels of the module: got none, expected functions with "
        "nvvm.kernel");
  return names;
}

static llvm::Error emit(llvm::Module &module, llvm::TargetMachine &machine,
                        std::string &ptx) {
  SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("target cannot emit text: got '" +
                                   machine.getTargetTriple().str() + "'");
  passes.run(module);
  ptx = text.str().str();
  return llvm::Error::success();
}

llvm::Expected<PtxText>
mlir::sparseattn::compileToPtx(ModuleOp module, const GpuTarget &target) {
  auto machine = target.createTargetMachine();
  if (!machine)
    return machine.takeError();
  PtxText result;
  Stopwatch watch;
  MLIRContext *context = module.getContext();
  registerBuiltinDialectTranslation(*context);
  registerLLVMDialectTranslation(*context);
  registerNVVMDialectTranslation(*context);
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, llvmContext, "kernels");
  if (!llvmModule)
    return llvm::createStringError(
        "kernel module does not translate to LLVM IR: got '" +
        llvm::Twine(module.getSymName().value_or("unnamed")) + "'");
  llvmModule->setDataLayout((*machine)->createDataLayout());
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  std::string broken;
  llvm::raw_string_ostream brokenStream(broken);
  if (llvm::verifyModule(*llvmModule, &brokenStream))
    return llvm::createStringError("kernel module as LLVM IR: got '" +
                                   StringRef(broken).trim() +
                                   "', expected one that verifies");
  if (llvm::Error error = checkNames(*llvmModule))
    return error;
  auto kernels = listKernels(*llvmModule);
  if (!kernels)
    return kernels.takeError();
  result.kernels = std::move(*kernels);
  result.translateMs = watch.lap();

  optimize(*llvmModule, **machine);
  if (llvm::Error error = checkClosed(*llvmModule))
    return error;
  result.optimizeMs = watch.lap();

  if (llvm::Error error = emit(*llvmModule, **machine, result.ptx))
    return error;
  result.codegenMs = watch.lap();
  return result;
}

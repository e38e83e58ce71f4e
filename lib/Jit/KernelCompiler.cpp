//===- KernelCompiler.cpp - Kernel modules to callable code ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Jit/KernelCompiler.h"

#include "Stopwatch.h"

#include "sparseattn/Conversion/SparseAttnToVector/KernelBuilder.h"
#include "sparseattn/Jit/KernelPipeline.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace mlir::sparseattn;

static constexpr llvm::StringLiteral kEntryPrefix = "_mlir_ciface_";

struct KernelCompiler::Impl {
  CpuTarget target;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::mutex mutex; ///< guards machine, and the order of library names
  int64_t modules = 0;

  llvm::Error link(StringRef object, std::vector<CompiledKernel> &kernels);
  llvm::Error emitObject(llvm::Module &module, SmallVectorImpl<char> &object);
};

KernelCompiler::KernelCompiler(std::unique_ptr<Impl> impl)
    : impl(std::move(impl)) {}
KernelCompiler::~KernelCompiler() = default;
const CpuTarget &KernelCompiler::getTarget() const { return impl->target; }

llvm::Expected<std::unique_ptr<KernelCompiler>>
KernelCompiler::create(CpuTarget target) {
  auto impl = std::make_unique<Impl>();
  auto machine = target.createTargetMachine();
  if (!machine)
    return machine.takeError();
  impl->machine = std::move(*machine);

  llvm::orc::JITTargetMachineBuilder builder(impl->machine->getTargetTriple());
  builder.setCPU(target.cpu);
  // Objects are linked as they are: no initialisers, no symbols of the process,
  // nothing compiled on behalf of the JIT itself.
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(builder))
                 .setDataLayout(impl->machine->createDataLayout())
                 .setLinkProcessSymbolsByDefault(false)
                 .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                 .create();
  if (!jit)
    return jit.takeError();
  impl->jit = std::move(*jit);
  impl->target = std::move(target);
  return std::unique_ptr<KernelCompiler>(new KernelCompiler(std::move(impl)));
}

llvm::Error KernelCompiler::Impl::emitObject(llvm::Module &module,
                                             SmallVectorImpl<char> &object) {
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple());
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("target cannot emit objects: got '" +
                                   llvm::Twine(target.triple) + "'");
  passes.run(module);
  return llvm::Error::success();
}

llvm::Error KernelCompiler::Impl::link(StringRef object,
                                       std::vector<CompiledKernel> &kernels) {
  auto library = jit->createJITDylib("kernels." + std::to_string(modules++));
  if (!library)
    return library.takeError();
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, "kernels");
  if (llvm::Error error = jit->addObjectFile(*library, std::move(buffer)))
    return error;
  for (CompiledKernel &kernel : kernels) {
    auto address = jit->lookup(*library, (kEntryPrefix + kernel.name).str());
    if (!address)
      return address.takeError();
    kernel.entry = address->toPtr<void *>();
  }
  return llvm::Error::success();
}

/// The functions of `module` with a C interface.
static std::vector<CompiledKernel> listKernels(ModuleOp module) {
  std::vector<CompiledKernel> kernels;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func->hasAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName()))
      continue;
    auto bytes = [&](StringRef name) -> int64_t {
      auto attr = func->getAttrOfType<IntegerAttr>(name);
      return attr ? attr.getInt() : 0;
    };
    CompiledKernel kernel;
    kernel.name = func.getSymName().str();
    kernel.scratchBytes = bytes(kScratchBytesAttr);
    kernel.scratchBytesPerBlock = bytes(kScratchBytesPerBlockAttr);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

llvm::Expected<CompiledKernels> KernelCompiler::compile(ModuleOp module) {
  std::lock_guard<std::mutex> lock(impl->mutex);
  CompiledKernels result;
  result.kernels = listKernels(module);
  Stopwatch watch;

  MLIRContext *context = module.getContext();
  PassManager passManager(context, ModuleOp::getOperationName());
  buildCpuKernelPipeline(passManager);
  if (failed(passManager.run(module)))
    return llvm::createStringError(
        "kernel module does not lower to the LLVM dialect: got '" +
        llvm::Twine(module.getSymName().value_or("unnamed")) + "'");
  result.times.passes = watch.lap();

  registerBuiltinDialectTranslation(*context);
  registerLLVMDialectTranslation(*context);
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, llvmContext, "kernels");
  if (!llvmModule)
    return llvm::createStringError(
        "kernel module does not translate to LLVM IR: got '" +
        llvm::Twine(module.getSymName().value_or("unnamed")) + "'");
  result.times.translate = watch.lap();

  SmallVector<char, 0> object;
  if (llvm::Error error = impl->emitObject(*llvmModule, object))
    return error;
  result.object.assign(object.begin(), object.end());
  result.times.codegen = watch.lap();

  if (llvm::Error error = impl->link(result.object, result.kernels))
    return error;
  result.times.link = watch.lap();
  return result;
}

llvm::Error KernelCompiler::load(StringRef object,
                                 std::vector<CompiledKernel> &kernels) {
  std::lock_guard<std::mutex> lock(impl->mutex);
  return impl->link(object, kernels);
}

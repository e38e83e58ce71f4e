//===- KernelLibrary.cpp - Kernels of one process, from compiler or cache -===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelLibrary.h"

#include "BuildId.h"

#include "sparseattn/Support/DiagnosticText.h"
#include "sparseattn/Transforms/Kernel/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::sparseattn;
using sart::Expected;
using sart::Status;

std::string mlir::sparseattn::compilerBuilds() {
  // Where the three lie in one library, their ids are the same.
  std::string own = buildIdOf(reinterpret_cast<const void *>(&compilerBuilds));
  std::string mlirs = buildIdOf(reinterpret_cast<const void *>(
      static_cast<LogicalResult (*)(Operation *, bool)>(&verify)));
  std::string llvms =
      buildIdOf(reinterpret_cast<const void *>(&llvm::sys::getProcessTriple));
  if (own.empty() || mlirs.empty() || llvms.empty())
    return "";
  return sart::concat("compiler ", own, "\nmlir ", mlirs, "\nllvm ",
                      LLVM_VERSION_STRING, " ", llvms, "\n");
}

std::string mlir::sparseattn::kernelPlatform(const CpuTarget &target) {
  std::string builds = compilerBuilds();
  if (builds.empty())
    return "";
  SmallVector<StringRef> features;
  StringRef(target.features).split(features, ',');
  llvm::sort(features);
  return sart::concat(builds, "triple ", target.triple, "\ncpu ", target.cpu,
                      "\nfeatures ", llvm::join(features, ","), "\n");
}

Expected<std::unique_ptr<KernelLibrary>>
KernelLibrary::create(std::shared_ptr<sart::DiskCache> cache) {
  llvm::Expected<CpuTarget> target = CpuTarget::host();
  if (!target)
    return sart::makeError("cpu: ", llvm::toString(target.takeError()));
  std::unique_ptr<KernelLibrary> library(new KernelLibrary());
  if (cache && cache->enabled()) {
    library->platform = kernelPlatform(*target);
    if (library->platform.empty())
      cache->disable("cache: build ids of this library, MLIR and LLVM: got "
                     "none, expected ones (link with --build-id)");
  }
  library->cache = std::move(cache);
  auto compiler = KernelCompiler::create(std::move(*target));
  if (!compiler)
    return sart::makeError("kernel compiler: ",
                           llvm::toString(compiler.takeError()));
  library->compiler = std::move(*compiler);
  return library;
}

std::string KernelLibrary::keyOf(const sart::KernelSpec &spec) const {
  return "cpu kernel " + spec.name() + "\n" + platform;
}

/// Adds the kernel of a stored executable; false if there is no usable one.
bool KernelLibrary::loadCached(const sart::KernelSpec &spec,
                               const std::string &key) {
  std::optional<std::string> payload = cache->load(key);
  if (!payload)
    return false;
  auto executable = sart::deserializeExecutable(
      reinterpret_cast<const uint8_t *>(payload->data()), payload->size());
  if (executable && executable->kernels.size() == 1 &&
      executable->kernels[0].name == spec.name()) {
    const sart::ExecutableKernel &stored = executable->kernels[0];
    std::vector<CompiledKernel> kernels(1);
    kernels[0].name = stored.name;
    if (llvm::Error error = compiler->load(executable->binary, kernels)) {
      llvm::consumeError(std::move(error));
    } else {
      table.add({spec, kernels[0].entry, stored.scratchBytes,
                 stored.scratchBytesPerKvBlock, compiler});
      return true;
    }
  }
  cache->reject();
  return false;
}

Status KernelLibrary::compile(const sart::KernelSpec &spec,
                              const std::string &key, MLIRContext &context) {
  DiagnosticText diagnostics(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  FailureOr<ModuleOp> kernels =
      emitCpuKernels(builder, module->getLoc(), spec, compiler->getTarget());
  if (failed(kernels))
    return diagnostics.failure("kernels");
  llvm::Expected<CompiledKernels> compiled = compiler->compile(*kernels);
  if (!compiled)
    return sart::makeError("kernels: ", llvm::toString(compiled.takeError()));
  auto kernel = llvm::find_if(compiled->kernels, [&](const auto &candidate) {
    return candidate.name == spec.name();
  });
  if (kernel == compiled->kernels.end())
    return sart::makeError("kernels of the compiled module: got none called '",
                           spec.name(), "', expected it");
  table.add({spec, kernel->entry, kernel->scratchBytes,
             kernel->scratchBytesPerBlock, compiler});
  if (!caches())
    return Status::success();
  sart::Executable executable;
  executable.kernels.push_back(
      {kernel->name, kernel->scratchBytes, kernel->scratchBytesPerBlock});
  executable.binary = compiled->object;
  std::vector<uint8_t> bytes = serialize(executable);
  cache->store(key, std::string(bytes.begin(), bytes.end()));
  return Status::success();
}

Expected<std::shared_ptr<sart::KernelTable>>
KernelLibrary::kernelsOf(const sart::Program &program, MLIRContext &context,
                         std::vector<KernelSource> &sources) {
  auto needed = std::make_shared<sart::KernelTable>();
  for (const sart::KernelSpec &spec : requiredKernels(program)) {
    // One entry a kernel, not one a layer: layers share kernels. So each is a
    // module of its own, though three of them compile about 5% faster as one.
    std::string key = keyOf(spec);
    KernelSource source;
    source.name = spec.name();
    if (caches())
      source.key = sart::DiskCache::fileName(key);
    if (table.find(spec)) {
      source.kind = KernelSource::Kind::Present;
    } else if (caches() && loadCached(spec, key)) {
      source.kind = KernelSource::Kind::Cached;
    } else {
      SART_RETURN_IF_ERROR(compile(spec, key, context));
      source.kind = KernelSource::Kind::Compiled;
    }
    sources.push_back(std::move(source));
    if (const sart::LoadedKernel *kernel = table.find(spec))
      needed->add(*kernel);
  }
  return needed;
}

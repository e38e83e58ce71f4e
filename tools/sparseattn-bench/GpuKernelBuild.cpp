//===- GpuKernelBuild.cpp - Compile times of kernels of a GPU -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GpuKernelBuild.h"

#include "ChildProcess.h"
#include "GpuKernelLibrary.h"
#include "TemporaryFolder.h"

#include "mlir/IR/MLIRContext.h"

using namespace sart;
using namespace mlir::sparseattn;

namespace {

/// One engine's kernels for a GPU: a library over a cache in a folder.
class Engine {
public:
  static Expected<std::unique_ptr<Engine>> create(const std::string &folder,
                                                  const std::string &ptxas) {
    std::unique_ptr<Engine> engine(new Engine(folder));
    // None that came with the library: cold starts are to be measured.
    auto library = GpuKernelLibrary::create(
        engine->cache, ptxas, standardGpuKernelEmitters(), /*shippedRoot=*/"");
    if (!library)
      return library.status();
    engine->library = std::move(*library);
    mlir::DialectRegistry registry;
    engine->library->registerDialects(registry);
    engine->context.appendDialectRegistry(registry);
    engine->context.loadAllAvailableDialects();
    return engine;
  }

  std::shared_ptr<DiskCache> cache;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<GpuKernelLibrary> library;

private:
  explicit Engine(const std::string &folder)
      : cache(std::make_shared<DiskCache>(folder)) {}
};

} // namespace

/// The kernels of `specs` by a new engine, and how long they took.
static Expected<std::shared_ptr<KernelTable>>
timedKernels(Engine &engine, const std::vector<KernelSpec> &specs, double &ms,
             KernelSource::Kind &kind) {
  std::vector<KernelSource> sources;
  Expected<std::shared_ptr<KernelTable>> table =
      makeError("kernels: got none, expected some");
  ms = 1e3 * secondsOf([&] {
         table = engine.library->kernelsOf(specs, engine.context, sources);
       });
  if (table)
    kind = sources.front().kind;
  return table;
}

Status GpuKernelBuild::checkAssembler(const std::string &ptxas) {
  auto target = mlir::sparseattn::GpuTarget::get(ptxas);
  return target ? Status::success()
                : makeError(llvm::toString(target.takeError()));
}

Expected<GpuKernelBuild>
GpuKernelBuild::make(const std::shared_ptr<cuda::CudaDevice> &device,
                     const std::vector<KernelSpec> &specs,
                     const std::string &ptxas, int64_t times) {
  GpuKernelBuild build;
  for (const KernelSpec &spec : specs)
    build.row.name += (build.row.name.empty() ? "" : "+") + spec.name();
  for (int64_t i = 0; i < times; ++i) {
    auto folder = TemporaryFolder::create("bench");
    if (!folder)
      return makeError(llvm::toString(folder.takeError()));
    std::string cache = folder->file("cache");
    double ms = 0;
    auto kind = KernelSource::Kind::Present;
    build.table = nullptr; // kernels that are held are not made again
    build.modules = nullptr;
    {
      auto engine = Engine::create(cache, ptxas);
      if (!engine)
        return engine.status();
      build.row.ptxas = (*engine)->library->getTarget().ptxasVersion();
      build.row.notice = (*engine)->library->notice();
      auto table = timedKernels(**engine, specs, ms, kind);
      if (!table)
        return table.status();
      if (i == 0)
        build.row.firstMs = ms;
      if (i == 0)
        build.row.source =
            kind == KernelSource::Kind::Compiled ? "compiled" : "cached";
      if (i > 0 || times == 1)
        build.row.coldMs.add(ms);
      build.table = *table;
    }
    build.table = nullptr;
    auto engine = Engine::create(cache, ptxas);
    if (!engine)
      return engine.status();
    auto table = timedKernels(**engine, specs, ms, kind);
    if (!table)
      return table.status();
    if (kind == KernelSource::Kind::Cached)
      build.row.warmMs.add(ms);
    else if (std::string problem = (*engine)->cache->counters().problem;
             !problem.empty())
      build.row.notice += (build.row.notice.empty() ? "" : "; ") + problem;
    build.table = *table;
    build.modules = std::make_shared<cuda::CudaModuleTable>(device);
    Status loaded = Status::success();
    ms = 1e3 * secondsOf([&] {
           for (const KernelSpec &spec : specs)
             if (const LoadedKernel *kernel = build.table->find(spec);
                 kernel && loaded.ok())
               loaded = build.load(*kernel).status();
         });
    SART_RETURN_IF_ERROR(loaded);
    build.row.loadMs.add(ms);
  }
  for (const KernelSpec &spec : specs) {
    const LoadedKernel *kernel = build.table->find(spec);
    if (!kernel)
      continue;
    Expected<Kernel> found = build.load(*kernel);
    if (found && found->function->registers > build.row.registers) {
      build.row.registers = found->function->registers;
      build.row.localBytes = found->function->localBytes;
    }
  }
  return build;
}

Expected<GpuKernelBuild::Kernel>
GpuKernelBuild::load(const LoadedKernel &kernel) const {
  Kernel result;
  result.how = *kernel.launch;
  auto function = modules->function(kernel.binary, kernel.launch->entry);
  if (!function)
    return function.status();
  result.function = *function;
  return result;
}

Expected<GpuKernelBuild::Kernel>
GpuKernelBuild::find(const std::string &entry) const {
  const LoadedKernel *kernel = table->findEntry(entry);
  if (!kernel || !kernel->launch)
    return makeError("kernel called '", entry, "': got none among ", row.name,
                     ", expected one");
  return load(*kernel);
}

Expected<GpuKernelBuild::Kernel>
GpuKernelBuild::find(const KernelSpec &spec) const {
  const LoadedKernel *kernel = table->find(spec);
  if (!kernel || !kernel->launch)
    return makeError("kernel ", spec.name(), ": got none, expected one");
  return load(*kernel);
}

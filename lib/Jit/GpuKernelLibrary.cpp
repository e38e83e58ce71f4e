//===- GpuKernelLibrary.cpp - GPU kernels, compiled or cached -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GpuKernelLibrary.h"

#include "KernelLibrary.h"
#include "PtxasMemo.h"

#include "sparseattn/Jit/GpuKernelPipeline.h"
#include "sparseattn/Support/DiagnosticText.h"

#include "sparseattn-rt/DeviceRouting.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <future>
#include <system_error>

using namespace mlir;
using namespace mlir::sparseattn;
using sart::Expected;
using sart::Status;

std::string
mlir::sparseattn::gpuKernelPlatform(const std::string &chip,
                                    unsigned ptxVersion,
                                    const std::string &ptxasVersion) {
  std::string builds = compilerBuilds();
  if (builds.empty())
    return "";
  return sart::concat(builds, "chip ", chip, "\nptx ", ptxVersion, "\nptxas ",
                      ptxasVersion, "\n");
}

std::string mlir::sparseattn::gpuKernelPlatform(const GpuTarget &target) {
  return gpuKernelPlatform(target.chip, target.ptxVersion,
                           target.ptxasVersion());
}

Expected<std::unique_ptr<GpuKernelLibrary>>
GpuKernelLibrary::create(std::shared_ptr<sart::DiskCache> cache,
                         const std::string &ptxas, GpuKernelEmitters emitters,
                         const std::string &shippedRoot) {
  bool caches = cache && cache->enabled();
  llvm::Expected<GpuTarget> target = gpuTargetWithMemo(
      ptxas, caches ? cache->folder() : "",
      caches ? cache->sizeLimit() : sart::DiskCache::defaultMaxBytes);
  if (!target)
    return sart::makeError(llvm::toString(target.takeError()));
  std::unique_ptr<GpuKernelLibrary> library(
      new GpuKernelLibrary(std::move(*target)));
  library->platform = gpuKernelPlatform(library->getTarget());
  if (caches && library->platform.empty())
    cache->disable("cache: build ids of this library, MLIR and LLVM: got none, "
                   "expected ones (link with --build-id)");
  library->cache = std::move(cache);
  library->emitters = std::move(emitters);
  std::optional<ShippedKernels> shipped = ShippedKernels::open(shippedRoot);
  if (shipped && (ptxas.empty() || shipped->ptxasVersion() ==
                                       library->getTarget().ptxasVersion()))
    library->shipped = std::move(shipped);
  return library;
}

std::string GpuKernelLibrary::notice() const {
  if (getTarget().ptxas)
    return "";
  return "ptxas: got none, so kernels stay PTX: the driver assembles them, at "
         "each start (--ptxas, CUDA_HOME or PATH name one; PyPI has it as "
         "nvidia-cuda-nvcc)";
}

void GpuKernelLibrary::registerDialects(DialectRegistry &registry) const {
  registerGpuKernelDialects(registry); // that kernels lower through
  for (const auto &emitter : emitters)
    emitter->registerDialects(registry);
}

Expected<const GpuKernelEmitter *>
GpuKernelLibrary::emitterOf(const sart::KernelSpec &spec) const {
  for (const auto &emitter : emitters)
    if (emitter->emits(spec))
      return emitter.get();
  return sart::makeError("kernel of ", getTarget().chip, ": got '", spec.name(),
                         "', expected one that is built for GPUs");
}

Expected<std::string>
GpuKernelLibrary::keyOf(const sart::KernelSpec &spec) const {
  return keyOf(spec, platform);
}

Expected<std::string>
GpuKernelLibrary::keyOf(const sart::KernelSpec &spec,
                        const std::string &platform) const {
  auto emitter = emitterOf(spec);
  if (!emitter)
    return emitter.status();
  Expected<std::string> recipe = (*emitter)->recipe(spec, getTarget());
  if (!recipe)
    return recipe.status();
  return sart::concat("gpu kernel ", spec.name(), "@", getTarget().chip,
                      "\nrecipe ", *recipe, "\n", platform);
}

/// One spec on its way to an executable.
struct GpuKernelLibrary::Request {
  sart::KernelSpec spec;
  std::string key;
  KernelSource::Kind kind = KernelSource::Kind::Present;
  SharedExecutable executable;
  GpuKernelFlights::Claim claim;
  // While it is compiled.
  std::vector<sart::ExecutableKernel> kernels;
  CompiledCubin compiled;
  Status made = Status::success(); ///< its own error, nobody else's
};

/// The executable in a payload of the cache; null if it is none for a device.
static SharedExecutable toExecutable(const std::string &payload) {
  auto executable = sart::deserializeExecutable(
      reinterpret_cast<const uint8_t *>(payload.data()), payload.size());
  if (!executable || executable->kernels.empty() ||
      !llvm::all_of(executable->kernels, [](const auto &kernel) {
        return kernel.launch.has_value();
      }))
    return nullptr;
  return std::make_shared<const sart::Executable>(std::move(*executable));
}

SharedExecutable GpuKernelLibrary::loadCached(const Request &request) {
  if (!caches())
    return nullptr;
  std::optional<std::string> payload = cache->load(request.key);
  if (!payload)
    return nullptr;
  SharedExecutable executable = toExecutable(*payload);
  if (!executable)
    cache->reject();
  return executable;
}

SharedExecutable GpuKernelLibrary::loadShipped(const Request &request) const {
  if (!shipped)
    return nullptr;
  Expected<std::string> key = keyOf(
      request.spec, gpuKernelPlatform(getTarget().chip, shipped->ptxVersion(),
                                      shipped->ptxasVersion()));
  if (!key)
    return nullptr;
  std::optional<std::string> payload = shipped->load(*key);
  return payload ? toExecutable(*payload) : nullptr;
}

Status GpuKernelLibrary::lower(Request &request, MLIRContext &context) {
  auto emitter = emitterOf(request.spec);
  if (!emitter)
    return emitter.status();
  DiagnosticText diagnostics(context);
  auto fail = [&](const std::string &reason) {
    Status status = diagnostics.empty() ? Status::error(reason)
                                        : diagnostics.failure(reason);
    return sart::makeError("gpu kernel ", request.spec.name(), ": ",
                           status.message());
  };
  Expected<EmittedGpuKernels> emitted =
      (*emitter)->emit(request.spec, getTarget(), context);
  if (!emitted)
    return fail(emitted.message());
  llvm::Expected<CompiledCubin> compiled = compiler.lower(*emitted->module);
  if (!compiled)
    return fail(llvm::toString(compiled.takeError()));
  request.kernels = std::move(emitted->kernels);
  request.compiled = std::move(*compiled);
  for (const sart::ExecutableKernel &kernel : request.kernels)
    if (!kernel.launch ||
        !llvm::is_contained(request.compiled.kernels, kernel.launch->entry))
      return fail("kernels of the compiled module: got none called '" +
                  (kernel.launch ? kernel.launch->entry : kernel.name) +
                  "', expected it");
  if (request.kernels.empty())
    return fail("kernels with a launch: got none, expected one or more");
  return Status::success();
}

/// What the launches take must be there: the driver's own errors come late and
/// name no kernel.
static Status checkResources(const std::vector<sart::ExecutableKernel> &kernels,
                             const PtxasReport &report) {
  constexpr int64_t registersOfAnSm = 65536;
  for (const sart::ExecutableKernel &kernel : kernels) {
    int64_t shared = kernel.launch->sharedBytes + report.staticShared;
    if (shared > sart::maxDeviceSharedBytes)
      return sart::makeError("shared memory of '", kernel.name, "': got ",
                             shared, " bytes, expected at most ",
                             sart::maxDeviceSharedBytes);
    // Registers are given out in eights.
    int64_t registers = (report.registers + 7) / 8 * 8 * kernel.launch->threads;
    if (registers > registersOfAnSm)
      return sart::makeError("registers of '", kernel.name, "': got ",
                             registers, " for ", kernel.launch->threads,
                             " threads, expected at most ", registersOfAnSm);
  }
  return Status::success();
}

Status GpuKernelLibrary::assemble(Request &request) const {
  auto fail = [&](const std::string &reason) {
    return sart::makeError("gpu kernel ", request.spec.name(), ": ", reason);
  };
  if (llvm::Error error = compiler.assemble(request.compiled))
    return fail(llvm::toString(std::move(error)));
  Status fits = checkResources(request.kernels, request.compiled.report);
  return fits.ok() ? fits : fail(fits.message());
}

/// Lowers one after the other and leaves each to ptxas meanwhile: a thread
/// waits for a child process. An error is its request's alone: others may wait
/// for the rest.
void GpuKernelLibrary::compileAll(std::vector<Request *> requests,
                                  MLIRContext &context) {
  // The longest first.
  llvm::sort(requests, [](const Request *a, const Request *b) {
    auto rank = [](const Request *request) {
      bool attends = request->spec.kind == sart::KernelSpec::Kind::Attend;
      return std::pair(!attends, request);
    };
    return rank(a) < rank(b);
  });
  std::vector<std::future<void>> running;
  for (Request *request : requests) {
    request->made = lower(*request, context);
    if (!request->made.ok())
      continue;
    auto work = [this, request] { request->made = assemble(*request); };
    try {
      running.push_back(std::async(std::launch::async, work));
    } catch (const std::system_error &) {
      work(); // no thread to be had
    }
  }
  for (std::future<void> &future : running)
    future.get();
}

/// Makes what is this caller's to make, in the cache or by compiling. The
/// requests have an executable or an error then.
void GpuKernelLibrary::makeAll(std::vector<Request> &requests,
                               MLIRContext &context) {
  std::vector<Request *> open;
  for (Request &request : requests) {
    if (!request.claim.own)
      continue;
    request.executable = loadCached(request);
    request.kind = KernelSource::Kind::Cached;
    if (request.executable)
      continue;
    request.executable = loadShipped(request);
    request.kind = KernelSource::Kind::Shipped;
    if (request.executable)
      continue;
    request.kind = KernelSource::Kind::Compiled;
    open.push_back(&request);
  }
  compileAll(open, context);
  for (Request *request : open) {
    if (!request->made.ok())
      continue;
    auto executable = std::make_shared<sart::Executable>();
    executable->kernels = std::move(request->kernels);
    executable->binary = getTarget().ptxas ? std::move(request->compiled.cubin)
                                           : std::move(request->compiled.ptx);
    if (caches()) {
      std::vector<uint8_t> bytes = serialize(*executable);
      cache->store(request->key, std::string(bytes.begin(), bytes.end()));
    }
    request->executable = std::move(executable);
  }
}

Expected<std::shared_ptr<sart::KernelTable>>
GpuKernelLibrary::kernelsOf(const std::vector<sart::KernelSpec> &specs,
                            MLIRContext &context,
                            std::vector<KernelSource> &sources) {
  std::vector<Request> requests(specs.size());
  for (size_t i = 0; i < specs.size(); ++i) {
    requests[i].spec = specs[i];
    Expected<std::string> key = keyOf(specs[i]);
    if (!key)
      return key.status();
    requests[i].key = std::move(*key);
  }
  // Nothing fails between here and the ends of the flights that this caller
  // took but what ends them.
  for (Request &request : requests) {
    if (auto found = loaded.find(request.key); found != loaded.end())
      request.executable = found->second;
    else
      request.claim = GpuKernelFlights::ofProcess().claim(request.key);
    if (request.claim.present)
      request.executable = request.claim.present;
  }
  makeAll(requests, context);
  for (Request &request : requests)
    if (request.claim.own)
      request.claim.own->finish({request.executable, request.made.message()});
  for (const Request &request : requests)
    SART_RETURN_IF_ERROR(request.made);

  auto needed = std::make_shared<sart::KernelTable>();
  for (Request &request : requests) {
    if (request.claim.other.valid()) {
      FlightOutcome outcome = request.claim.other.get();
      if (!outcome.executable)
        return Status::error(outcome.error);
      request.executable = std::move(outcome.executable);
    }
    loaded[request.key] = request.executable;
    sources.push_back({request.spec.name() + "@" + getTarget().chip,
                       caches() && request.kind != KernelSource::Kind::Shipped
                           ? sart::DiskCache::fileName(request.key)
                           : "",
                       request.kind});
    std::shared_ptr<const std::string> binary(request.executable,
                                              &request.executable->binary);
    for (const sart::ExecutableKernel &kernel : request.executable->kernels) {
      sart::LoadedKernel entry;
      entry.spec = request.spec;
      entry.scratchBytes = kernel.scratchBytes;
      entry.scratchBytesPerKvBlock = kernel.scratchBytesPerKvBlock;
      entry.launch = kernel.launch;
      entry.binary = binary;
      needed->add(std::move(entry));
    }
  }
  return needed;
}

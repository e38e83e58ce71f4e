//===- CudaBackend.cpp - Runs compiled kernels on a GPU -------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaBackend.h"

#include "sparseattn-rt/DeviceSupport.h"

using namespace sart;
using namespace sart::cuda;

Expected<std::unique_ptr<Backend>>
sart::createCudaBackend(std::shared_ptr<KernelTable> kernels, int device) {
  auto driver = CudaDriver::open();
  if (!driver)
    return driver.status();
  auto opened = CudaDevice::open(std::move(*driver), device);
  if (!opened)
    return opened.status();
  auto backend = CudaBackend::create(
      std::make_shared<CudaShared>(std::move(*opened), std::move(kernels)));
  if (!backend)
    return backend.status();
  return std::unique_ptr<Backend>(std::move(*backend));
}

Expected<std::unique_ptr<CudaBackend>>
CudaBackend::create(std::shared_ptr<CudaShared> shared) {
  auto space = CudaSpace::create(shared->device);
  if (!space)
    return space.status();
  return std::unique_ptr<CudaBackend>(
      new CudaBackend(std::move(shared), std::move(*space)));
}

Expected<std::shared_ptr<Backend>> CudaBackend::ofRank(const Program &program,
                                                       int64_t) {
  auto own = create(shared);
  if (!own)
    return own.status();
  // Binaries are loaded now: the first run is like the others.
  auto kernels = kernelsOf(program);
  if (!kernels)
    return kernels.status();
  for (const LoadedKernel *kernel : *kernels)
    if (auto function = functionOf(*kernel); !function)
      return function.status();
  return std::shared_ptr<Backend>(std::move(*own));
}

static Status missing(const std::string &name, size_t others) {
  return makeError("kernel ", name, " is missing: got ", others,
                   " other kernels, expected it compiled for the program and "
                   "a GPU");
}

Expected<const LoadedKernel *> CudaBackend::find(const KernelSpec &spec) const {
  const LoadedKernel *kernel = shared->kernels->find(spec);
  if (kernel && kernel->launch && kernel->binary)
    return kernel;
  return missing(spec.name(), shared->kernels->size());
}

Expected<const LoadedKernel *>
CudaBackend::find(const std::string &entry) const {
  const LoadedKernel *kernel = shared->kernels->findEntry(entry);
  if (kernel && kernel->binary)
    return kernel;
  return missing(entry, shared->kernels->size());
}

/// Functions that launches of a spec call, see DeviceRouting.h. Refuses layers
/// that routing has no launch for.
static Expected<std::vector<std::string>> entriesOf(const Program &program,
                                                    const KernelSpec &spec) {
  if (spec.kind != KernelSpec::Kind::Route)
    return std::vector<std::string>{spec.name()};
  // Neither records nor rows decide which.
  auto launch =
      deviceRouteLaunch(spec.headDim, 1, 1, program.placement.shape.kvBlocks());
  if (!launch)
    return launch.status();
  return std::vector<std::string>{launch->kernel, "route_totals"};
}

Status CudaBackend::supports(const Program &program) const {
  SART_RETURN_IF_ERROR(checkDeviceProgram(program));
  return kernelsOf(program).status();
}

Expected<std::vector<const LoadedKernel *>>
CudaBackend::kernelsOf(const Program &program) const {
  std::vector<const LoadedKernel *> kernels;
  for (const KernelSpec &spec : requiredDeviceKernels(program)) {
    if (spec.kind == KernelSpec::Kind::Attend) {
      auto kernel = find(spec);
      if (!kernel)
        return kernel.status();
      kernels.push_back(*kernel);
      continue;
    }
    auto entries = entriesOf(program, spec);
    if (!entries)
      return entries.status();
    for (const std::string &entry : *entries) {
      auto kernel = find(entry);
      if (!kernel)
        return kernel.status();
      kernels.push_back(*kernel);
    }
  }
  return kernels;
}

Expected<const CudaFunction *>
CudaBackend::functionOf(const LoadedKernel &kernel) {
  return shared->modules->function(kernel.binary, kernel.launch->entry);
}

Status CudaBackend::launch(const DeviceRoutingLaunch &launch,
                           const KernelArguments &arguments) {
  auto kernel = find(launch.kernel);
  if (!kernel)
    return kernel.status();
  auto function = functionOf(**kernel);
  if (!function)
    return function.status();
  LaunchShape shape;
  shape.grid = launch.grid;
  shape.threads = launch.threads;
  shape.sharedBytes = launch.sharedBytes;
  return stream().launch(**function, shape, arguments);
}

/// The length of a broken row, whose sign bit is set: lengths that are too
/// large lose it again.
static int64_t countOf(const DeviceTileRecord &tile) {
  constexpr int64_t signBit = int64_t(1) << 31;
  return tile.first < -(signBit >> 1) ? tile.first + signBit : tile.first;
}

Status CudaBackend::finish(BackendCounts &counts) {
  Status done = space->finish();
  for (const Tiles &call : attended) {
    if (!done.ok())
      break;
    int64_t tiles = 0;
    for (int64_t i = 0; i < call.count && done.ok(); ++i) {
      const DeviceTileRecord &tile = call.records[i];
      tiles += tile.count;
      if (tile.first < 0)
        done = makeError("entry ", tile.entry, " of attend, q-block ",
                         tile.qBlock, ": mask row was not written: got count ",
                         countOf(tile), ", expected 0 to ", call.mostBlocks);
    }
    counts.tiles.push_back(tiles);
  }
  for (const Totals &call : routed)
    for (int64_t i = 0; done.ok() && i < call.count; ++i) {
      counts.routing.keptPooledMass += call.records[i].keptMass;
      counts.routing.nearThreshold += call.records[i].nearThreshold;
      counts.routing.rows += call.records[i].rows;
      counts.selected += call.records[i].tiles;
    }
  attended.clear();
  routed.clear();
  scratch.clear();
  return done;
}

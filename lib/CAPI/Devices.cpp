//===- Devices.cpp - Where an engine computes -----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Objects.h"

#include "CudaBackend.h"

using namespace capi;

sart::Status capi::openGpu(sa_engine &engine) {
  auto driver = sart::cuda::CudaDriver::open();
  if (!driver)
    return sart::makeError("device cuda: ", driver.message());
  int ordinal = 0;
  if (engine.hub) {
    // Processes of a machine share its devices.
    int count = 0;
    SART_RETURN_IF_ERROR((*driver)->check((*driver)->deviceGetCount(&count),
                                          "cuDeviceGetCount()"));
    if (count > 0)
      ordinal = static_cast<int>(engine.hub->localRank() % count);
  }
  auto device = sart::cuda::CudaDevice::open(*driver, ordinal);
  if (!device)
    return sart::makeError("device cuda: ", device.message());
  const sart::cuda::DeviceProperties &properties = (*device)->properties();
  // Kernels use instructions of this one architecture.
  constexpr int hopper = 90;
  if (properties.capability() != hopper)
    return sart::makeError("device cuda: got ", properties.name, " (sm_",
                           properties.capability(), "), expected a GPU of sm_",
                           hopper);
  engine.gpuModules = std::make_shared<sart::cuda::CudaModuleTable>(*device);
  engine.gpu = std::move(*device);
  return sart::Status::success();
}

sart::Expected<std::shared_ptr<sart::Backend>>
capi::createBackend(const sa_engine &engine,
                    const std::shared_ptr<sart::KernelTable> &kernels) {
  if (engine.reference)
    return std::shared_ptr<sart::Backend>(
        sart::createReferenceBackend(engine.pool));
  if (!engine.gpu)
    return std::shared_ptr<sart::Backend>(
        sart::createCpuBackend(kernels, engine.pool));
  auto backend =
      sart::cuda::CudaBackend::create(std::make_shared<sart::cuda::CudaShared>(
          engine.gpu, kernels, engine.gpuModules));
  if (!backend)
    return backend.status();
  return std::shared_ptr<sart::Backend>(std::move(*backend));
}

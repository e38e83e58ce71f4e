//===- CudaSession.cpp - A GPU to measure on ------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaSession.h"

using namespace sart;
using namespace sart::cuda;

Expected<CudaSession>
CudaSession::open(std::shared_ptr<const CudaDriver> driver) {
  if (!driver) {
    auto opened = CudaDriver::open();
    if (!opened)
      return opened.status();
    driver = *opened;
  }
  auto device = CudaDevice::open(std::move(driver), 0);
  if (!device)
    return device.status();
  CudaSession session;
  session.device = *device;
  session.scope = std::make_unique<DeviceScope>(*session.device);
  SART_RETURN_IF_ERROR(session.scope->status());
  auto stream = CudaStream::create(session.device);
  if (!stream)
    return stream.status();
  session.stream = *stream;
  return session;
}

std::string CudaSession::describe() const {
  const DeviceProperties &known = device->properties();
  return concat(known.name, ", sm_", known.capability(), ", ",
                known.multiprocessors, " multiprocessors, driver ",
                known.driverVersion / 1000, ".",
                known.driverVersion % 1000 / 10);
}

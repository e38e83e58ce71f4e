//===- CudaMemory.cpp - Memory of a device and pinned memory --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaMemory.h"

#include <utility>

using namespace sart;
using namespace sart::cuda;

Expected<DeviceMemory>
DeviceMemory::allocate(std::shared_ptr<CudaDevice> device, int64_t bytes,
                       const char *what) {
  DeviceMemory memory;
  if (bytes <= 0)
    return memory;
  DeviceScope scope(*device);
  SART_RETURN_IF_ERROR(scope.status());
  const CudaDriver &driver = device->driver();
  Result result = driver.memAlloc(&memory.start, static_cast<size_t>(bytes));
  if (result == errorOutOfMemory) {
    size_t free = 0, total = 0;
    (void)driver.memGetInfo(&free, &total);
    return makeError(what, " on device ", device->ordinal(), ": cuMemAlloc(",
                     bytes, " bytes): got ", driver.describe(result), " with ",
                     free, " of ", total, " bytes free, expected success");
  }
  SART_RETURN_IF_ERROR(driver.check(result, what, " on device ",
                                    device->ordinal(), ": cuMemAlloc(", bytes,
                                    " bytes)"));
  memory.size = bytes;
  memory.device = std::move(device);
  return memory;
}

DeviceMemory::~DeviceMemory() {
  if (!start)
    return;
  DeviceScope scope(*device);
  (void)device->driver().memFree(start);
}

void DeviceMemory::swap(DeviceMemory &other) noexcept {
  std::swap(device, other.device);
  std::swap(start, other.start);
  std::swap(size, other.size);
}

Expected<PinnedMemory>
PinnedMemory::allocate(std::shared_ptr<CudaDevice> device, int64_t bytes,
                       const char *what) {
  PinnedMemory memory;
  if (bytes <= 0)
    return memory;
  DeviceScope scope(*device);
  SART_RETURN_IF_ERROR(scope.status());
  const CudaDriver &driver = device->driver();
  SART_RETURN_IF_ERROR(driver.check(
      driver.memHostAlloc(&memory.start, static_cast<size_t>(bytes),
                          hostAllocPortable),
      what, " of device ", device->ordinal(), ": cuMemHostAlloc(", bytes,
      " bytes)"));
  memory.size = bytes;
  memory.device = std::move(device);
  return memory;
}

PinnedMemory::~PinnedMemory() {
  if (!start)
    return;
  DeviceScope scope(*device);
  (void)device->driver().memFreeHost(start);
}

void PinnedMemory::swap(PinnedMemory &other) noexcept {
  std::swap(device, other.device);
  std::swap(start, other.start);
  std::swap(size, other.size);
}

Expected<bool> sart::cuda::isDeviceOnly(const CudaDevice &device,
                                        const void *pointer) {
  DeviceScope scope(device);
  SART_RETURN_IF_ERROR(scope.status());
  const CudaDriver &driver = device.driver();
  auto address = reinterpret_cast<DevicePtr>(pointer);
  unsigned type = 0, managed = 0;
  Result known = driver.pointerGetAttribute(&type, pointerMemoryType, address);
  if (known == errorInvalidValue)
    return false; // memory that the driver did not make
  SART_RETURN_IF_ERROR(
      driver.check(known, "cuPointerGetAttribute(", pointer, ", memory type)"));
  if (type != memoryDevice)
    return false;
  SART_RETURN_IF_ERROR(driver.check(
      driver.pointerGetAttribute(&managed, pointerIsManaged, address),
      "cuPointerGetAttribute(", pointer, ", is managed)"));
  return managed == 0;
}

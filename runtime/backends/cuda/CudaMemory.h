//===- CudaMemory.h - Memory of a device and pinned memory ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDAMEMORY_H
#define SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDAMEMORY_H

#include "CudaDevice.h"

namespace sart::cuda {

/// Memory of a device, on a 256-byte border. Its content is what was there.
class DeviceMemory {
public:
  DeviceMemory() = default;
  /// `what` names the memory in the error. No bytes: no memory.
  static Expected<DeviceMemory> allocate(std::shared_ptr<CudaDevice> device,
                                         int64_t bytes, const char *what);
  DeviceMemory(DeviceMemory &&other) noexcept { swap(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceMemory();

  DevicePtr address() const { return start; }
  int64_t bytes() const { return size; }

private:
  void swap(DeviceMemory &other) noexcept;
  std::shared_ptr<CudaDevice> device;
  DevicePtr start = 0;
  int64_t size = 0;
};

/// Whether `pointer` is of device memory, which the host cannot reach. Pinned
/// and managed memory is not, nor what the driver knows nothing of.
Expected<bool> isDeviceOnly(const CudaDevice &device, const void *pointer);

/// Host memory that devices read and write without staging.
class PinnedMemory {
public:
  PinnedMemory() = default;
  static Expected<PinnedMemory> allocate(std::shared_ptr<CudaDevice> device,
                                         int64_t bytes, const char *what);
  PinnedMemory(PinnedMemory &&other) noexcept { swap(other); }
  PinnedMemory &operator=(PinnedMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~PinnedMemory();

  char *data() const { return static_cast<char *>(start); }
  int64_t bytes() const { return size; }

private:
  void swap(PinnedMemory &other) noexcept;
  std::shared_ptr<CudaDevice> device;
  void *start = nullptr;
  int64_t size = 0;
};

} // namespace sart::cuda

#endif // SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDAMEMORY_H

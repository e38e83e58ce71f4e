//===- CudaDevice.h - One GPU and its context -------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDADEVICE_H
#define SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDADEVICE_H

#include "CudaDriver.h"

#include <string>

namespace sart::cuda {

/// What a device can do, asked once.
struct DeviceProperties {
  std::string name;
  int capabilityMajor = 0, capabilityMinor = 0;
  int multiprocessors = 0;
  int maxSharedBytes = 0; ///< dynamic shared memory of a CTA, opted in
  int maxGridX = 0;
  int l2CacheBytes = 0;
  int driverVersion = 0; ///< 1000 * major + 10 * minor
  int64_t memoryBytes = 0;
  int capability() const { return 10 * capabilityMajor + capabilityMinor; }
};

/// A device with its primary context, the one that the vendor's runtime and
/// frameworks of the same process use. Shared by everything that lives on it.
class CudaDevice {
public:
  /// Refuses an ordinal that is not there, naming how many are.
  static Expected<std::shared_ptr<CudaDevice>>
  open(std::shared_ptr<const CudaDriver> driver, int ordinal);
  ~CudaDevice();
  CudaDevice(const CudaDevice &) = delete;
  CudaDevice &operator=(const CudaDevice &) = delete;

  const CudaDriver &driver() const { return *table; }
  const DeviceProperties &properties() const { return known; }
  int ordinal() const { return number; }
  Context context() const { return primary; }

private:
  CudaDevice(std::shared_ptr<const CudaDriver> driver, int ordinal)
      : table(std::move(driver)), number(ordinal) {}
  Status readProperties();

  std::shared_ptr<const CudaDriver> table;
  DeviceProperties known;
  int number;
  DeviceOrdinal device = 0;
  Context primary = nullptr;
};

/// Makes the device's context that of the calling thread while this lives, and
/// gives the thread's own back. Calls that need a context say so.
class DeviceScope {
public:
  explicit DeviceScope(const CudaDevice &device);
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;
  const Status &status() const { return entered; }

private:
  const CudaDevice &device;
  Context before = nullptr;
  bool changed = false;
  Status entered;
};

} // namespace sart::cuda

#endif // SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDADEVICE_H

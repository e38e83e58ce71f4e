//===- CudaModule.h - Binaries loaded on a device ---------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDAMODULE_H
#define SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDAMODULE_H

#include "CudaDevice.h"

#include <atomic>
#include <map>
#include <mutex>

namespace sart::cuda {

/// A kernel of a loaded module; lives as long as the module.
struct CudaFunction {
  std::string name;
  FunctionHandle handle = nullptr;
  int registers = 0;  ///< per thread
  int localBytes = 0; ///< per thread: stack and spills
  /// Allows launches with this much dynamic shared memory; never less than
  /// before. Safe to call from several threads.
  Status allowShared(const CudaDriver &driver, int32_t bytes) const;

private:
  mutable std::mutex mutex; ///< held while the limit is set
  mutable std::atomic<int32_t> allowedShared{0};
};

/// A cubin, or PTX text that the driver compiles.
class CudaModule {
public:
  /// `name` is that of the kernels, for messages. What the driver says about
  /// PTX goes into `log`, and into the error where it refuses. PTX whose
  /// products it would serialise or whose registers it would not move is
  /// refused too, and so is a log that fills its room.
  static Expected<std::unique_ptr<CudaModule>>
  load(std::shared_ptr<CudaDevice> device,
       std::shared_ptr<const std::string> image, const std::string &name);
  ~CudaModule();
  CudaModule(const CudaModule &) = delete;
  CudaModule &operator=(const CudaModule &) = delete;

  const std::string &log() const { return driverLog; }
  /// Asked once of the driver. Needs the device's context. A function that the
  /// driver compiled may have no stack and no spills, as one of a cubin.
  Expected<const CudaFunction *> function(const std::string &entry);

private:
  CudaModule(std::shared_ptr<CudaDevice> device,
             std::shared_ptr<const std::string> image)
      : device(std::move(device)), image(std::move(image)) {}
  std::shared_ptr<CudaDevice> device;
  std::shared_ptr<const std::string> image;
  ModuleHandle module = nullptr;
  std::string driverLog;
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<CudaFunction>> functions;
};

/// The modules of one device, each loaded when it is first asked for. Safe to
/// use from several threads.
class CudaModuleTable {
public:
  explicit CudaModuleTable(std::shared_ptr<CudaDevice> device)
      : device(std::move(device)) {}
  /// The function `entry` of `image`; an image is told by its address.
  Expected<const CudaFunction *>
  function(const std::shared_ptr<const std::string> &image,
           const std::string &entry);
  size_t modules() const;

private:
  std::shared_ptr<CudaDevice> device;
  mutable std::mutex mutex;
  std::map<const std::string *, std::unique_ptr<CudaModule>> loaded;
};

} // namespace sart::cuda

#endif // SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDAMODULE_H

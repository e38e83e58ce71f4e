//===- CudaSession.h - A GPU to measure on ----------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_CUDASESSION_H
#define SPARSEATTN_TOOLS_BENCH_CUDASESSION_H

#include "CudaStream.h"

#include <memory>
#include <string>

namespace sart {

/// The first device with its context current, and a stream.
struct CudaSession {
  std::shared_ptr<cuda::CudaDevice> device;
  std::unique_ptr<cuda::DeviceScope> scope; ///< goes before the device
  std::shared_ptr<cuda::CudaStream> stream;

  /// `driver` null: the one of the system. The error names what is missing.
  static Expected<CudaSession>
  open(std::shared_ptr<const cuda::CudaDriver> driver = nullptr);

  /// "NVIDIA H200, sm_90, 132 multiprocessors, driver 13.0".
  std::string describe() const;
};

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_CUDASESSION_H

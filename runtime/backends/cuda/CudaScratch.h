//===- CudaScratch.h - Short-lived memory of launches -----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDASCRATCH_H
#define SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDASCRATCH_H

#include "CudaSpace.h"

#include <cstring>

namespace sart::cuda {

/// Records for kernels, and what kernels write for each other and for the
/// host. Everything lives until clear, which needs the stream's work done; the
/// memory is kept for the next time.
class CudaScratch {
public:
  explicit CudaScratch(CudaSpace &space) : space(space) {}

  /// Device memory, on a 256-byte border.
  Expected<DevicePtr> reserve(int64_t bytes);
  /// The same, filled from the host behind earlier work.
  Expected<DevicePtr> upload(const void *data, int64_t bytes);
  template <typename T>
  Expected<DevicePtr> upload(const std::vector<T> &values) {
    return upload(values.data(),
                  static_cast<int64_t>(values.size() * sizeof(T)));
  }
  /// Host memory that holds the device memory once the stream's work is done.
  Expected<const char *> download(DevicePtr from, int64_t bytes);
  void clear();

private:
  static constexpr int64_t border = 256;
  static constexpr int64_t chunkBytes = int64_t(1) << 20;
  template <typename Memory>
  struct Chunks {
    std::vector<Memory> memory;
    size_t current = 0;
    int64_t used = 0; ///< of the current one
  };
  template <typename Memory>
  Expected<std::pair<Memory *, int64_t>> take(Chunks<Memory> &chunks,
                                              int64_t bytes);

  CudaSpace &space;
  Chunks<DeviceMemory> onDevice;
  Chunks<PinnedMemory> onHost;
};

} // namespace sart::cuda

#endif // SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDASCRATCH_H

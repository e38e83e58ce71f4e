//===- DeviceStaging.h - Data on its way to and from a GPU ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_DEVICESTAGING_H
#define SPARSEATTN_TOOLS_BENCH_DEVICESTAGING_H

#include "CudaMemory.h"
#include "CudaStream.h"

#include <functional>

namespace sart {

/// Calls body(begin, end) for parts of [0, count) in all cores' threads.
void inThreads(int64_t count,
               const std::function<void(int64_t, int64_t)> &body);

/// Copies between the host and a device through pinned memory, and waits for
/// their end. The device's context must be current in all calls.
class DeviceStaging {
public:
  static Expected<DeviceStaging>
  create(std::shared_ptr<cuda::CudaStream> stream);

  /// Makes `memory`, called `what` in messages, at least `bytes` long; what it
  /// held goes if it grows.
  Status reserve(cuda::DeviceMemory &memory, int64_t bytes,
                 const char *what) const;
  /// Makes it so and copies `data` there.
  Status upload(cuda::DeviceMemory &memory, const void *data, size_t bytes,
                const char *what) const;
  Status download(void *to, cuda::DevicePtr from, int64_t bytes) const;
  /// Rows of `elements` 16-bit values each: generate(to, begin, end) writes
  /// rows [begin, end), in several threads at once.
  Status generate(
      const cuda::DeviceMemory &to, int64_t rows, int64_t elements,
      const std::function<void(uint16_t *, int64_t, int64_t)> &generate) const;
  /// Calls look(part, begin, end) for bytes [begin, end), copied to `part`.
  Status
  scan(const cuda::DeviceMemory &from, int64_t bytes,
       const std::function<void(const char *, int64_t, int64_t)> &look) const;

private:
  explicit DeviceStaging(std::shared_ptr<cuda::CudaStream> stream)
      : stream(std::move(stream)) {}

  std::shared_ptr<cuda::CudaStream> stream;
  cuda::PinnedMemory memory;
};

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_DEVICESTAGING_H

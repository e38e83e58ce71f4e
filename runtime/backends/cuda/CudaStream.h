//===- CudaStream.h - Streams, events and graphs ----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDASTREAM_H
#define SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDASTREAM_H

#include "CudaModule.h"

#include <vector>

namespace sart::cuda {

/// A point in a stream that other streams and the host can wait for.
class CudaEvent {
public:
  static Expected<std::shared_ptr<CudaEvent>>
  create(std::shared_ptr<CudaDevice> device, bool timed = false);
  ~CudaEvent();
  CudaEvent(const CudaEvent &) = delete;
  CudaEvent &operator=(const CudaEvent &) = delete;

  EventHandle handle() const { return event; }
  /// Blocks until the point is reached; errors of the work before it surface
  /// here.
  Status synchronize() const;
  /// Milliseconds since `begin`; both timed and reached.
  Expected<float> since(const CudaEvent &begin) const;

private:
  explicit CudaEvent(std::shared_ptr<CudaDevice> device)
      : device(std::move(device)) {}
  std::shared_ptr<CudaDevice> device;
  EventHandle event = nullptr;
};

/// Work captured from a stream, to be launched again.
class CudaGraph {
public:
  ~CudaGraph();
  CudaGraph(const CudaGraph &) = delete;
  CudaGraph &operator=(const CudaGraph &) = delete;
  GraphExecHandle handle() const { return executable; }

private:
  friend class CudaStream;
  explicit CudaGraph(std::shared_ptr<CudaDevice> device)
      : device(std::move(device)) {}
  std::shared_ptr<CudaDevice> device;
  GraphHandle graph = nullptr;
  GraphExecHandle executable = nullptr;
};

/// How many CTAs of how many threads, and dynamic shared memory. Clusters of
/// one CTA.
struct LaunchShape {
  int64_t grid = 0; ///< on x; 0: nothing is launched
  int32_t threads = 0;
  int32_t sharedBytes = 0;
};

/// The values of a kernel's parameters, in order.
class KernelArguments {
public:
  template <typename T>
  KernelArguments &add(const T &value) {
    return addBytes(&value, sizeof(T), alignof(T));
  }
  KernelArguments &addBytes(const void *value, size_t size, size_t alignment);
  /// Addresses of the values; valid until the next add.
  std::vector<void *> pointers() const;

private:
  std::vector<size_t> offsets;
  std::vector<unsigned char> bytes;
};

/// One side of a copy of rows.
struct RowsOf {
  DevicePtr start = 0; ///< of host or device memory: one address space
  int64_t pitch = 0;   ///< bytes between rows
};

/// Work in order. Every call but create needs the device's context (a
/// DeviceScope) and returns at once; errors name the call and its arguments.
class CudaStream {
public:
  static Expected<std::shared_ptr<CudaStream>>
  create(std::shared_ptr<CudaDevice> device);
  ~CudaStream();
  CudaStream(const CudaStream &) = delete;
  CudaStream &operator=(const CudaStream &) = delete;

  const std::shared_ptr<CudaDevice> &device() const { return owner; }
  StreamHandle handle() const { return stream; }

  /// Blocks until all work is done, unlike the rest.
  Status synchronize();
  Status record(const CudaEvent &event);
  Status wait(const CudaEvent &event);
  Status copy(DevicePtr to, DevicePtr from, int64_t bytes);
  /// `rows` rows of `width` bytes.
  Status copyRows(const RowsOf &to, const RowsOf &from, int64_t width,
                  int64_t rows);
  Status fill(DevicePtr to, uint8_t value, int64_t bytes);
  Status fillRows(const RowsOf &to, uint8_t value, int64_t width, int64_t rows);
  Status launch(const CudaFunction &function, const LaunchShape &shape,
                const KernelArguments &arguments);

  Status beginCapture();
  /// What was queued since beginCapture, ready to launch.
  Expected<std::shared_ptr<CudaGraph>> endCapture();
  Status launch(const CudaGraph &graph);

private:
  explicit CudaStream(std::shared_ptr<CudaDevice> device)
      : owner(std::move(device)) {}
  const CudaDriver &driver() const { return owner->driver(); }

  std::shared_ptr<CudaDevice> owner;
  StreamHandle stream = nullptr;
};

} // namespace sart::cuda

#endif // SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDASTREAM_H

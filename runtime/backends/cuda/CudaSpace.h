//===- CudaSpace.h - Windows in device memory -------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDASPACE_H
#define SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDASPACE_H

#include "CudaMemory.h"
#include "CudaStream.h"
#include "sparseattn-rt/MemorySpace.h"

namespace sart::cuda {

/// Events to use again.
class CudaEventPool {
public:
  CudaEventPool(std::shared_ptr<CudaDevice> device, bool timed)
      : device(std::move(device)), timed(timed) {}
  Expected<std::shared_ptr<CudaEvent>> take();
  void give(std::shared_ptr<CudaEvent> event);

private:
  std::shared_ptr<CudaDevice> device;
  const bool timed;
  std::mutex mutex;
  std::vector<std::shared_ptr<CudaEvent>> free;
};

inline DevicePtr addressOf(const void *memory) {
  return static_cast<DevicePtr>(reinterpret_cast<uintptr_t>(memory));
}

/// Device memory in the order of one stream. Fences are events: spaces of one
/// process order themselves without the host.
class CudaSpace final : public MemorySpace {
public:
  static Expected<std::unique_ptr<CudaSpace>>
  create(std::shared_ptr<CudaDevice> device);

  CudaStream &stream() { return *work; }
  const std::shared_ptr<CudaDevice> &device() const { return work->device(); }

  bool onHost() const override { return false; }
  Expected<std::shared_ptr<char>> allocate(int64_t bytes,
                                           const std::string &what) override;
  Status fill(const MemoryRows &to, uint8_t value) override;
  Status copy(const SegmentList &from, const SegmentList &to) override;
  Status fromHost(const MemoryRows &to, const MemoryRows &from) override;
  Status toHost(const MemoryRows &to, const MemoryRows &from) override;
  Expected<std::shared_ptr<Fence>> order() override;
  Status after(const Fence &fence) override;
  Expected<std::shared_ptr<Fence>> mark() override;
  Expected<int64_t> nanoseconds(const Fence &begin, const Fence &end) override;
  Status finish() override;

private:
  explicit CudaSpace(std::shared_ptr<CudaStream> stream)
      : work(std::move(stream)),
        events(std::make_shared<CudaEventPool>(work->device(), false)),
        timedEvents(std::make_shared<CudaEventPool>(work->device(), true)) {}
  Expected<std::shared_ptr<Fence>>
  record(const std::shared_ptr<CudaEventPool> &pool);

  std::shared_ptr<CudaStream> work;
  std::shared_ptr<CudaEventPool> events, timedEvents;
};

} // namespace sart::cuda

#endif // SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDASPACE_H

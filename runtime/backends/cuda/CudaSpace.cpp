//===- CudaSpace.cpp - Windows in device memory ---------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaSpace.h"

#include <algorithm>

using namespace sart;
using namespace sart::cuda;

namespace {

class CudaFence final : public Fence {
public:
  CudaFence(std::shared_ptr<CudaEvent> event,
            std::shared_ptr<CudaEventPool> pool)
      : event(std::move(event)), pool(std::move(pool)) {}
  ~CudaFence() override { pool->give(std::move(event)); }

  std::shared_ptr<CudaEvent> event;

private:
  std::shared_ptr<CudaEventPool> pool;
};

/// Copies that follow each other at equal distances, as rows of one copy.
class CopyRun {
public:
  explicit CopyRun(CudaStream &stream) : stream(stream) {}

  Status add(DevicePtr newTo, DevicePtr newFrom, int64_t bytes) {
    if (rows > 0 && bytes == width) {
      auto toStep = static_cast<int64_t>(newTo - to) - (rows - 1) * toPitch;
      auto fromStep =
          static_cast<int64_t>(newFrom - from) - (rows - 1) * fromPitch;
      bool fits = rows == 1 ? toStep >= width && fromStep >= width
                            : toStep == toPitch && fromStep == fromPitch;
      if (fits && toStep < mostPitch && fromStep < mostPitch) {
        toPitch = toStep;
        fromPitch = fromStep;
        ++rows;
        return Status::success();
      }
    }
    SART_RETURN_IF_ERROR(flush());
    to = newTo;
    from = newFrom;
    width = bytes;
    rows = 1;
    toPitch = fromPitch = 0;
    return Status::success();
  }

  Status flush() {
    int64_t count = rows;
    rows = 0;
    return stream.copyRows({to, toPitch}, {from, fromPitch}, width, count);
  }

private:
  /// Devices bound the pitch of a copy; every one of them allows this much.
  static constexpr int64_t mostPitch = int64_t(1) << 30;
  CudaStream &stream;
  DevicePtr to = 0, from = 0;
  int64_t toPitch = 0, fromPitch = 0, width = 0, rows = 0;
};

} // namespace

Expected<std::shared_ptr<CudaEvent>> CudaEventPool::take() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!free.empty()) {
      std::shared_ptr<CudaEvent> event = std::move(free.back());
      free.pop_back();
      return event;
    }
  }
  return CudaEvent::create(device, timed);
}

void CudaEventPool::give(std::shared_ptr<CudaEvent> event) {
  std::lock_guard<std::mutex> lock(mutex);
  free.push_back(std::move(event));
}

Expected<std::unique_ptr<CudaSpace>>
CudaSpace::create(std::shared_ptr<CudaDevice> device) {
  auto stream = CudaStream::create(std::move(device));
  if (!stream)
    return stream.status();
  return std::unique_ptr<CudaSpace>(new CudaSpace(std::move(*stream)));
}

Expected<std::shared_ptr<char>> CudaSpace::allocate(int64_t bytes,
                                                    const std::string &what) {
  constexpr int64_t cacheLine = 64;
  auto memory =
      DeviceMemory::allocate(device(), bytes + cacheLine, what.c_str());
  if (!memory)
    return memory.status();
  auto owner = std::make_shared<DeviceMemory>(std::move(*memory));
  DeviceScope scope(*device());
  SART_RETURN_IF_ERROR(scope.status());
  SART_RETURN_IF_ERROR(work->fill(owner->address(), 0, bytes + cacheLine));
  // Addresses of the device are numbers; the executor's are pointers.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  auto *start = reinterpret_cast<char *>(owner->address());
  return std::shared_ptr<char>(owner, start);
}

Status CudaSpace::fill(const MemoryRows &to, uint8_t value) {
  DeviceScope scope(*device());
  SART_RETURN_IF_ERROR(scope.status());
  return work->fillRows({addressOf(to.data), to.pitch}, value, to.width,
                        to.rows);
}

Status CudaSpace::copy(const SegmentList &from, const SegmentList &to) {
  int64_t fromBytes = totalBytes(from), toBytes = totalBytes(to);
  if (fromBytes != toBytes)
    return makeError("sizes of source and destination differ: got ", fromBytes,
                     " bytes, expected ", toBytes, " bytes");
  DeviceScope scope(*device());
  SART_RETURN_IF_ERROR(scope.status());
  CopyRun run(*work);
  size_t source = 0;
  int64_t sourceOffset = 0;
  for (const Segment &target : to) {
    int64_t done = 0;
    while (done < target.bytes) {
      const Segment &piece = from[source];
      int64_t bytes = std::min(piece.bytes - sourceOffset, target.bytes - done);
      DevicePtr begin =
          addressOf(piece.data) + static_cast<DevicePtr>(sourceOffset);
      DevicePtr end = addressOf(target.data) + static_cast<DevicePtr>(done);
      if (bytes > 0 && begin != end)
        SART_RETURN_IF_ERROR(run.add(end, begin, bytes));
      done += bytes;
      sourceOffset += bytes;
      if (sourceOffset == piece.bytes) {
        ++source;
        sourceOffset = 0;
      }
    }
  }
  return run.flush();
}

Status CudaSpace::fromHost(const MemoryRows &to, const MemoryRows &from) {
  DeviceScope scope(*device());
  SART_RETURN_IF_ERROR(scope.status());
  return work->copyRows({addressOf(to.data), to.pitch},
                        {addressOf(from.data), from.pitch}, to.width, to.rows);
}

Status CudaSpace::toHost(const MemoryRows &to, const MemoryRows &from) {
  return fromHost(to, from); // one address space
}

Expected<std::shared_ptr<Fence>> CudaSpace::order() { return record(events); }

Expected<std::shared_ptr<Fence>> CudaSpace::mark() {
  return record(timedEvents);
}

Expected<int64_t> CudaSpace::nanoseconds(const Fence &begin, const Fence &end) {
  auto *first = dynamic_cast<const CudaFence *>(&begin);
  auto *last = dynamic_cast<const CudaFence *>(&end);
  if (!first || !last)
    return makeError("mark belongs to another kind of memory: expected one of "
                     "the cuda backend");
  auto milliseconds = last->event->since(*first->event);
  if (!milliseconds)
    return milliseconds.status();
  return static_cast<int64_t>(static_cast<double>(*milliseconds) * 1e6);
}

Expected<std::shared_ptr<Fence>>
CudaSpace::record(const std::shared_ptr<CudaEventPool> &pool) {
  DeviceScope scope(*device());
  SART_RETURN_IF_ERROR(scope.status());
  auto event = pool->take();
  if (!event)
    return event.status();
  auto fence = std::make_shared<CudaFence>(std::move(*event), pool);
  SART_RETURN_IF_ERROR(work->record(*fence->event));
  return std::shared_ptr<Fence>(std::move(fence));
}

Status CudaSpace::after(const Fence &fence) {
  auto *point = dynamic_cast<const CudaFence *>(&fence);
  if (!point)
    return makeError("fence belongs to another kind of memory: expected one of "
                     "the cuda backend");
  DeviceScope scope(*device());
  SART_RETURN_IF_ERROR(scope.status());
  return work->wait(*point->event);
}

Status CudaSpace::finish() {
  DeviceScope scope(*device());
  SART_RETURN_IF_ERROR(scope.status());
  return work->synchronize();
}

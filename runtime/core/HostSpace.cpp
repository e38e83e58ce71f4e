//===- HostSpace.cpp - Windows in host memory -----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/HostMemory.h"
#include "sparseattn-rt/MemorySpace.h"

#include <algorithm>
#include <cstring>

using namespace sart;

namespace {

class HostSpace final : public MemorySpace {
public:
  bool onHost() const override { return true; }

  Expected<std::shared_ptr<char>> allocate(int64_t bytes,
                                           const std::string &what) override {
    // One more line, so that an empty window has an address as well.
    HostMemory memory = allocateHostMemory(bytes + cacheLine);
    if (!memory)
      return makeError(what, " not available: got no ", bytes, " bytes");
    return std::shared_ptr<char>(std::move(memory));
  }

  Status fill(const MemoryRows &to, uint8_t value) override {
    for (int64_t row = 0; row < to.rows; ++row)
      std::memset(static_cast<char *>(to.data) + row * to.pitch, value,
                  static_cast<size_t>(to.width));
    return Status::success();
  }

  Status copy(const SegmentList &from, const SegmentList &to) override {
    return copySegments(from, to);
  }

  Status fromHost(const MemoryRows &to, const MemoryRows &from) override {
    for (int64_t row = 0; row < to.rows; ++row)
      std::memcpy(static_cast<char *>(to.data) + row * to.pitch,
                  static_cast<const char *>(from.data) + row * from.pitch,
                  static_cast<size_t>(to.width));
    return Status::success();
  }
  Status toHost(const MemoryRows &to, const MemoryRows &from) override {
    return fromHost(to, from);
  }

  Expected<std::shared_ptr<Fence>> order() override {
    return std::shared_ptr<Fence>();
  }
  Status after(const Fence &) override { return Status::success(); }
  Expected<std::shared_ptr<Fence>> mark() override { return order(); }
  Expected<int64_t> nanoseconds(const Fence &, const Fence &) override {
    return int64_t(0);
  }
  Status finish() override { return Status::success(); }

private:
  static constexpr int64_t cacheLine = 64;
};

} // namespace

MemorySpace &sart::hostMemorySpace() {
  static HostSpace space;
  return space;
}

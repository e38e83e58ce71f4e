//===- MemorySpace.h - Where the windows of a rank live ---------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_MEMORYSPACE_H
#define SPARSEATTN_RT_MEMORYSPACE_H

#include "sparseattn-rt/Transport.h"

#include <memory>

namespace sart {

/// A point in the order of a space's work.
class Fence {
public:
  virtual ~Fence() = default;
};

/// `rows` rows of `width` bytes, `pitch` bytes from one to the next.
struct MemoryRows {
  void *data = nullptr;
  int64_t pitch = 0;
  int64_t width = 0;
  int64_t rows = 0;
};

/// Memory of one rank's windows and the order of the work on it. Work on a
/// space other than the host's may still be under way when a call returns; it
/// keeps the order of the calls. Used by one thread at a time, except that
/// `order` may be called by the thread of another rank.
class MemorySpace {
public:
  virtual ~MemorySpace() = default;
  /// Whether the host reads and writes the memory itself, at any time.
  virtual bool onHost() const = 0;
  /// Zero bytes on a 64-byte border, at least one cache line, freed with the
  /// last pointer. `what` names them in the error.
  virtual Expected<std::shared_ptr<char>> allocate(int64_t bytes,
                                                   const std::string &what) = 0;
  virtual Status fill(const MemoryRows &to, uint8_t value) = 0;
  /// Within the space, and between spaces of one machine; as copySegments.
  virtual Status copy(const SegmentList &from, const SegmentList &to) = 0;
  /// `from` is memory that the host has, or that the space's device reaches.
  /// Memory that may be swapped out is free for other uses when the call
  /// returns; what the device reads itself (pinned memory, its own) must stay
  /// as it is until the next finish. Rows and widths agree.
  virtual Status fromHost(const MemoryRows &to, const MemoryRows &from) = 0;
  /// `to` is host memory, filled after the next finish.
  virtual Status toHost(const MemoryRows &to, const MemoryRows &from) = 0;
  /// All work so far; null: there is never any under way.
  virtual Expected<std::shared_ptr<Fence>> order() = 0;
  /// Later work waits for `fence`, which may come from another space.
  virtual Status after(const Fence &fence) = 0;
  /// A fence whose time is known after the next finish; null on the host.
  virtual Expected<std::shared_ptr<Fence>> mark() = 0;
  /// From one mark of this space to a later one.
  virtual Expected<int64_t> nanoseconds(const Fence &begin,
                                        const Fence &end) = 0;
  /// Waits for all work; errors of work under way surface here.
  virtual Status finish() = 0;
};

/// Host memory; shared by all ranks.
MemorySpace &hostMemorySpace();

} // namespace sart

#endif // SPARSEATTN_RT_MEMORYSPACE_H

//===- FrameChannel.h - Ordered frames between processes --------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_FRAMECHANNEL_H
#define SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_FRAMECHANNEL_H

#include "sparseattn-rt/Status.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace sart {

using Frame = std::vector<uint8_t>;

/// One process's end of reliable frames, in order for each pair of processes.
/// No call waits for another process. Used by one thread at a time.
class FrameChannel {
public:
  /// A frame from another process, or, as null, that nothing will come from it
  /// any more.
  using Take = std::function<void(int64_t peer, const Frame *frame)>;

  virtual ~FrameChannel() = default;
  virtual const char *name() const = 0;
  virtual int64_t rank() const = 0;
  virtual int64_t ranks() const = 0;
  /// Number of the process among those of its machine.
  virtual int64_t localRank() const = 0;
  /// Queues a frame for another process.
  virtual Status send(int64_t peer, Frame frame) = 0;
  /// Bytes queued for `peer` that have not left yet.
  virtual int64_t queued(int64_t peer) const = 0;
  /// Moves what can be moved, and hands over what has arrived.
  virtual Status poll(const Take &take) = 0;
  /// Ends the channel after the last frame, within about `milliseconds`.
  /// `orderly`: whether the others are known to end theirs, too.
  virtual void close(bool orderly, int64_t milliseconds) = 0;
};

} // namespace sart

#endif // SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_FRAMECHANNEL_H

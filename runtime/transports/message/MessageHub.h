//===- MessageHub.h - Transports over ordered frames ------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two-sided and one-sided transfers, signals, gathers and aborts as frames. All
// work is done inside of the calls of a transport; there is no thread.
//
//   offer    a send: its number and size, and the bytes where they are few
//   accept   its receive was posted: the bytes of a large one may come
//   piece    a part of them
//   answer   the receive has them, or is of another size: the send is done
//   withdraw a send that was given up
//   put, signal, value (of an all-gather), retract, abort, leave
//
// A frame carries the transport's number and its epoch, which counts resets:
// older ones are dropped, later ones wait.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_MESSAGEHUB_H
#define SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_MESSAGEHUB_H

#include "FrameChannel.h"
#include "sparseattn-rt/TransportHub.h"

#include <cstring>
#include <deque>
#include <map>
#include <mutex>

namespace sart {

enum class FrameKind : uint32_t {
  Offer,
  Accept,
  Piece,
  Answer,
  Withdraw,
  Put,
  Signal,
  Value,
  Retract,
  Abort,
  Leave
};
constexpr uint32_t numFrameKinds = 11;

/// What a frame begins with. Processes of one run are of one architecture.
struct FrameHeader {
  FrameKind kind = FrameKind::Offer;
  uint32_t transport = 0;
  uint64_t epoch = 0;
  uint32_t lane = 0; ///< the program's transfers, or those of gathers
  uint32_t unused = 0;
  uint64_t sequence = 0;
  uint64_t value = 0; ///< bytes of a transfer, offset of a piece, a value
};

/// A frame of `header` and `payload` bytes to be filled in.
Frame makeFrame(const FrameHeader &header, size_t payload = 0);

class MessageTransport;

/// Holds the channel and hands each frame to its transport.
class MessageHub final : public TransportHub,
                         public std::enable_shared_from_this<MessageHub> {
public:
  static std::shared_ptr<MessageHub>
  create(std::unique_ptr<FrameChannel> channel);
  /// Says good-bye, and waits for those of the others: not for long after an
  /// abort or a failure. Others that still wait for this process learn of it.
  ~MessageHub() override;

  const char *name() const override { return channel->name(); }
  int64_t rank() const override { return channel->rank(); }
  int64_t ranks() const override { return channel->ranks(); }
  int64_t localRank() const override { return channel->localRank(); }
  Expected<std::unique_ptr<Transport>>
  createTransport(int64_t timeoutMs) override;
  Expected<std::unique_ptr<MessageTransport>>
  createMessageTransport(int64_t timeoutMs);

private:
  friend class MessageTransport;
  explicit MessageHub(std::unique_ptr<FrameChannel> channel);
  void remove(uint32_t number);

  // The rest is called with the lock held.
  Status send(int64_t peer, Frame frame);
  void broadcast(const Frame &frame);
  Status poll();
  void take(int64_t peer, const Frame *frame);
  bool hasLeft(int64_t peer) const { return left[static_cast<size_t>(peer)]; }

  std::mutex mutex;
  std::unique_ptr<FrameChannel> channel;
  std::map<uint32_t, MessageTransport *> transports;
  uint32_t created = 0;
  bool failed = false;    ///< since the last reset of any transport
  std::vector<bool> left; ///< by rank: nothing will come any more
  std::deque<Frame> toSelf;
  /// Frames for transports that this process has not created yet.
  std::vector<std::pair<int64_t, Frame>> early;
};

} // namespace sart

#endif // SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_MESSAGEHUB_H

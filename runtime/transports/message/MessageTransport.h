//===- MessageTransport.h - One rank over ordered frames --------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_MESSAGETRANSPORT_H
#define SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_MESSAGETRANSPORT_H

#include "MessageHub.h"
#include "sparseattn-rt/MemorySpace.h"

#include <chrono>
#include <optional>

namespace sart {

/// A list of segments that is read or written from front to back.
struct SegmentCursor {
  SegmentList segments;
  size_t index = 0;
  int64_t offset = 0; ///< in that segment

  void read(uint8_t *to, int64_t bytes);
  void write(const uint8_t *from, int64_t bytes);
};

/// A send or receive, on the side that posted it.
struct MessageTransfer final : TransferHandle {
  int64_t peer = 0;
  bool isSend = false;
  uint32_t lane = 0;
  uint64_t sequence = 0; ///< of the offer, once known
  SegmentCursor memory;  ///< the host's
  int64_t bytes = 0;
  int64_t moved = 0; ///< of large ones: bytes sent, or received
  bool accepted = false;
  bool done = false;
  Status result;
  // Memory that the host does not reach goes through `staging`.
  std::vector<char> staging;
  SegmentList elsewhere;
};

/// What the payload of a put begins with; chunk integers and bytes follow.
struct PutHead {
  int64_t window = 0;
  uint64_t chunks = 0; ///< integers
  int64_t bytes = 0;   ///< of the whole put
};

/// One rank, alone in its process.
class MessageTransport final : public Transport, public Endpoint {
public:
  ~MessageTransport() override;

  int64_t ranks() const override { return hub->ranks(); }
  const std::vector<int64_t> &localRanks() const override { return own; }
  Endpoint &endpoint(int64_t) override { return *this; }
  void useSpaces(std::vector<MemorySpace *> spaces) override;
  void useWindows(std::vector<WindowResolver> windows) override;
  void reset() override;

  int64_t rank() const override { return hub->rank(); }
  Expected<std::shared_ptr<TransferHandle>> send(int64_t peer,
                                                 SegmentList from) override;
  Expected<std::shared_ptr<TransferHandle>> recv(int64_t peer,
                                                 SegmentList to) override;
  Status wait(TransferHandle &handle) override;
  Status put(int64_t peer, const SegmentList &from,
             const RemoteRows &to) override;
  Status signal(int64_t peer) override;
  Status waitSignal(int64_t peer) override;
  Expected<std::vector<uint64_t>> allGather(uint64_t value) override;
  Status barrier() override;
  Expected<std::vector<std::string>> gather(int64_t root,
                                            const std::string &bytes) override;
  void abort(const std::string &reason) override;

  /// The abort's error, where there was one; for transports that move data
  /// by other means and use this one beside them. Makes progress.
  Status checkAborted();
  int64_t timeoutMs() const { return timeout.count(); }

private:
  friend class MessageHub;
  MessageTransport(std::shared_ptr<MessageHub> hub, uint32_t number,
                   int64_t timeoutMs);

  static constexpr size_t numLanes = 2;
  /// Most bytes of a transfer in one frame.
  static constexpr int64_t pieceBytes = int64_t(512) << 10;
  struct Offer {
    uint64_t sequence = 0;
    int64_t bytes = 0;
    std::vector<uint8_t> payload; ///< of small ones
  };
  /// What one peer has sent, and is sent.
  struct Lane {
    uint64_t offered = 0; ///< sequence of the next offer
    std::map<uint64_t, std::shared_ptr<MessageTransfer>> sends;
    std::deque<Offer> offers;
    std::deque<std::shared_ptr<MessageTransfer>> receives; ///< not matched
    std::map<uint64_t, std::shared_ptr<MessageTransfer>> receiving;
  };
  struct Peer {
    Lane lanes[numLanes];
    int64_t signals = 0;
    std::map<uint64_t, uint64_t> values; ///< of all-gathers, by their number
    std::vector<Frame> later;            ///< of epochs to come
  };

  // Called with the hub's lock held.
  void take(int64_t peer, const Frame &frame);
  void handle(int64_t peer, const FrameHeader &header, const uint8_t *payload,
              size_t size);
  void takeAnswer(int64_t peer, Lane &lane, const FrameHeader &header);
  void takePut(int64_t peer, int64_t offset, const uint8_t *payload,
               size_t size);
  Status storePut(const RemoteRows &rows, int64_t bytes, int64_t offset,
                  const uint8_t *from, int64_t count);
  void takePiece(int64_t peer, Lane &lane, const FrameHeader &header,
                 const uint8_t *payload, size_t size);
  /// Joins offers and receives in order.
  void match(int64_t peer, uint32_t lane);
  /// All bytes of a receive are there.
  void finishReceive(MessageTransfer &transfer);
  /// Sends pieces of what was accepted, while the channel keeps up.
  Status pump();
  /// Takes a transfer that is not done out of its lane.
  void forget(MessageTransfer &transfer, bool tellPeer);
  void abortLocked(int64_t origin, const std::string &reason);
  FrameHeader headerOf(FrameKind kind, uint32_t lane = 0, uint64_t sequence = 0,
                       uint64_t value = 0) const;
  Status checkPeer(const char *what, int64_t peer) const;
  Peer &peerOf(int64_t peer) { return peers[static_cast<size_t>(peer)]; }

  Expected<std::shared_ptr<MessageTransfer>> post(int64_t peer, uint32_t lane,
                                                  bool isSend,
                                                  SegmentList segments,
                                                  bool staged);
  enum class Awaited { Done, Late, Failed };
  /// Makes progress until done() is true, the time is over, or it cannot become
  /// true any more: after an abort, and when missing(peer) has left. With the
  /// hub's lock held when it returns.
  Awaited await(const std::function<bool()> &done,
                const std::function<bool(int64_t peer)> &missing,
                std::unique_lock<std::mutex> &lock, Status &why);

  std::shared_ptr<MessageHub> hub;
  const uint32_t number;
  const std::chrono::milliseconds timeout;
  std::vector<int64_t> own;
  MemorySpace *space = nullptr; ///< null: host memory
  WindowResolver window;

  uint64_t epoch = 0;
  uint64_t gathers = 0; ///< all-gathers that ended
  std::vector<Peer> peers;
  std::optional<std::string> aborted;
  Status putFailure; ///< of one that arrived
};

} // namespace sart

#endif // SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_MESSAGETRANSPORT_H

//===- LocalState.h - Shared state of ranks in one process ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_TRANSPORTS_LOCAL_LOCALSTATE_H
#define SPARSEATTN_RUNTIME_TRANSPORTS_LOCAL_LOCALSTATE_H

#include "sparseattn-rt/MemorySpace.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace sart {

class LocalEndpoint;

/// A send or receive that waits for its partner, or has met it. Whoever comes
/// second copies, straight from the sender's memory.
struct LocalTransfer final : TransferHandle {
  enum State : int { Pending, Copying, Done };

  int64_t from = 0, to = 0;
  bool isSend = false;
  SegmentList segments;
  int64_t bytes = 0;
  std::atomic<int> state{
      Pending};  ///< Pending -> Copying under the channel lock
  Status result; ///< read once the state is Done
  /// The owner's work before the transfer, and the copy: null in host memory.
  std::shared_ptr<Fence> before, copied;

  int64_t owner() const { return isSend ? from : to; }
};

/// One ordered pair of ranks. At most one of the queues holds entries.
struct LocalChannel {
  std::mutex mutex;
  std::deque<std::shared_ptr<LocalTransfer>> sends, recvs;
};

/// Where one rank sleeps. `signals[from]` counts raised flags.
struct alignas(64) LocalWaiter {
  std::mutex mutex;
  std::condition_variable wake;
  std::vector<int64_t> signals;
  std::vector<std::deque<std::shared_ptr<Fence>>> fences; ///< of the signals
};

struct LocalTransport::State {
  int64_t ranks = 0;
  std::chrono::milliseconds timeout{0};
  std::vector<std::unique_ptr<LocalEndpoint>> endpoints;
  std::vector<std::unique_ptr<LocalChannel>> channels; ///< [from * ranks + to]
  std::vector<std::unique_ptr<LocalWaiter>> waiters;
  std::vector<MemorySpace *> spaces;   ///< by rank; empty: host memory
  std::vector<WindowResolver> windows; ///< by rank
  std::vector<int64_t> allRanks;

  std::atomic<bool> aborted{false};
  std::mutex abortMutex;
  std::string abortMessage;
  /// Room that the message keeps for when there is no memory for a longer one.
  static constexpr size_t abortMessageBytes = 64;

  // Rendezvous of all ranks. A generation's values stay readable until every
  // rank has entered the next one.
  std::mutex gatherMutex;
  std::condition_variable gatherWake;
  std::vector<uint64_t> entering, gathered;
  std::vector<std::string> gatheredBytes; ///< by rank; see gather
  std::vector<bool> present;
  int64_t entered = 0;
  uint64_t generation = 0;

  LocalChannel &channel(int64_t from, int64_t to) {
    return *channels[static_cast<size_t>(from * ranks + to)];
  }
  LocalWaiter &waiter(int64_t rank) {
    return *waiters[static_cast<size_t>(rank)];
  }
  /// Null: all memory is the host's and there is nothing to order.
  MemorySpace *spaceOf(int64_t rank) {
    return spaces.empty() ? nullptr : spaces[static_cast<size_t>(rank)];
  }
  /// Copies by the work of `rank`, after `before`.
  Status copy(int64_t rank, const SegmentList &from, const SegmentList &to,
              const Fence *before, std::shared_ptr<Fence> &copied);
  Status abortStatus();
  void abort(int64_t rank, const std::string &reason);
  /// Publishes the result and wakes the owner.
  void complete(LocalTransfer &transfer, Status result);
  /// Takes a transfer that has not met its partner out of its queue.
  bool withdraw(LocalTransfer &transfer);
};

/// One rank's end; all state is shared.
class LocalEndpoint final : public Endpoint {
public:
  LocalEndpoint(LocalTransport::State &state, int64_t rank)
      : state(state), self(rank) {}

  int64_t rank() const override { return self; }
  int64_t ranks() const override { return state.ranks; }
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

private:
  Status checkPeer(const char *what, int64_t peer);
  /// A transfer that is done: its result, and later work after its copy.
  Status settle(const LocalTransfer &transfer);
  Expected<std::shared_ptr<TransferHandle>> post(int64_t peer, bool isSend,
                                                 SegmentList segments);

  LocalTransport::State &state;
  int64_t self;
};

} // namespace sart

#endif // SPARSEATTN_RUNTIME_TRANSPORTS_LOCAL_LOCALSTATE_H

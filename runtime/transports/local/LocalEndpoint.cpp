//===- LocalEndpoint.cpp - One rank's calls -------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LocalState.h"

#include <thread>

using namespace sart;

using Clock = std::chrono::steady_clock;

/// Longest time that a waiting rank keeps its core before it sleeps.
static constexpr std::chrono::microseconds spinTime(50);

Status LocalEndpoint::checkPeer(const char *what, int64_t peer) {
  if (peer < 0 || peer >= state.ranks)
    return makeError("peer of ", what, " out of range: got ", peer,
                     ", expected 0 to ", state.ranks - 1);
  if (state.aborted.load(std::memory_order_acquire))
    return state.abortStatus();
  return Status::success();
}

static Status sizeMismatch(const LocalTransfer &send,
                           const LocalTransfer &recv) {
  return makeError("sizes of send and receive differ from rank ", send.from,
                   " to rank ", send.to, ": got ", send.bytes,
                   " bytes sent, expected ", recv.bytes, " bytes received");
}

Expected<std::shared_ptr<TransferHandle>>
LocalEndpoint::post(int64_t peer, bool isSend, SegmentList segments) {
  SART_RETURN_IF_ERROR(checkPeer(isSend ? "send" : "recv", peer));
  auto own = std::make_shared<LocalTransfer>();
  own->isSend = isSend;
  own->from = isSend ? self : peer;
  own->to = isSend ? peer : self;
  own->bytes = totalBytes(segments);
  own->segments = std::move(segments);
  if (MemorySpace *space = state.spaceOf(self)) {
    auto before = space->order();
    if (!before)
      return before.status();
    own->before = std::move(*before);
  }

  std::shared_ptr<LocalTransfer> partner;
  {
    LocalChannel &pair = state.channel(own->from, own->to);
    std::lock_guard<std::mutex> lock(pair.mutex);
    auto &waiting = isSend ? pair.recvs : pair.sends;
    if (waiting.empty()) {
      (isSend ? pair.sends : pair.recvs).push_back(own);
      return std::shared_ptr<TransferHandle>(std::move(own));
    }
    partner = std::move(waiting.front());
    waiting.pop_front();
    partner->state.store(LocalTransfer::Copying, std::memory_order_relaxed);
  }
  LocalTransfer &send = isSend ? *own : *partner;
  LocalTransfer &recv = isSend ? *partner : *own;
  Status result = send.bytes == recv.bytes
                      ? state.copy(self, send.segments, recv.segments,
                                   partner->before.get(), partner->copied)
                      : sizeMismatch(send, recv);
  own->result = result;
  own->state.store(LocalTransfer::Done, std::memory_order_release);
  state.complete(*partner, std::move(result));
  return std::shared_ptr<TransferHandle>(std::move(own));
}

Expected<std::shared_ptr<TransferHandle>>
LocalEndpoint::send(int64_t peer, SegmentList from) {
  return post(peer, /*isSend=*/true, std::move(from));
}

Expected<std::shared_ptr<TransferHandle>> LocalEndpoint::recv(int64_t peer,
                                                              SegmentList to) {
  return post(peer, /*isSend=*/false, std::move(to));
}

Status LocalEndpoint::wait(TransferHandle &handle) {
  auto *transfer = dynamic_cast<LocalTransfer *>(&handle);
  if (!transfer)
    return makeError("transfer handle belongs to another transport: expected "
                     "one of the local transport");
  auto done = [&] {
    return transfer->state.load(std::memory_order_acquire) ==
           LocalTransfer::Done;
  };
  Clock::time_point begin = Clock::now();
  while (!done() && !state.aborted.load(std::memory_order_acquire) &&
         Clock::now() - begin < spinTime)
    std::this_thread::yield();
  if (done())
    return settle(*transfer);

  LocalWaiter &waiter = state.waiter(self);
  {
    std::unique_lock<std::mutex> lock(waiter.mutex);
    waiter.wake.wait_until(lock, begin + state.timeout, [&] {
      return done() || state.aborted.load(std::memory_order_acquire);
    });
  }
  if (done())
    return settle(*transfer);
  if (state.withdraw(*transfer)) {
    if (state.aborted.load(std::memory_order_acquire))
      return state.abortStatus();
    return makeError(transfer->isSend ? "send to rank " : "receive from rank ",
                     transfer->isSend ? transfer->to : transfer->from,
                     " not met in time: got nothing within ",
                     state.timeout.count(), " ms, expected its ",
                     transfer->isSend ? "receive" : "send", " of ",
                     transfer->bytes, " bytes");
  }
  // The peer is copying: the memory is in use until it has finished.
  std::unique_lock<std::mutex> lock(waiter.mutex);
  waiter.wake.wait(lock, done);
  return settle(*transfer);
}

Status LocalEndpoint::settle(const LocalTransfer &transfer) {
  MemorySpace *space = state.spaceOf(self);
  if (space && transfer.copied && transfer.result.ok())
    SART_RETURN_IF_ERROR(space->after(*transfer.copied));
  return transfer.result;
}

Status LocalEndpoint::put(int64_t peer, const SegmentList &from,
                          const RemoteRows &to) {
  SART_RETURN_IF_ERROR(checkPeer("put", peer));
  auto owner = static_cast<size_t>(peer);
  if (owner >= state.windows.size() || !state.windows[owner])
    return makeError("put into window ", to.window, " of rank ", peer,
                     ": got a rank without windows, expected one with them");
  auto memory = state.windows[owner](to);
  if (!memory)
    return memory.status();
  std::shared_ptr<Fence> copied; // the signal brings the order to the peer
  return state.copy(self, from, *memory, nullptr, copied);
}

Status LocalEndpoint::signal(int64_t peer) {
  SART_RETURN_IF_ERROR(checkPeer("signal", peer));
  std::shared_ptr<Fence> fence;
  if (MemorySpace *space = state.spaceOf(self)) {
    auto order = space->order();
    if (!order)
      return order.status();
    fence = std::move(*order);
  }
  LocalWaiter &waiter = state.waiter(peer);
  std::lock_guard<std::mutex> lock(waiter.mutex);
  ++waiter.signals[static_cast<size_t>(self)];
  if (fence)
    waiter.fences[static_cast<size_t>(self)].push_back(std::move(fence));
  waiter.wake.notify_all();
  return Status::success();
}

Status LocalEndpoint::waitSignal(int64_t peer) {
  SART_RETURN_IF_ERROR(checkPeer("wait for signal", peer));
  LocalWaiter &waiter = state.waiter(self);
  std::unique_lock<std::mutex> lock(waiter.mutex);
  int64_t &raised = waiter.signals[static_cast<size_t>(peer)];
  waiter.wake.wait_until(lock, Clock::now() + state.timeout, [&] {
    return raised > 0 || state.aborted.load(std::memory_order_acquire);
  });
  if (raised > 0) {
    --raised;
    auto &fences = waiter.fences[static_cast<size_t>(peer)];
    if (fences.empty())
      return Status::success();
    std::shared_ptr<Fence> fence = std::move(fences.front());
    fences.pop_front();
    lock.unlock();
    return state.spaceOf(self)->after(*fence);
  }
  lock.unlock();
  if (state.aborted.load(std::memory_order_acquire))
    return state.abortStatus();
  return makeError("signal from rank ", peer,
                   " not met in time: got nothing within ",
                   state.timeout.count(), " ms");
}

Expected<std::vector<uint64_t>> LocalEndpoint::allGather(uint64_t value) {
  SART_RETURN_IF_ERROR(checkPeer("all-gather", self));
  auto slot = static_cast<size_t>(self);
  std::unique_lock<std::mutex> lock(state.gatherMutex);
  uint64_t generation = state.generation;
  state.entering[slot] = value;
  state.present[slot] = true;
  if (++state.entered == state.ranks) {
    state.gathered = state.entering;
    state.present.assign(state.present.size(), false);
    state.entered = 0;
    ++state.generation;
    state.gatherWake.notify_all();
    return state.gathered;
  }
  state.gatherWake.wait_until(lock, Clock::now() + state.timeout, [&] {
    return state.generation != generation ||
           state.aborted.load(std::memory_order_acquire);
  });
  if (state.generation != generation)
    return state.gathered;
  std::string missing;
  for (size_t rank = 0; rank < state.present.size(); ++rank)
    if (!state.present[rank])
      missing += concat(missing.empty() ? "" : ", ", rank);
  state.present[slot] = false;
  --state.entered;
  lock.unlock();
  if (state.aborted.load(std::memory_order_acquire))
    return state.abortStatus();
  return makeError("all-gather not entered by every rank within ",
                   state.timeout.count(), " ms: got no value of rank ", missing,
                   ", expected one of each of ", state.ranks, " ranks");
}

Status LocalEndpoint::barrier() { return allGather(0).status(); }

Expected<std::vector<std::string>>
LocalEndpoint::gather(int64_t root, const std::string &bytes) {
  SART_RETURN_IF_ERROR(checkPeer("gather", root));
  {
    std::lock_guard<std::mutex> lock(state.gatherMutex);
    state.gatheredBytes[static_cast<size_t>(self)] = bytes;
  }
  SART_RETURN_IF_ERROR(barrier());
  std::vector<std::string> all;
  if (self == root) {
    std::lock_guard<std::mutex> lock(state.gatherMutex);
    all = state.gatheredBytes;
  }
  // Nobody may write the next one's bytes before these are read.
  SART_RETURN_IF_ERROR(barrier());
  return all;
}

void LocalEndpoint::abort(const std::string &reason) {
  state.abort(self, reason);
}

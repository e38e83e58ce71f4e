//===- LocalTransport.cpp - Ranks as threads of this process --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LocalState.h"

#include <algorithm>

using namespace sart;

Status LocalTransport::State::abortStatus() {
  std::lock_guard<std::mutex> lock(abortMutex);
  return Status::error(abortMessage);
}

void LocalTransport::State::abort(int64_t rank, const std::string &reason) {
  {
    std::lock_guard<std::mutex> lock(abortMutex);
    if (aborted.load(std::memory_order_relaxed))
      return;
    try {
      abortMessage = concat(abortedPrefix, rank, ": ", reason);
    } catch (...) {
      // The others must not wait for a rank that has no memory for its reason.
      abortMessage.assign(abortedPrefix)
          .append(std::to_string(rank))
          .append(": memory ran out");
    }
    aborted.store(true, std::memory_order_release);
  }
  // Taking each lock makes sure that nobody is between the check of the flag
  // and going to sleep.
  for (auto &waiter : waiters) {
    std::lock_guard<std::mutex> lock(waiter->mutex);
    waiter->wake.notify_all();
  }
  std::lock_guard<std::mutex> lock(gatherMutex);
  gatherWake.notify_all();
}

void LocalTransport::State::complete(LocalTransfer &transfer, Status result) {
  LocalWaiter &owner = waiter(transfer.owner());
  std::lock_guard<std::mutex> lock(owner.mutex);
  transfer.result = std::move(result);
  transfer.state.store(LocalTransfer::Done, std::memory_order_release);
  owner.wake.notify_all();
}

bool LocalTransport::State::withdraw(LocalTransfer &transfer) {
  LocalChannel &pair = channel(transfer.from, transfer.to);
  std::lock_guard<std::mutex> lock(pair.mutex);
  if (transfer.state.load(std::memory_order_acquire) != LocalTransfer::Pending)
    return false;
  auto &queue = transfer.isSend ? pair.sends : pair.recvs;
  queue.erase(std::remove_if(queue.begin(), queue.end(),
                             [&](const std::shared_ptr<LocalTransfer> &entry) {
                               return entry.get() == &transfer;
                             }),
              queue.end());
  transfer.result = Status::error("transfer was given up");
  transfer.state.store(LocalTransfer::Done, std::memory_order_release);
  return true;
}

LocalTransport::LocalTransport() : state(std::make_unique<State>()) {}
LocalTransport::~LocalTransport() = default;

Expected<std::unique_ptr<LocalTransport>>
LocalTransport::create(int64_t ranks, int64_t timeoutMs) {
  if (ranks < 1)
    return makeError("number of ranks out of range: got ", ranks,
                     ", expected at least 1");
  if (timeoutMs < 1)
    return makeError("time-out out of range: got ", timeoutMs,
                     " ms, expected at least 1 ms");
  std::unique_ptr<LocalTransport> transport(new LocalTransport());
  State &state = *transport->state;
  state.ranks = ranks;
  state.timeout = std::chrono::milliseconds(timeoutMs);
  for (int64_t pair = 0; pair < ranks * ranks; ++pair)
    state.channels.push_back(std::make_unique<LocalChannel>());
  for (int64_t rank = 0; rank < ranks; ++rank) {
    state.allRanks.push_back(rank);
    state.waiters.push_back(std::make_unique<LocalWaiter>());
    state.endpoints.push_back(std::make_unique<LocalEndpoint>(state, rank));
  }
  transport->reset();
  return transport;
}

int64_t LocalTransport::ranks() const { return state->ranks; }

const std::vector<int64_t> &LocalTransport::localRanks() const {
  return state->allRanks;
}

Endpoint &LocalTransport::endpoint(int64_t rank) {
  return *state->endpoints[static_cast<size_t>(rank)];
}

void LocalTransport::useSpaces(std::vector<MemorySpace *> spaces) {
  // Nothing to order where the host itself does all the work.
  bool elsewhere =
      std::any_of(spaces.begin(), spaces.end(),
                  [](MemorySpace *space) { return !space->onHost(); });
  state->spaces = elsewhere ? std::move(spaces) : std::vector<MemorySpace *>();
}

void LocalTransport::useWindows(std::vector<WindowResolver> windows) {
  state->windows = std::move(windows);
}

Status LocalTransport::State::copy(int64_t rank, const SegmentList &from,
                                   const SegmentList &to, const Fence *before,
                                   std::shared_ptr<Fence> &copied) {
  MemorySpace *space = spaceOf(rank);
  if (!space)
    return copySegments(from, to);
  if (before)
    SART_RETURN_IF_ERROR(space->after(*before));
  SART_RETURN_IF_ERROR(space->copy(from, to));
  auto fence = space->order();
  if (!fence)
    return fence.status();
  copied = std::move(*fence);
  return Status::success();
}

void LocalTransport::reset() {
  for (auto &channel : state->channels) {
    std::lock_guard<std::mutex> lock(channel->mutex);
    for (auto *queue : {&channel->sends, &channel->recvs}) {
      for (auto &transfer : *queue) {
        transfer->result = Status::error("transfer was dropped by a reset");
        transfer->state.store(LocalTransfer::Done, std::memory_order_release);
      }
      queue->clear();
    }
  }
  for (auto &waiter : state->waiters) {
    std::lock_guard<std::mutex> lock(waiter->mutex);
    waiter->signals.assign(static_cast<size_t>(state->ranks), 0);
    waiter->fences.assign(static_cast<size_t>(state->ranks), {});
  }
  {
    std::lock_guard<std::mutex> lock(state->gatherMutex);
    state->entered = 0;
    state->entering.assign(static_cast<size_t>(state->ranks), 0);
    state->gathered.assign(static_cast<size_t>(state->ranks), 0);
    state->gatheredBytes.assign(static_cast<size_t>(state->ranks), "");
    state->present.assign(static_cast<size_t>(state->ranks), false);
    ++state->generation;
  }
  std::lock_guard<std::mutex> lock(state->abortMutex);
  state->abortMessage.clear();
  state->abortMessage.reserve(State::abortMessageBytes);
  state->aborted.store(false, std::memory_order_release);
}

//===- MessageEndpoint.cpp - One rank's calls -----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MessageTransport.h"

#include <algorithm>
#include <thread>

using namespace sart;

using Clock = std::chrono::steady_clock;

/// Sends of at most so many bytes travel with their offer.
static constexpr int64_t eagerBytes = int64_t(8) << 10;
static constexpr uint32_t programLane = 0, gatherLane = 1;

/// Gives the core away; after a while for longer.
static void pauseFor(int64_t idle) {
  if (idle < 64)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(
        std::chrono::microseconds(idle < 256 ? 20 : 100));
}

Status MessageTransport::checkPeer(const char *what, int64_t peer) const {
  if (peer < 0 || peer >= ranks())
    return makeError("peer of ", what, " out of range: got ", peer,
                     ", expected 0 to ", ranks() - 1);
  if (aborted)
    return Status::error(*aborted);
  return Status::success();
}

Status MessageTransport::checkAborted() {
  std::lock_guard<std::mutex> lock(hub->mutex);
  SART_RETURN_IF_ERROR(hub->poll());
  return aborted ? Status::error(*aborted) : Status::success();
}

Expected<std::shared_ptr<MessageTransfer>>
MessageTransport::post(int64_t peer, uint32_t laneNumber, bool isSend,
                       SegmentList segments, bool staged) {
  auto transfer = std::make_shared<MessageTransfer>();
  transfer->peer = peer;
  transfer->isSend = isSend;
  transfer->lane = laneNumber;
  transfer->bytes = totalBytes(segments);
  if (staged) {
    transfer->staging.resize(static_cast<size_t>(transfer->bytes));
    char *host = transfer->staging.data();
    for (const Segment &segment : segments) {
      if (isSend)
        SART_RETURN_IF_ERROR(
            space->toHost({host, segment.bytes, segment.bytes, 1},
                          {segment.data, segment.bytes, segment.bytes, 1}));
      host += segment.bytes;
    }
    if (isSend)
      SART_RETURN_IF_ERROR(space->finish());
    else
      transfer->elsewhere = std::move(segments);
    segments = {{transfer->staging.data(), transfer->bytes}};
  }
  transfer->memory.segments = std::move(segments);

  std::lock_guard<std::mutex> lock(hub->mutex);
  SART_RETURN_IF_ERROR(hub->poll());
  SART_RETURN_IF_ERROR(checkPeer(isSend ? "send" : "recv", peer));
  Lane &lane = peerOf(peer).lanes[laneNumber];
  if (!isSend) {
    lane.receives.push_back(transfer);
    match(peer, laneNumber);
    return transfer;
  }
  transfer->sequence = lane.offered++;
  lane.sends[transfer->sequence] = transfer;
  bool eager = transfer->bytes <= eagerBytes;
  Frame frame =
      makeFrame(headerOf(FrameKind::Offer, laneNumber, transfer->sequence,
                         static_cast<uint64_t>(transfer->bytes)),
                eager ? static_cast<size_t>(transfer->bytes) : 0);
  if (eager) {
    transfer->memory.read(frame.data() + sizeof(FrameHeader), transfer->bytes);
    transfer->moved = transfer->bytes;
  }
  SART_RETURN_IF_ERROR(hub->send(peer, std::move(frame)));
  return transfer;
}

Expected<std::shared_ptr<TransferHandle>>
MessageTransport::send(int64_t peer, SegmentList from) {
  auto transfer = post(peer, programLane, /*isSend=*/true, std::move(from),
                       space != nullptr);
  if (!transfer)
    return transfer.status();
  return std::shared_ptr<TransferHandle>(std::move(*transfer));
}

Expected<std::shared_ptr<TransferHandle>>
MessageTransport::recv(int64_t peer, SegmentList to) {
  auto transfer = post(peer, programLane, /*isSend=*/false, std::move(to),
                       space != nullptr);
  if (!transfer)
    return transfer.status();
  return std::shared_ptr<TransferHandle>(std::move(*transfer));
}

MessageTransport::Awaited
MessageTransport::await(const std::function<bool()> &done,
                        const std::function<bool(int64_t)> &missing,
                        std::unique_lock<std::mutex> &lock, Status &why) {
  Clock::time_point end = Clock::now() + timeout;
  for (int64_t idle = 0;; ++idle) {
    if (Status status = hub->poll(); !status.ok()) {
      why = std::move(status);
      return Awaited::Failed;
    }
    if (done())
      return Awaited::Done;
    if (aborted || !putFailure.ok()) {
      why = aborted ? Status::error(*aborted) : putFailure;
      return Awaited::Failed;
    }
    for (int64_t peer = 0; peer < ranks(); ++peer)
      if (hub->hasLeft(peer) && missing(peer)) {
        why = makeError("rank ", peer,
                        " has ended: got nothing more of it, expected its "
                        "part of this run");
        hub->failed = true;
        return Awaited::Failed;
      }
    if (Clock::now() >= end) {
      hub->failed = true;
      return Awaited::Late;
    }
    lock.unlock();
    pauseFor(idle);
    lock.lock();
  }
}

void MessageTransport::forget(MessageTransfer &transfer, bool tellPeer) {
  Lane &lane = peerOf(transfer.peer).lanes[transfer.lane];
  transfer.done = true;
  transfer.result = Status::error("transfer was given up");
  if (!transfer.isSend) {
    lane.receives.erase(
        std::remove_if(lane.receives.begin(), lane.receives.end(),
                       [&](const std::shared_ptr<MessageTransfer> &entry) {
                         return entry.get() == &transfer;
                       }),
        lane.receives.end());
    auto found = lane.receiving.find(transfer.sequence);
    if (found != lane.receiving.end() && found->second.get() == &transfer)
      lane.receiving.erase(found);
    return;
  }
  lane.sends.erase(transfer.sequence);
  if (tellPeer)
    (void)hub->send(transfer.peer,
                    makeFrame(headerOf(FrameKind::Withdraw, transfer.lane,
                                       transfer.sequence)));
}

Status MessageTransport::wait(TransferHandle &handle) {
  auto *transfer = dynamic_cast<MessageTransfer *>(&handle);
  if (!transfer)
    return makeError("transfer handle belongs to another transport: expected "
                     "one of the ",
                     hub->name(), " transport");
  std::unique_lock<std::mutex> lock(hub->mutex);
  Status why;
  Awaited awaited =
      transfer->done
          ? Awaited::Done
          : await([&] { return transfer->done; },
                  [&](int64_t peer) { return peer == transfer->peer; }, lock,
                  why);
  if (awaited == Awaited::Done)
    return transfer->result;
  // The memory is not touched from here on.
  forget(*transfer, awaited == Awaited::Late);
  if (awaited == Awaited::Failed)
    return why;
  return makeError(transfer->isSend ? "send to rank " : "receive from rank ",
                   transfer->peer, " not met in time: got nothing within ",
                   timeout.count(), " ms, expected its ",
                   transfer->isSend ? "receive" : "send", " of ",
                   transfer->bytes, " bytes");
}

Status MessageTransport::put(int64_t peer, const SegmentList &from,
                             const RemoteRows &to) {
  SegmentCursor source{from};
  PutHead head{to.window, to.chunks.size(), totalBytes(from)};
  std::vector<char> staging;
  if (space) {
    staging.resize(static_cast<size_t>(head.bytes));
    char *host = staging.data();
    for (const Segment &segment : from) {
      SART_RETURN_IF_ERROR(
          space->toHost({host, segment.bytes, segment.bytes, 1},
                        {segment.data, segment.bytes, segment.bytes, 1}));
      host += segment.bytes;
    }
    SART_RETURN_IF_ERROR(space->finish());
    source.segments = {{staging.data(), head.bytes}};
  }
  size_t chunkBytes = to.chunks.size() * sizeof(int64_t);
  std::lock_guard<std::mutex> lock(hub->mutex);
  SART_RETURN_IF_ERROR(hub->poll());
  SART_RETURN_IF_ERROR(checkPeer("put", peer));
  int64_t offset = 0;
  do {
    int64_t count = std::min(pieceBytes, head.bytes - offset);
    Frame frame =
        makeFrame(headerOf(FrameKind::Put, 0, 0, static_cast<uint64_t>(offset)),
                  sizeof head + chunkBytes + static_cast<size_t>(count));
    uint8_t *place = frame.data() + sizeof(FrameHeader);
    std::memcpy(place, &head, sizeof head);
    place += sizeof head;
    if (chunkBytes)
      std::memcpy(place, to.chunks.data(), chunkBytes);
    source.read(place + chunkBytes, count);
    offset += count;
    SART_RETURN_IF_ERROR(hub->send(peer, std::move(frame)));
  } while (offset < head.bytes);
  return Status::success();
}

Status MessageTransport::signal(int64_t peer) {
  std::lock_guard<std::mutex> lock(hub->mutex);
  SART_RETURN_IF_ERROR(hub->poll());
  SART_RETURN_IF_ERROR(checkPeer("signal", peer));
  return hub->send(peer, makeFrame(headerOf(FrameKind::Signal)));
}

Status MessageTransport::waitSignal(int64_t peer) {
  std::unique_lock<std::mutex> lock(hub->mutex);
  SART_RETURN_IF_ERROR(checkPeer("wait for signal", peer));
  int64_t &raised = peerOf(peer).signals;
  Status why;
  Awaited awaited =
      await([&] { return putFailure.ok() && raised > 0; },
            [&](int64_t left) { return left == peer; }, lock, why);
  if (awaited == Awaited::Failed)
    return why;
  if (awaited == Awaited::Late)
    return makeError("signal from rank ", peer,
                     " not met in time: got nothing within ", timeout.count(),
                     " ms");
  --raised;
  return Status::success();
}

Expected<std::vector<uint64_t>> MessageTransport::allGather(uint64_t value) {
  std::unique_lock<std::mutex> lock(hub->mutex);
  SART_RETURN_IF_ERROR(checkPeer("all-gather", rank()));
  hub->broadcast(makeFrame(headerOf(FrameKind::Value, 0, gathers, value)));
  peerOf(rank()).values[gathers] = value;
  auto missing = [&](int64_t peer) {
    return peerOf(peer).values.count(gathers) == 0;
  };
  auto done = [&] {
    for (int64_t peer = 0; peer < ranks(); ++peer)
      if (missing(peer))
        return false;
    return true;
  };
  Status why;
  Awaited awaited = await(done, missing, lock, why);
  if (awaited == Awaited::Done) {
    std::vector<uint64_t> values;
    for (Peer &peer : peers) {
      values.push_back(peer.values[gathers]);
      peer.values.erase(gathers);
    }
    ++gathers;
    return values;
  }
  std::string absent;
  for (int64_t peer = 0; peer < ranks(); ++peer)
    if (missing(peer))
      absent += concat(absent.empty() ? "" : ", ", peer);
  peerOf(rank()).values.erase(gathers);
  hub->broadcast(makeFrame(headerOf(FrameKind::Retract, 0, gathers)));
  if (awaited == Awaited::Failed)
    return why;
  return makeError("all-gather not entered by every rank within ",
                   timeout.count(), " ms: got no value of rank ", absent,
                   ", expected one of each of ", ranks(), " ranks");
}

Status MessageTransport::barrier() { return allGather(0).status(); }

Expected<std::vector<std::string>>
MessageTransport::gather(int64_t root, const std::string &bytes) {
  {
    std::lock_guard<std::mutex> lock(hub->mutex);
    SART_RETURN_IF_ERROR(checkPeer("gather", root));
  }
  auto sizes = allGather(bytes.size());
  if (!sizes)
    return sizes.status();
  std::vector<std::string> all;
  std::vector<std::shared_ptr<MessageTransfer>> transfers;
  auto add = [&](Expected<std::shared_ptr<MessageTransfer>> posted) {
    if (posted)
      transfers.push_back(std::move(*posted));
    return posted.status();
  };
  Status failure;
  if (rank() == root) {
    for (uint64_t size : *sizes)
      all.emplace_back(size, '\0');
    all[static_cast<size_t>(root)] = bytes;
    for (int64_t peer = 0; peer < ranks() && failure.ok(); ++peer) {
      std::string &part = all[static_cast<size_t>(peer)];
      if (peer != root)
        failure = add(post(peer, gatherLane, /*isSend=*/false,
                           {{part.data(), static_cast<int64_t>(part.size())}},
                           /*staged=*/false));
    }
  } else {
    failure = add(post(root, gatherLane, /*isSend=*/true,
                       {{const_cast<char *>(bytes.data()),
                         static_cast<int64_t>(bytes.size())}},
                       /*staged=*/false));
  }
  // After a failure the waits only end the use of memory.
  if (!failure.ok())
    abort(failure.message());
  for (auto &transfer : transfers)
    if (Status status = wait(*transfer); failure.ok() && !status.ok())
      failure = status;
  if (!failure.ok())
    return failure;
  return all;
}

void MessageTransport::abort(const std::string &reason) {
  std::lock_guard<std::mutex> lock(hub->mutex);
  if (aborted)
    return;
  abortLocked(rank(), reason);
  Frame frame =
      makeFrame(headerOf(FrameKind::Abort, 0, 0, static_cast<uint64_t>(rank())),
                reason.size());
  if (!reason.empty())
    std::memcpy(frame.data() + sizeof(FrameHeader), reason.data(),
                reason.size());
  hub->broadcast(frame);
  (void)hub->poll();
}

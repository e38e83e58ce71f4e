//===- MessageTransport.cpp - What the frames of a transport do -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MessageTransport.h"

#include <algorithm>

using namespace sart;

/// Bytes that wait in a channel for one peer.
static constexpr int64_t queuedBytes = int64_t(4) << 20;

template <typename Move>
static void walk(SegmentCursor &cursor, int64_t bytes, Move move) {
  while (bytes > 0) {
    const Segment &segment = cursor.segments[cursor.index];
    int64_t part = std::min(bytes, segment.bytes - cursor.offset);
    if (part > 0)
      move(static_cast<uint8_t *>(segment.data) + cursor.offset,
           static_cast<size_t>(part));
    bytes -= part;
    cursor.offset += part;
    if (cursor.offset == segment.bytes) {
      ++cursor.index;
      cursor.offset = 0;
    }
  }
}

void SegmentCursor::read(uint8_t *to, int64_t bytes) {
  walk(*this, bytes, [&](uint8_t *memory, size_t part) {
    std::memcpy(to, memory, part);
    to += part;
  });
}

void SegmentCursor::write(const uint8_t *from, int64_t bytes) {
  walk(*this, bytes, [&](uint8_t *memory, size_t part) {
    std::memcpy(memory, from, part);
    from += part;
  });
}

MessageTransport::MessageTransport(std::shared_ptr<MessageHub> hub,
                                   uint32_t number, int64_t timeoutMs)
    : hub(std::move(hub)), number(number), timeout(timeoutMs),
      own({this->hub->rank()}), peers(static_cast<size_t>(this->hub->ranks())) {
}

MessageTransport::~MessageTransport() { hub->remove(number); }

void MessageTransport::useSpaces(std::vector<MemorySpace *> spaces) {
  space = spaces.empty() || spaces[0]->onHost() ? nullptr : spaces[0];
}

void MessageTransport::useWindows(std::vector<WindowResolver> windows) {
  window = windows.empty() ? nullptr : std::move(windows[0]);
}

void MessageTransport::reset() {
  std::lock_guard<std::mutex> lock(hub->mutex);
  ++epoch;
  hub->failed = false;
  gathers = 0;
  aborted.reset();
  putFailure = Status::success();
  std::vector<std::vector<Frame>> later;
  for (Peer &peer : peers) {
    later.push_back(std::move(peer.later));
    for (Lane &lane : peer.lanes) {
      auto drop = [](MessageTransfer &transfer) {
        transfer.result = Status::error("transfer was dropped by a reset");
        transfer.done = true;
      };
      for (auto &[sequence, transfer] : lane.sends)
        drop(*transfer);
      for (auto &transfer : lane.receives)
        drop(*transfer);
      for (auto &[sequence, transfer] : lane.receiving)
        drop(*transfer);
    }
    peer = Peer();
  }
  for (size_t peer = 0; peer < later.size(); ++peer)
    for (const Frame &frame : later[peer])
      take(static_cast<int64_t>(peer), frame);
}

FrameHeader MessageTransport::headerOf(FrameKind kind, uint32_t lane,
                                       uint64_t sequence,
                                       uint64_t value) const {
  FrameHeader header;
  header.kind = kind;
  header.transport = number;
  header.epoch = epoch;
  header.lane = lane;
  header.sequence = sequence;
  header.value = value;
  return header;
}

void MessageTransport::take(int64_t peer, const Frame &frame) {
  FrameHeader header;
  std::memcpy(&header, frame.data(), sizeof header);
  if (header.epoch > epoch)
    peerOf(peer).later.push_back(frame);
  else if (header.epoch == epoch)
    handle(peer, header, frame.data() + sizeof header,
           frame.size() - sizeof header);
}

void MessageTransport::handle(int64_t peer, const FrameHeader &header,
                              const uint8_t *payload, size_t size) {
  if (header.lane >= numLanes)
    return; // none of ours
  Peer &from = peerOf(peer);
  Lane &lane = from.lanes[header.lane];
  switch (header.kind) {
  case FrameKind::Offer:
    lane.offers.push_back({header.sequence,
                           static_cast<int64_t>(header.value),
                           {payload, payload + size}});
    return match(peer, header.lane);
  case FrameKind::Accept:
    if (auto found = lane.sends.find(header.sequence);
        found != lane.sends.end())
      found->second->accepted = true;
    return;
  case FrameKind::Piece:
    return takePiece(peer, lane, header, payload, size);
  case FrameKind::Answer:
    return takeAnswer(peer, lane, header);
  case FrameKind::Withdraw:
    lane.offers.erase(std::remove_if(lane.offers.begin(), lane.offers.end(),
                                     [&](const Offer &offer) {
                                       return offer.sequence == header.sequence;
                                     }),
                      lane.offers.end());
    return;
  case FrameKind::Put:
    return takePut(peer, static_cast<int64_t>(header.value), payload, size);
  case FrameKind::Signal:
    ++from.signals;
    return;
  case FrameKind::Value:
    from.values[header.sequence] = header.value;
    return;
  case FrameKind::Retract:
    from.values.erase(header.sequence);
    return;
  case FrameKind::Abort:
    return abortLocked(static_cast<int64_t>(header.value),
                       {reinterpret_cast<const char *>(payload), size});
  case FrameKind::Leave:
    return;
  }
}

static Status sizeMismatch(int64_t from, int64_t to, int64_t sent,
                           int64_t received) {
  return makeError("sizes of send and receive differ from rank ", from,
                   " to rank ", to, ": got ", sent, " bytes sent, expected ",
                   received, " bytes received");
}

void MessageTransport::takeAnswer(int64_t peer, Lane &lane,
                                  const FrameHeader &header) {
  auto found = lane.sends.find(header.sequence);
  if (found == lane.sends.end())
    return;
  MessageTransfer &transfer = *found->second;
  auto received = static_cast<int64_t>(header.value);
  if (received != transfer.bytes)
    transfer.result = sizeMismatch(rank(), peer, transfer.bytes, received);
  transfer.done = true;
  lane.sends.erase(found);
}

void MessageTransport::match(int64_t peer, uint32_t number) {
  Lane &lane = peerOf(peer).lanes[number % numLanes];
  while (!lane.offers.empty() && !lane.receives.empty()) {
    Offer offer = std::move(lane.offers.front());
    std::shared_ptr<MessageTransfer> transfer =
        std::move(lane.receives.front());
    lane.offers.pop_front();
    lane.receives.pop_front();
    transfer->sequence = offer.sequence;
    if (offer.bytes != transfer->bytes) {
      transfer->result =
          sizeMismatch(peer, rank(), offer.bytes, transfer->bytes);
      transfer->done = true;
    } else if (static_cast<int64_t>(offer.payload.size()) == offer.bytes) {
      transfer->memory.write(offer.payload.data(), offer.bytes);
      finishReceive(*transfer);
    } else {
      lane.receiving[offer.sequence] = std::move(transfer);
      (void)hub->send(
          peer, makeFrame(headerOf(FrameKind::Accept, number, offer.sequence)));
      continue;
    }
    (void)hub->send(
        peer, makeFrame(headerOf(FrameKind::Answer, number, offer.sequence,
                                 static_cast<uint64_t>(transfer->bytes))));
  }
}

void MessageTransport::takePiece(int64_t peer, Lane &lane,
                                 const FrameHeader &header,
                                 const uint8_t *payload, size_t size) {
  auto found = lane.receiving.find(header.sequence);
  if (found == lane.receiving.end())
    return; // given up
  MessageTransfer &transfer = *found->second;
  auto bytes =
      std::min(static_cast<int64_t>(size), transfer.bytes - transfer.moved);
  transfer.memory.write(payload, bytes);
  transfer.moved += bytes;
  if (transfer.moved < transfer.bytes)
    return;
  finishReceive(transfer);
  (void)hub->send(
      peer, makeFrame(headerOf(FrameKind::Answer, header.lane, header.sequence,
                               static_cast<uint64_t>(transfer.bytes))));
  lane.receiving.erase(found);
}

void MessageTransport::finishReceive(MessageTransfer &transfer) {
  transfer.done = true;
  char *from = transfer.staging.data();
  for (const Segment &segment : transfer.elsewhere) {
    if (!transfer.result.ok())
      return;
    transfer.result =
        space->fromHost({segment.data, segment.bytes, segment.bytes, 1},
                        {from, segment.bytes, segment.bytes, 1});
    from += segment.bytes;
  }
}

Status MessageTransport::pump() {
  for (size_t i = 0; i < peers.size(); ++i) {
    auto peer = static_cast<int64_t>(i);
    for (Lane &lane : peers[i].lanes) {
      for (auto &[sequence, transfer] : lane.sends) {
        while (transfer->accepted && transfer->moved < transfer->bytes &&
               (peer == rank() || hub->channel->queued(peer) < queuedBytes)) {
          int64_t bytes =
              std::min(pieceBytes, transfer->bytes - transfer->moved);
          Frame frame =
              makeFrame(headerOf(FrameKind::Piece, transfer->lane, sequence,
                                 static_cast<uint64_t>(transfer->moved)),
                        static_cast<size_t>(bytes));
          transfer->memory.read(frame.data() + sizeof(FrameHeader), bytes);
          transfer->moved += bytes;
          SART_RETURN_IF_ERROR(hub->send(peer, std::move(frame)));
        }
      }
    }
  }
  return Status::success();
}

Status MessageTransport::storePut(const RemoteRows &rows, int64_t bytes,
                                  int64_t offset, const uint8_t *from,
                                  int64_t count) {
  if (!window)
    return makeError("got a rank without windows, expected one with them");
  auto memory = window(rows);
  if (!memory)
    return memory.status();
  if (totalBytes(*memory) != bytes)
    return makeError("sizes of source and destination differ: got ", bytes,
                     " bytes, expected ", totalBytes(*memory), " bytes");
  SegmentCursor cursor{std::move(*memory)};
  if (offset < 0 || count > bytes - offset)
    return makeError("place of a piece: got ", count, " bytes at ", offset,
                     ", expected them within ", bytes);
  Status status;
  walk(cursor, offset, [](uint8_t *, size_t) {});
  walk(cursor, count, [&](uint8_t *to, size_t part) {
    auto width = static_cast<int64_t>(part);
    if (!space)
      std::memcpy(to, from, part);
    else if (status.ok())
      status = space->fromHost({to, width, width, 1},
                               {const_cast<uint8_t *>(from), width, width, 1});
    from += part;
  });
  return status;
}

void MessageTransport::takePut(int64_t peer, int64_t offset,
                               const uint8_t *payload, size_t size) {
  PutHead head;
  // After an abort the windows are no longer this run's.
  if (size < sizeof head || !putFailure.ok() || aborted)
    return;
  std::memcpy(&head, payload, sizeof head);
  size_t left = size - sizeof head;
  if (head.chunks > left / sizeof(int64_t))
    return;
  RemoteRows rows;
  rows.window = static_cast<int32_t>(head.window);
  rows.chunks.resize(head.chunks);
  size_t chunkBytes = head.chunks * sizeof(int64_t);
  if (chunkBytes)
    std::memcpy(rows.chunks.data(), payload + sizeof head, chunkBytes);
  Status status =
      storePut(rows, head.bytes, offset, payload + sizeof head + chunkBytes,
               static_cast<int64_t>(left - chunkBytes));
  if (!status.ok())
    putFailure = makeError("put of rank ", peer, " into window ", rows.window,
                           ": ", status.message());
}

void MessageTransport::abortLocked(int64_t origin, const std::string &reason) {
  hub->failed = true;
  if (!aborted)
    aborted = concat(abortedPrefix, origin, ": ", reason);
}

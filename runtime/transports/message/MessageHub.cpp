//===- MessageHub.cpp - Transports over ordered frames --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MessageHub.h"

#include "MessageTransport.h"

#include <chrono>
#include <thread>
#include <utility>

using namespace sart;

/// Longest time that a process waits for the others to leave after a failure.
static constexpr int64_t leaveMs = 5000;

Frame sart::makeFrame(const FrameHeader &header, size_t payload) {
  Frame frame(sizeof header + payload);
  std::memcpy(frame.data(), &header, sizeof header);
  return frame;
}

MessageHub::MessageHub(std::unique_ptr<FrameChannel> channel)
    : channel(std::move(channel)),
      left(static_cast<size_t>(this->channel->ranks()), false) {}

std::shared_ptr<MessageHub>
MessageHub::create(std::unique_ptr<FrameChannel> channel) {
  return std::shared_ptr<MessageHub>(new MessageHub(std::move(channel)));
}

MessageHub::~MessageHub() {
  std::lock_guard<std::mutex> lock(mutex);
  FrameHeader header;
  header.kind = FrameKind::Leave;
  // Also to those that have left: they wait for it.
  for (int64_t peer = 0; peer < ranks(); ++peer)
    if (peer != rank())
      (void)channel->send(peer, makeFrame(header));
  // Whoever leaves last finds the others' good-byes already there. The others
  // may still have much to do; after a failure, one of them may hang.
  auto begin = std::chrono::steady_clock::now();
  auto allLeft = [&] {
    for (int64_t peer = 0; peer < ranks(); ++peer)
      if (peer != rank() && !hasLeft(peer))
        return false;
    return true;
  };
  for (int64_t idle = 0; poll().ok() && !allLeft(); ++idle) {
    if (failed && std::chrono::steady_clock::now() - begin >
                      std::chrono::milliseconds(leaveMs))
      break;
    std::this_thread::sleep_for(
        std::chrono::microseconds(idle < 100 ? 100 : 2000));
  }
  channel->close(allLeft(), leaveMs);
}

Expected<std::unique_ptr<MessageTransport>>
MessageHub::createMessageTransport(int64_t timeoutMs) {
  if (timeoutMs < 1)
    return makeError("time-out out of range: got ", timeoutMs,
                     " ms, expected at least 1 ms");
  std::lock_guard<std::mutex> lock(mutex);
  uint32_t number = ++created;
  std::unique_ptr<MessageTransport> transport(
      new MessageTransport(shared_from_this(), number, timeoutMs));
  transports[number] = transport.get();
  auto waiting = std::exchange(early, {});
  for (auto &[peer, frame] : waiting) {
    FrameHeader header;
    std::memcpy(&header, frame.data(), sizeof header);
    if (header.transport == number)
      transport->take(peer, frame);
    else
      early.emplace_back(peer, std::move(frame));
  }
  return transport;
}

Expected<std::unique_ptr<Transport>>
MessageHub::createTransport(int64_t timeoutMs) {
  auto transport = createMessageTransport(timeoutMs);
  if (!transport)
    return transport.status();
  return std::unique_ptr<Transport>(std::move(*transport));
}

void MessageHub::remove(uint32_t number) {
  std::lock_guard<std::mutex> lock(mutex);
  transports.erase(number);
}

Status MessageHub::send(int64_t peer, Frame frame) {
  if (peer == rank()) {
    toSelf.push_back(std::move(frame));
    return Status::success();
  }
  // Whoever has left reads no more; waits on it notice by themselves.
  return hasLeft(peer) ? Status::success()
                       : channel->send(peer, std::move(frame));
}

void MessageHub::broadcast(const Frame &frame) {
  for (int64_t peer = 0; peer < ranks(); ++peer)
    if (peer != rank())
      (void)send(peer, frame);
}

Status MessageHub::poll() {
  while (!toSelf.empty()) {
    Frame frame = std::move(toSelf.front());
    toSelf.pop_front();
    take(rank(), &frame);
  }
  SART_RETURN_IF_ERROR(channel->poll(
      [this](int64_t peer, const Frame *frame) { take(peer, frame); }));
  for (auto &[number, transport] : transports)
    SART_RETURN_IF_ERROR(transport->pump());
  return Status::success();
}

void MessageHub::take(int64_t peer, const Frame *frame) {
  FrameHeader header;
  if (!frame || frame->size() < sizeof header) {
    left[static_cast<size_t>(peer)] = true;
    return;
  }
  std::memcpy(&header, frame->data(), sizeof header);
  if (header.kind == FrameKind::Leave) {
    left[static_cast<size_t>(peer)] = true;
    return;
  }
  auto found = transports.find(header.transport);
  if (found != transports.end())
    found->second->take(peer, *frame);
  else if (header.transport > created)
    early.emplace_back(peer, *frame);
}

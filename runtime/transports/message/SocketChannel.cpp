//===- SocketChannel.cpp - Frames over TCP --------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SocketChannel.h"

#include "SocketConnect.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace sart;

/// A longer frame is none of ours.
static constexpr uint64_t longestFrame = uint64_t(1) << 32;
static constexpr size_t readBytes = size_t(256) << 10;

OwnedSocket &OwnedSocket::operator=(OwnedSocket &&other) noexcept {
  if (this != &other) {
    if (descriptor >= 0)
      ::close(descriptor);
    descriptor = other.release();
  }
  return *this;
}

OwnedSocket::~OwnedSocket() {
  if (descriptor >= 0)
    ::close(descriptor);
}

SocketChannel::SocketChannel(int64_t rank, int64_t ranks)
    : self(rank), peers(static_cast<size_t>(ranks)) {}

Expected<std::unique_ptr<SocketChannel>> SocketChannel::connect(
    const std::string &id, int64_t rank, int64_t ranks, int64_t timeoutMs,
    const std::shared_ptr<SocketListener> &root, int64_t rootMs) {
  auto sockets =
      connectAll(id, rank, ranks, timeoutMs, root, rootMs ? rootMs : timeoutMs);
  if (!sockets)
    return sockets.status();
  std::unique_ptr<SocketChannel> channel(new SocketChannel(rank, ranks));
  for (size_t peer = 0; peer < sockets->size(); ++peer)
    channel->peers[peer].socket = std::move((*sockets)[peer]);
  return channel;
}

Status SocketChannel::send(int64_t to, Frame frame) {
  Peer &peer = peers[static_cast<size_t>(to)];
  if (peer.lost)
    return Status::success(); // poll has said so
  uint64_t length = frame.size();
  Frame framed(sizeof length + frame.size());
  std::memcpy(framed.data(), &length, sizeof length);
  if (!frame.empty())
    std::memcpy(framed.data() + sizeof length, frame.data(), frame.size());
  peer.outBytes += static_cast<int64_t>(framed.size());
  peer.out.push_back(std::move(framed));
  flush(peer);
  return Status::success();
}

int64_t SocketChannel::queued(int64_t peer) const {
  return peers[static_cast<size_t>(peer)].outBytes;
}

void SocketChannel::flush(Peer &peer) {
  while (!peer.out.empty() && !peer.lost) {
    const Frame &frame = peer.out.front();
    ssize_t sent =
        ::send(peer.socket.get(), frame.data() + peer.outOffset,
               frame.size() - peer.outOffset, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      // What is broken is noticed when it is read.
      if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        peer.out.clear();
        peer.outOffset = 0;
        peer.outBytes = 0;
      }
      return;
    }
    peer.outOffset += static_cast<size_t>(sent);
    peer.outBytes -= sent;
    if (peer.outOffset == frame.size()) {
      peer.out.pop_front();
      peer.outOffset = 0;
    }
  }
}

bool SocketChannel::readInto(Peer &peer) {
  while (true) {
    if (peer.inBegin && peer.inBegin * 2 > peer.in.size()) {
      peer.in.erase(peer.in.begin(),
                    peer.in.begin() + static_cast<ptrdiff_t>(peer.inBegin));
      peer.inBegin = 0;
    }
    size_t held = peer.in.size();
    peer.in.resize(held + readBytes);
    ssize_t got = ::recv(peer.socket.get(), peer.in.data() + held, readBytes,
                         MSG_DONTWAIT);
    peer.in.resize(held + static_cast<size_t>(got > 0 ? got : 0));
    if (got == 0)
      return false;
    if (got < 0) {
      if (errno == EINTR)
        continue;
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
    if (static_cast<size_t>(got) < readBytes)
      return true;
  }
}

Status SocketChannel::poll(const Take &take) {
  for (size_t i = 0; i < peers.size(); ++i) {
    Peer &peer = peers[i];
    if (peer.socket.get() < 0 || peer.lost)
      continue;
    flush(peer);
    bool open = readInto(peer);
    while (true) {
      uint64_t length = 0;
      size_t held = peer.in.size() - peer.inBegin;
      if (held < sizeof length)
        break;
      std::memcpy(&length, peer.in.data() + peer.inBegin, sizeof length);
      if (length > longestFrame)
        return makeError("frame of rank ", i, ": got ", length,
                         " bytes, expected at most ", longestFrame);
      if (held - sizeof length < length)
        break;
      const uint8_t *begin = peer.in.data() + peer.inBegin + sizeof length;
      Frame frame(begin, begin + length);
      peer.inBegin += sizeof length + length;
      take(static_cast<int64_t>(i), &frame);
    }
    if (!open) {
      peer.lost = true;
      take(static_cast<int64_t>(i), nullptr);
    }
  }
  return Status::success();
}

void SocketChannel::close(bool, int64_t milliseconds) {
  auto end = std::chrono::steady_clock::now() +
             std::chrono::milliseconds(milliseconds);
  for (Peer &peer : peers) {
    while (!peer.out.empty() && !peer.lost &&
           std::chrono::steady_clock::now() < end) {
      flush(peer);
      if (!peer.out.empty())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (peer.socket.get() >= 0)
      ::shutdown(peer.socket.get(), SHUT_WR);
  }
}

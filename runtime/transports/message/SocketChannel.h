//===- SocketChannel.h - Frames over TCP ------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_SOCKETCHANNEL_H
#define SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_SOCKETCHANNEL_H

#include "FrameChannel.h"

#include <deque>
#include <memory>
#include <string>

namespace sart {

/// A file descriptor that is closed with its owner.
class OwnedSocket {
public:
  OwnedSocket() = default;
  explicit OwnedSocket(int descriptor) : descriptor(descriptor) {}
  OwnedSocket(OwnedSocket &&other) noexcept : descriptor(other.release()) {}
  OwnedSocket &operator=(OwnedSocket &&other) noexcept;
  ~OwnedSocket();
  int get() const { return descriptor; }
  int release() {
    int value = descriptor;
    descriptor = -1;
    return value;
  }

private:
  int descriptor = -1;
};

/// Where a process waits for the others' connections.
class SocketListener {
public:
  static Expected<std::shared_ptr<SocketListener>> create();
  /// What the other processes need to find this one: its addresses, its port
  /// and a secret, printable, less than 512 characters.
  const std::string &id() const { return text; }
  int descriptor() const { return socket.get(); }

private:
  OwnedSocket socket;
  std::string text;
};

/// Processes of any number of machines, each connected with each. Its id,
/// which rank 0 makes, comes to the others by a host's own means or by a file.
class SocketChannel final : public FrameChannel {
public:
  /// `root` is the listener of rank 0 whose id all are given, null on the
  /// others. Fails when not all have come within the time-out, or rank 0 has
  /// not answered within `rootMs` (0: the same).
  static Expected<std::unique_ptr<SocketChannel>>
  connect(const std::string &id, int64_t rank, int64_t ranks, int64_t timeoutMs,
          const std::shared_ptr<SocketListener> &root, int64_t rootMs = 0);
  /// Rank 0 writes its id into `path`, the others read it there. A file of an
  /// earlier run does no harm.
  static Expected<std::unique_ptr<SocketChannel>>
  meetInFile(const std::string &path, int64_t rank, int64_t ranks,
             int64_t timeoutMs);

  const char *name() const override { return "socket"; }
  int64_t rank() const override { return self; }
  int64_t ranks() const override { return static_cast<int64_t>(peers.size()); }
  int64_t localRank() const override { return self; }
  Status send(int64_t peer, Frame frame) override;
  int64_t queued(int64_t peer) const override;
  Status poll(const Take &take) override;
  void close(bool orderly, int64_t milliseconds) override;

private:
  struct Peer {
    OwnedSocket socket;
    std::deque<Frame> out; ///< with their lengths before them
    size_t outOffset = 0;  ///< of the first
    int64_t outBytes = 0;
    std::vector<uint8_t> in;
    size_t inBegin = 0;
    bool lost = false;
  };
  SocketChannel(int64_t rank, int64_t ranks);
  void flush(Peer &peer);
  /// False: nothing will come any more.
  static bool readInto(Peer &peer);

  int64_t self;
  std::vector<Peer> peers;
};

} // namespace sart

#endif // SPARSEATTN_RUNTIME_TRANSPORTS_MESSAGE_SOCKETCHANNEL_H

//===- SocketConnect.cpp - Connects processes with each other -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SocketConnect.h"

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <random>
#include <sstream>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace sart;

using Clock = std::chrono::steady_clock;

static constexpr size_t mostAddresses = 8;
/// Room for an id on the wire.
static constexpr size_t idBytes = 512;

static Status systemError(const char *call) {
  return makeError("socket: got '", std::strerror(errno), "' from ", call,
                   ", expected success");
}

/// IPv4 addresses by which this machine may be reached; itself last.
static std::vector<std::string> ownAddresses() {
  std::vector<std::string> addresses;
  ifaddrs *list = nullptr;
  if (getifaddrs(&list) == 0) {
    for (ifaddrs *entry = list; entry; entry = entry->ifa_next) {
      if (!entry->ifa_addr || entry->ifa_addr->sa_family != AF_INET ||
          !(entry->ifa_flags & IFF_UP) || (entry->ifa_flags & IFF_LOOPBACK) ||
          addresses.size() + 1 >= mostAddresses)
        continue;
      sockaddr_in address;
      std::memcpy(&address, entry->ifa_addr, sizeof address);
      char text[INET_ADDRSTRLEN];
      if (inet_ntop(AF_INET, &address.sin_addr, text, sizeof text))
        addresses.emplace_back(text);
    }
    freeifaddrs(list);
  }
  addresses.emplace_back("127.0.0.1");
  return addresses;
}

Expected<std::shared_ptr<SocketListener>> SocketListener::create() {
  auto listener = std::make_shared<SocketListener>();
  OwnedSocket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0)
    return systemError("socket");
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t length = sizeof address;
  if (bind(socket.get(), reinterpret_cast<sockaddr *>(&address), length) != 0)
    return systemError("bind");
  if (listen(socket.get(), SOMAXCONN) != 0)
    return systemError("listen");
  if (getsockname(socket.get(), reinterpret_cast<sockaddr *>(&address),
                  &length) != 0)
    return systemError("getsockname");
  std::random_device random;
  std::string text;
  for (const std::string &own : ownAddresses())
    text += own + " ";
  char tail[64];
  std::snprintf(tail, sizeof tail, "%u %08x%08x", ntohs(address.sin_port),
                random(), random());
  listener->text = text + tail;
  listener->socket = std::move(socket);
  return listener;
}

namespace {

/// What an id says.
struct Place {
  std::vector<std::string> addresses;
  uint16_t port = 0;
  std::string secret;
};

/// What a process says first on a connection, and what it is told.
struct Hello {
  char secret[32] = {};
  int64_t rank = 0, ranks = 0;
  char id[idBytes] = {}; ///< of its own listener
};

} // namespace

static Expected<Place> parseId(const std::string &id) {
  std::istringstream stream(id);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  Place place;
  if (words.size() >= 3) {
    char *end = nullptr;
    unsigned long port =
        std::strtoul(words[words.size() - 2].c_str(), &end, 10);
    if (*end == '\0' && port > 0 && port < 65536) {
      place.port = static_cast<uint16_t>(port);
      place.secret = words.back();
      place.addresses.assign(words.begin(), words.end() - 2);
      return place;
    }
  }
  return makeError("id of a run: got '", id,
                   "', expected addresses, a port and a secret");
}

static Status setUp(int socket, Clock::time_point end) {
  int one = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now())
          .count();
  if (left <= 0)
    return makeError("time over");
  timeval wait = {static_cast<time_t>(left / 1000),
                  static_cast<suseconds_t>(left % 1000 * 1000)};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
  return Status::success();
}

static bool sendAll(int socket, const void *bytes, size_t size) {
  const char *next = static_cast<const char *>(bytes);
  while (size > 0) {
    ssize_t sent = ::send(socket, next, size, MSG_NOSIGNAL);
    if (sent <= 0 && errno != EINTR)
      return false;
    next += sent > 0 ? sent : 0;
    size -= static_cast<size_t>(sent > 0 ? sent : 0);
  }
  return true;
}

static bool recvAll(int socket, void *bytes, size_t size) {
  char *next = static_cast<char *>(bytes);
  while (size > 0) {
    ssize_t got = ::recv(socket, next, size, 0);
    if (got == 0 || (got < 0 && errno != EINTR))
      return false;
    next += got > 0 ? got : 0;
    size -= static_cast<size_t>(got > 0 ? got : 0);
  }
  return true;
}

/// Tries the addresses in turn until one answers to the secret; the connection
/// is good until `end`.
static OwnedSocket reach(const Place &place, const Hello &hello,
                         Clock::time_point end, Clock::time_point answerEnd) {
  do {
    for (const std::string &text : place.addresses) {
      OwnedSocket socket(
          ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      sockaddr_in address = {};
      address.sin_family = AF_INET;
      address.sin_port = htons(place.port);
      if (socket.get() < 0 ||
          inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1)
        continue;
      // An address of another machine's inner net may never answer.
      constexpr int addressMs = 2000;
      int failed = ::connect(
          socket.get(), reinterpret_cast<sockaddr *>(&address), sizeof address);
      pollfd ready = {socket.get(), POLLOUT, 0};
      int error = 0;
      socklen_t length = sizeof error;
      if (failed &&
          (errno != EINPROGRESS || ::poll(&ready, 1, addressMs) != 1 ||
           getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) !=
               0 ||
           error != 0))
        continue;
      fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
      Hello greeting = hello;
      std::strncpy(greeting.secret, place.secret.c_str(),
                   sizeof greeting.secret - 1);
      char answer = 0;
      if (setUp(socket.get(), answerEnd).ok() &&
          sendAll(socket.get(), &greeting, sizeof greeting) &&
          recvAll(socket.get(), &answer, 1) && answer == 'y' &&
          setUp(socket.get(), end).ok())
        return socket;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } while (Clock::now() < answerEnd);
  return OwnedSocket();
}

/// The next process that knows the secret; none when the time is over.
static OwnedSocket accept(const SocketListener &listener, int64_t ranks,
                          Hello &hello, Clock::time_point end) {
  std::string secret = listener.id().substr(listener.id().rfind(' ') + 1);
  while (Clock::now() < end) {
    pollfd ready = {listener.descriptor(), POLLIN, 0};
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                    end - Clock::now())
                    .count();
    if (::poll(&ready, 1, static_cast<int>(std::max<int64_t>(left, 1))) != 1)
      continue;
    OwnedSocket socket(
        ::accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
    // Whoever says nothing may not keep the others waiting.
    constexpr std::chrono::seconds patience(2);
    if (socket.get() < 0 ||
        !setUp(socket.get(), std::min(end, Clock::now() + patience)).ok() ||
        !recvAll(socket.get(), &hello, sizeof hello))
      continue;
    hello.secret[sizeof hello.secret - 1] = hello.id[idBytes - 1] = '\0';
    if (secret != hello.secret || hello.ranks != ranks || hello.rank < 0 ||
        hello.rank >= ranks)
      continue;
    if (sendAll(socket.get(), "y", 1) && setUp(socket.get(), end).ok())
      return socket;
  }
  return OwnedSocket();
}

Expected<std::vector<OwnedSocket>>
sart::connectAll(const std::string &id, int64_t rank, int64_t ranks,
                 int64_t timeoutMs, const std::shared_ptr<SocketListener> &root,
                 int64_t rootMs) {
  Clock::time_point end = Clock::now() + std::chrono::milliseconds(timeoutMs);
  auto place = parseId(id);
  if (!place)
    return place.status();
  if (rank < 0 || rank >= ranks)
    return makeError("rank of a run: got ", rank, ", expected 0 to ",
                     ranks - 1);
  if ((rank == 0) != (root != nullptr))
    return makeError("listener of rank ", rank, ": got ", root ? "one" : "none",
                     ", expected ", root ? "none" : "that of the id");
  auto late = [&](int64_t peer) {
    return makeError("rank ", peer,
                     " did not come to the run: got nothing "
                     "within ",
                     timeoutMs, " ms");
  };
  std::vector<OwnedSocket> sockets(static_cast<size_t>(ranks));
  std::vector<char> table(static_cast<size_t>(ranks) * idBytes, '\0');
  auto take = [&](const SocketListener &listener, int64_t from) -> Status {
    for (int64_t count = from; count < ranks; ++count) {
      Hello hello;
      OwnedSocket socket = accept(listener, ranks, hello, end);
      if (socket.get() < 0) {
        int64_t absent = from;
        while (absent < ranks &&
               sockets[static_cast<size_t>(absent)].get() >= 0)
          ++absent;
        return late(absent);
      }
      auto peer = static_cast<size_t>(hello.rank);
      if (hello.rank < from || sockets[peer].get() >= 0)
        return makeError("rank of a process: got ", hello.rank,
                         " twice, expected each once");
      std::memcpy(table.data() + peer * idBytes, hello.id, idBytes);
      sockets[peer] = std::move(socket);
    }
    return Status::success();
  };
  if (rank == 0) {
    SART_RETURN_IF_ERROR(take(*root, 1));
    for (int64_t peer = 1; peer < ranks; ++peer)
      if (!sendAll(sockets[static_cast<size_t>(peer)].get(), table.data(),
                   table.size()))
        return late(peer);
    return sockets;
  }
  auto own = SocketListener::create();
  if (!own)
    return own.status();
  Hello hello;
  hello.rank = rank;
  hello.ranks = ranks;
  std::strncpy(hello.id, (*own)->id().c_str(), idBytes - 1);
  sockets[0] =
      reach(*place, hello, end,
            std::min(end, Clock::now() + std::chrono::milliseconds(rootMs)));
  if (sockets[0].get() < 0 ||
      !recvAll(sockets[0].get(), table.data(), table.size()))
    return late(0);
  for (int64_t peer = 1; peer < rank; ++peer) {
    auto there = parseId(table.data() + static_cast<size_t>(peer) * idBytes);
    if (!there)
      return there.status();
    sockets[static_cast<size_t>(peer)] = reach(*there, hello, end, end);
    if (sockets[static_cast<size_t>(peer)].get() < 0)
      return late(peer);
  }
  SART_RETURN_IF_ERROR(take(**own, rank + 1));
  return sockets;
}

Expected<std::unique_ptr<SocketChannel>>
SocketChannel::meetInFile(const std::string &path, int64_t rank, int64_t ranks,
                          int64_t timeoutMs) {
  Clock::time_point end = Clock::now() + std::chrono::milliseconds(timeoutMs);
  auto left = [&] {
    return std::max<int64_t>(
        1, std::chrono::duration_cast<std::chrono::milliseconds>(end -
                                                                 Clock::now())
               .count());
  };
  if (rank == 0) {
    auto root = SocketListener::create();
    if (!root)
      return root.status();
    // Whoever reads it finds all of it.
    std::string fresh = concat(path, ".", getpid());
    std::ofstream file(fresh);
    file << (*root)->id() << "\n";
    file.close();
    if (!file || std::rename(fresh.c_str(), path.c_str()) != 0)
      return makeError("file of a run: got '", std::strerror(errno),
                       "', expected to write ", path);
    auto channel = connect((*root)->id(), rank, ranks, left(), *root);
    std::remove(path.c_str());
    return channel;
  }
  Status last = makeError("file of a run: got none within ", timeoutMs,
                          " ms, expected rank 0 to write ", path);
  while (Clock::now() < end) {
    std::ifstream file(path);
    std::string id;
    if (file && std::getline(file, id)) {
      // It may be an earlier run's: then nobody answers.
      constexpr int64_t tryMs = 3000;
      auto channel =
          connect(id, rank, ranks, left(), nullptr, std::min(left(), tryMs));
      if (channel)
        return channel;
      last = channel.status();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return last;
}

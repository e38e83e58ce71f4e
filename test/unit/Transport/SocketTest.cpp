//===- SocketTest.cpp - How processes meet, and how they part -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MessageHub.h"
#include "MessageTransport.h"
#include "SocketChannel.h"
#include "TransportWorld.h"

#include <cstdlib>
#include <fstream>
#include <unistd.h>

using namespace sart;
using namespace sart::test;

using Channel = Expected<std::unique_ptr<SocketChannel>>;

/// Calls make(rank) on a thread for each rank.
static std::vector<Channel> meet(int64_t ranks,
                                 const std::function<Channel(int64_t)> &make) {
  std::vector<Channel> channels;
  for (int64_t rank = 0; rank < ranks; ++rank)
    channels.emplace_back(Status::error("not made"));
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back(
        [&, rank] { channels[static_cast<size_t>(rank)] = make(rank); });
  for (std::thread &thread : threads)
    thread.join();
  return channels;
}

static std::vector<std::shared_ptr<MessageHub>> hubs(int64_t ranks) {
  auto root = SocketListener::create();
  EXPECT_TRUE(root.ok()) << root.message();
  auto channels = meet(ranks, [&](int64_t rank) {
    return SocketChannel::connect((*root)->id(), rank, ranks, 60000,
                                  rank == 0 ? *root : nullptr);
  });
  std::vector<std::shared_ptr<MessageHub>> made;
  for (Channel &channel : channels) {
    EXPECT_TRUE(channel.ok()) << channel.message();
    made.push_back(MessageHub::create(std::move(*channel)));
  }
  return made;
}

TEST(Socket, RankThatHasEndedIsNamed) {
  auto both = hubs(2);
  auto zero = both[0]->createTransport(60000),
       one = both[1]->createTransport(60000);
  ASSERT_TRUE(zero.ok() && one.ok());
  int value = 0;
  // What it sent before still arrives.
  ASSERT_TRUE((*one)->endpoint(1).signal(0).ok());
  std::thread ends([&] {
    *one = nullptr;
    both[1] = nullptr;
  });
  ASSERT_TRUE((*zero)->endpoint(0).waitSignal(1).ok());
  Status status;
  const char *ended = "rank 1 has ended: got nothing more of it, expected its "
                      "part of this run";
  int64_t ms = millisecondsOf([&] {
    status = recvAll((*zero)->endpoint(0), 1, {{&value, sizeof(int)}});
  });
  EXPECT_EQ(status.message(), ended);
  EXPECT_EQ((*zero)->endpoint(0).barrier().message(), ended);
  EXPECT_LT(ms, 30000);
  *zero = nullptr;
  both[0] = nullptr;
  ends.join();
}

TEST(Socket, LostConnectionIsTheSame) {
  auto root = SocketListener::create();
  ASSERT_TRUE(root.ok());
  auto channels = meet(2, [&](int64_t rank) {
    return SocketChannel::connect((*root)->id(), rank, 2, 60000,
                                  rank == 0 ? *root : nullptr);
  });
  ASSERT_TRUE(channels[0].ok() && channels[1].ok());
  auto hub = MessageHub::create(std::move(*channels[0]));
  auto transport = hub->createTransport(60000);
  *channels[1] = nullptr; // as when its process is killed
  EXPECT_EQ((*transport)->endpoint(0).barrier().message(),
            "rank 1 has ended: got nothing more of it, expected its part of "
            "this run");
}

TEST(Socket, ProcessesMeetInAFile) {
  std::string path = testing::TempDir() + concat("meet", getpid());
  // An earlier run left its own.
  auto stale = SocketListener::create();
  ASSERT_TRUE(stale.ok());
  std::ofstream(path) << "127.0.0.1 1 0123456789abcdef\n";
  auto channels = meet(4, [&](int64_t rank) {
    if (rank == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return SocketChannel::meetInFile(path, rank, 4, 60000);
  });
  for (Channel &channel : channels)
    ASSERT_TRUE(channel.ok()) << channel.message();
  EXPECT_FALSE(std::ifstream(path).good()) << "the file is gone again";
}

TEST(Socket, WhoDoesNotComeIsNamed) {
  auto root = SocketListener::create();
  ASSERT_TRUE(root.ok());
  auto channels = meet(2, [&](int64_t rank) {
    return SocketChannel::connect((*root)->id(), rank, 3, 500,
                                  rank == 0 ? *root : nullptr);
  });
  EXPECT_EQ(channels[0].message(),
            "rank 2 did not come to the run: got nothing within 500 ms");
  EXPECT_FALSE(channels[1].ok());
  std::string path = testing::TempDir() + concat("nobody", getpid());
  EXPECT_EQ(SocketChannel::meetInFile(path, 1, 2, 300).message(),
            concat("file of a run: got none within 300 ms, expected rank 0 to "
                   "write ",
                   path));
}

TEST(Socket, WrongIdsAreRefused) {
  for (const char *id : {"", "127.0.0.1", "127.0.0.1 x secret",
                         "127.0.0.1 70000 secret", "127.0.0.1 0 secret"})
    EXPECT_EQ(SocketChannel::connect(id, 1, 2, 300, nullptr).message(),
              concat("id of a run: got '", id,
                     "', expected addresses, a port and a secret"));
  auto root = SocketListener::create();
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(SocketChannel::connect((*root)->id(), 2, 2, 300, nullptr).message(),
            "rank of a run: got 2, expected 0 to 1");
  EXPECT_EQ(SocketChannel::connect((*root)->id(), 1, 2, 300, *root).message(),
            "listener of rank 1: got one, expected none");
  EXPECT_EQ(SocketChannel::connect((*root)->id(), 0, 2, 300, nullptr).message(),
            "listener of rank 0: got none, expected that of the id");
  // Somebody who does not know the secret keeps nobody from coming.
  std::string other = (*root)->id();
  other.back() = other.back() == '0' ? '1' : '0';
  auto channels = meet(3, [&](int64_t rank) {
    return rank == 2 ? SocketChannel::connect(other, 1, 2, 1500, nullptr)
                     : SocketChannel::connect((*root)->id(), rank, 2, 60000,
                                              rank == 0 ? *root : nullptr);
  });
  EXPECT_TRUE(channels[0].ok()) << channels[0].message();
  EXPECT_TRUE(channels[1].ok()) << channels[1].message();
  EXPECT_FALSE(channels[2].ok());
}

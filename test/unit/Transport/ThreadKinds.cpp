//===- ThreadKinds.cpp - Transports whose ranks may be threads ------------===//
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

using namespace sart;
using namespace sart::test;

static std::unique_ptr<World> makeLocal(int64_t ranks, int64_t timeoutMs) {
  auto transport = LocalTransport::create(ranks, timeoutMs);
  EXPECT_TRUE(transport.ok()) << transport.message();
  std::vector<std::unique_ptr<Transport>> parts;
  parts.push_back(std::move(*transport));
  return std::make_unique<World>(ranks, std::move(parts));
}

/// By number of ranks.
using HubTable = std::map<int64_t, std::vector<std::shared_ptr<MessageHub>>>;
static HubTable &knownHubs() {
  static HubTable known;
  return known;
}

namespace {

/// A hub waits for the others to leave as well, so that all leave at once.
class LeavingTogether : public testing::Environment {
  void TearDown() override {
    std::vector<std::thread> threads;
    for (auto &[ranks, hubs] : knownHubs())
      for (std::shared_ptr<MessageHub> &hub : hubs)
        threads.emplace_back([own = std::move(hub)]() mutable { own.reset(); });
    for (std::thread &thread : threads)
      thread.join();
  }
};

} // namespace

[[maybe_unused]] static testing::Environment *const leaving =
    testing::AddGlobalTestEnvironment(new LeavingTogether);

/// Hubs of `ranks` ranks, kept for the next world of as many.
static const std::vector<std::shared_ptr<MessageHub>> &hubsOf(int64_t ranks) {
  std::vector<std::shared_ptr<MessageHub>> &hubs = knownHubs()[ranks];
  if (!hubs.empty())
    return hubs;
  auto root = SocketListener::create();
  EXPECT_TRUE(root.ok()) << root.message();
  hubs.resize(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      auto channel = SocketChannel::connect((*root)->id(), rank, ranks, 60000,
                                            rank == 0 ? *root : nullptr);
      ASSERT_TRUE(channel.ok()) << channel.message();
      hubs[static_cast<size_t>(rank)] = MessageHub::create(std::move(*channel));
    });
  for (std::thread &thread : threads)
    thread.join();
  return hubs;
}

static std::unique_ptr<World> makeSocket(int64_t ranks, int64_t timeoutMs) {
  std::vector<std::unique_ptr<Transport>> parts;
  for (const std::shared_ptr<MessageHub> &hub : hubsOf(ranks)) {
    auto transport = hub->createTransport(timeoutMs);
    EXPECT_TRUE(transport.ok()) << transport.message();
    parts.push_back(std::move(*transport));
  }
  return std::make_unique<World>(ranks, std::move(parts));
}

std::vector<TransportKind> test::transportKinds() {
  TransportKind local{"local", makeLocal};
  local.apart = false;
  TransportKind socket{"socket", makeSocket};
  local.rankCounts = socket.rankCounts = {1, 2, 3, 4, 5, 8};
  return {local, socket};
}

//===- FailureTest.cpp - Time-outs, aborts and what follows ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TransportWorld.h"

#include <atomic>

using namespace sart;
using namespace sart::test;

class Failure : public TransportTest {};
class FailureApart : public TransportTest {};
class FailureOfThreads : public TransportTest {};
class FailureToMatch : public TransportTest {};

INSTANTIATE_ON_KINDS(Failure, kind.make != nullptr);
INSTANTIATE_ON_KINDS(FailureApart, kind.apart);
INSTANTIATE_ON_KINDS(FailureOfThreads, kind.threads);
INSTANTIATE_ON_KINDS(FailureToMatch, kind.checksSizes);

TEST_P(Failure, ReceiveTimesOut) {
  MAKE_WORLD(2, 300);
  int64_t ms = millisecondsOf([&] {
    auto results = world->onRanks([](Endpoint &endpoint) -> Status {
      int value = 0;
      return endpoint.rank() == 0
                 ? recvAll(endpoint, 1, {{&value, sizeof(int)}})
                 : Status::success();
    });
    if (world->has(0))
      EXPECT_EQ(results[0].message(),
                "receive from rank 1 not met in time: got nothing within 300 "
                "ms, expected its send of 4 bytes");
  });
  if (world->has(0))
    EXPECT_GE(ms, 295);
  EXPECT_LT(ms, 50000);
}

TEST_P(Failure, SendTimesOut) {
  MAKE_WORLD(2, 300);
  for (size_t size : {4, 100000}) {
    auto results = world->onRanks([&](Endpoint &endpoint) -> Status {
      std::vector<char> bytes(size);
      return endpoint.rank() == 1 ? sendAll(endpoint, 0, segmentOf(bytes))
                                  : Status::success();
    });
    if (world->has(1))
      EXPECT_EQ(results[1].message(),
                concat("send to rank 0 not met in time: got nothing within 300 "
                       "ms, expected its receive of ",
                       size, " bytes"));
  }
}

TEST_P(FailureToMatch, TransferThatTimedOutMeetsNobody) {
  MAKE_WORLD(2, 1000);
  world->expectOnRanks([](Endpoint &endpoint) -> Status {
    if (endpoint.rank() > 1)
      return Status::success();
    if (endpoint.rank() == 0) {
      int later = 2;
      {
        int given = 1;
        SART_RETURN_IF_ERROR(expectSame(
            "first", sendAll(endpoint, 1, {{&given, 4}}).ok(), false));
      }
      // The memory of the first send may be gone; only the second may be read.
      auto second = endpoint.send(1, {{&later, sizeof(int)}});
      SART_RETURN_IF_ERROR(endpoint.signal(1));
      return endpoint.wait(**second);
    }
    Status signalled;
    do
      signalled = endpoint.waitSignal(0);
    while (signalled.message().find("not met in time") != std::string::npos);
    SART_RETURN_IF_ERROR(signalled);
    int received = 0;
    SART_RETURN_IF_ERROR(recvAll(endpoint, 0, {{&received, sizeof(int)}}));
    return expectSame("received", received, 2);
  });
}

TEST_P(Failure, AllGatherNamesTheMissingRanks) {
  MAKE_WORLD(4, 1000);
  auto results = world->onRanks([&](Endpoint &endpoint) -> Status {
    if (endpoint.rank() == 1 || endpoint.rank() == 3)
      return Status::success();
    return endpoint.barrier();
  });
  for (int64_t rank : {0, 2}) {
    if (!world->has(rank))
      continue;
    const std::string &text = results[static_cast<size_t>(rank)].message();
    EXPECT_EQ(text.rfind("all-gather not entered by every rank within 1000 ms: "
                         "got no value of rank ",
                         0),
              0u)
        << text;
    // Whoever gives up first names the others; the last one may miss him too.
    EXPECT_NE(text.find("1, "), std::string::npos) << text;
    EXPECT_NE(text.find("3"), std::string::npos) << text;
  }
}

TEST_P(FailureOfThreads, AllGatherThatFailedDoesNotCount) {
  MAKE_WORLD(4, 1000);
  world->onRanks([&](Endpoint &endpoint) -> Status {
    return endpoint.rank() % 2 ? Status::success() : endpoint.barrier();
  });
  world->expectOnRanks([](Endpoint &endpoint) { return endpoint.barrier(); });
}

TEST_P(Failure, AbortEndsEveryBlockedCallAtOnce) {
  MAKE_WORLD(4);
  int64_t last = world->ranks - 1;
  std::vector<Status> results;
  int64_t ms = millisecondsOf([&] {
    results = world->onRanks([&](Endpoint &endpoint) -> Status {
      std::vector<char> bytes(100000);
      if (endpoint.rank() == last) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        endpoint.abort("out of luck");
        return Status::success();
      }
      switch (endpoint.rank()) {
      case 0:
        return recvAll(endpoint, last, segmentOf(bytes));
      case 1:
        return sendAll(endpoint, last, segmentOf(bytes));
      case 2:
        return endpoint.waitSignal(last);
      case 3:
        return endpoint.gather(0, "bytes").status();
      default:
        return endpoint.barrier();
      }
    });
  });
  EXPECT_LT(ms, 50000);
  for (int64_t rank = 0; rank < last; ++rank)
    if (world->has(rank))
      EXPECT_EQ(results[static_cast<size_t>(rank)].message(),
                concat("aborted by rank ", last, ": out of luck"));
}

TEST_P(Failure, CallsAfterAnAbortFailUntilReset) {
  MAKE_WORLD(2);
  world->expectOnRanks([](Endpoint &endpoint) -> Status {
    std::string expected = "aborted by rank 0: first";
    if (endpoint.rank() == 0)
      endpoint.abort("first");
    SART_RETURN_IF_ERROR(
        expectSame("barrier", endpoint.barrier().message(), expected));
    endpoint.abort("second");
    int value = 0;
    int64_t peer = endpoint.rank() ? 0 : 1;
    for (const Status &status :
         {endpoint.send(peer, {{&value, 4}}).status(),
          endpoint.recv(peer, {{&value, 4}}).status(), endpoint.signal(peer),
          endpoint.waitSignal(peer), endpoint.put(peer, {}, {}),
          endpoint.barrier(), endpoint.gather(0, "").status()})
      SART_RETURN_IF_ERROR(expectSame("call", status.message(), expected));
    return Status::success();
  });
  world->reset();
  world->expectOnRanks([](Endpoint &endpoint) { return endpoint.barrier(); });
}

TEST_P(Failure, ResetDropsTransfersInFlight) {
  MAKE_WORLD(2);
  std::vector<std::shared_ptr<TransferHandle>> dropped(
      static_cast<size_t>(world->ranks));
  std::vector<char> stale(100000, 1);
  world->expectOnRanks([&](Endpoint &endpoint) -> Status {
    if (endpoint.rank() != 0)
      return Status::success();
    for (int64_t bytes : {8, 100000}) {
      auto handle = endpoint.send(1, {{stale.data(), bytes}});
      if (!handle)
        return handle.status();
      dropped[0] = *handle;
    }
    return Status::success();
  });
  world->reset();
  world->expectOnRanks([&](Endpoint &endpoint) -> Status {
    if (endpoint.rank() > 1)
      return Status::success();
    std::vector<char> fresh(9, 2), received(9, 0);
    if (endpoint.rank() == 1) {
      SART_RETURN_IF_ERROR(recvAll(endpoint, 0, segmentOf(received)));
      return expectSame("received", received, fresh);
    }
    SART_RETURN_IF_ERROR(expectSame("dropped",
                                    endpoint.wait(*dropped[0]).message(),
                                    "transfer was dropped by a reset"));
    return sendAll(endpoint, 1, segmentOf(fresh));
  });
}

TEST_P(FailureApart, RanksResetWhenTheyCome) {
  MAKE_WORLD(2);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> threads;
    for (auto &part : world->parts)
      threads.emplace_back([&, transport = part.get()] {
        int64_t rank = transport->localRanks().front();
        Endpoint &endpoint = transport->endpoint(rank);
        if (rank == round % 2)
          std::this_thread::sleep_for(std::chrono::milliseconds(3));
        transport->reset();
        if (rank > 1)
          return;
        int own = round * 10 + static_cast<int>(rank), other = 0;
        auto send = endpoint.send(1 - rank, {{&own, sizeof(int)}});
        ASSERT_TRUE(send.ok()) << send.message();
        Status status = recvAll(endpoint, 1 - rank, {{&other, sizeof(int)}});
        ASSERT_TRUE(status.ok()) << status.message();
        ASSERT_EQ(other, round * 10 + 1 - static_cast<int>(rank));
        status = endpoint.wait(**send);
        ASSERT_TRUE(status.ok()) << status.message();
        // Left in flight, and aborted, by the other one perhaps before.
        (void)endpoint.signal(1 - rank);
        (void)endpoint.send(1 - rank, {{&own, sizeof(int)}});
        if (round % 3 == 0)
          endpoint.abort("enough");
      });
    for (std::thread &thread : threads)
      thread.join();
  }
}

TEST_P(Failure, RepeatedAbortsWhileTransfersMeet) {
  // Memory may not be touched once wait has returned, whoever aborts when.
  MAKE_WORLD(3);
  for (int round = 0; round < 60; ++round) {
    world->expectOnRanks(
        [&](Endpoint &endpoint) -> Status { return endpoint.barrier(); });
    std::atomic<int> touched{0};
    world->onRanks([&](Endpoint &endpoint) -> Status {
      if (endpoint.rank() > 1) {
        std::this_thread::sleep_for(std::chrono::microseconds(20 * round));
        endpoint.abort("now");
        return Status::success();
      }
      while (true) {
        std::vector<char> bytes(
            static_cast<size_t>(round % 2 ? 4096 : 80000),
            static_cast<char>(endpoint.rank() == 0 ? 1 : 0));
        Status status = endpoint.rank() == 0
                            ? sendAll(endpoint, 1, segmentOf(bytes))
                            : recvAll(endpoint, 0, segmentOf(bytes));
        if (!status.ok()) {
          std::vector<char> before = bytes;
          std::this_thread::sleep_for(std::chrono::microseconds(200));
          touched += before != bytes;
          return status;
        }
      }
    });
    ASSERT_EQ(touched, 0);
    world->reset();
  }
}

TEST_P(Failure, TransportsOfOneHubDoNotDisturbEachOther) {
  MAKE_WORLD(2);
  std::unique_ptr<World> first = std::move(world);
  makeWorld(2);
  for (auto &part : first->parts)
    for (int64_t rank : part->localRanks())
      part->endpoint(rank).abort("first");
  world->expectOnRanks([](Endpoint &endpoint) { return endpoint.barrier(); });
}

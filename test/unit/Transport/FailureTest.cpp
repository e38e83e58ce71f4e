//===- FailureTest.cpp - Time-outs, aborts and what follows ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Ranks.h"

#include <atomic>

using namespace sart;
using namespace sart::test;

TEST(Failure, ReceiveTimesOut) {
  auto transport = makeTransport(2, 100);
  int value = 0;
  Status status;
  int64_t ms = millisecondsOf([&] {
    status = recvAll(transport->endpoint(0), 1, {{&value, sizeof(int)}});
  });
  EXPECT_EQ(status.message(),
            "receive from rank 1 not met in time: got nothing within 100 ms, "
            "expected its send of 4 bytes");
  EXPECT_GE(ms, 95);
  EXPECT_LT(ms, 50000);
}

TEST(Failure, SendTimesOut) {
  auto transport = makeTransport(2, 100);
  int value = 0;
  EXPECT_EQ(
      sendAll(transport->endpoint(1), 0, {{&value, sizeof(int)}}).message(),
      "send to rank 0 not met in time: got nothing within 100 ms, expected its "
      "receive of 4 bytes");
}

TEST(Failure, TransferThatTimedOutMeetsNobody) {
  auto transport = makeTransport(2, 100);
  int given = 1, later = 2, received = 0;
  EXPECT_FALSE(
      sendAll(transport->endpoint(0), 1, {{&given, sizeof(int)}}).ok());
  // The memory of the first send may be gone; only the second may be read.
  auto second = transport->endpoint(0).send(1, {{&later, sizeof(int)}});
  ASSERT_TRUE(second.ok());
  ASSERT_TRUE(
      recvAll(transport->endpoint(1), 0, {{&received, sizeof(int)}}).ok());
  EXPECT_EQ(received, 2);
  EXPECT_TRUE(transport->endpoint(0).wait(**second).ok());
}

TEST(Failure, AllGatherNamesTheMissingRanks) {
  auto transport = makeTransport(4, 1000);
  auto results = onRanks(*transport, 4, [&](Endpoint &endpoint) -> Status {
    if (endpoint.rank() == 1 || endpoint.rank() == 3)
      return Status::success();
    return endpoint.barrier();
  });
  // Whoever gives up first names the others; the last one may miss him too.
  EXPECT_NE(results[0].message().find("all-gather not entered by every rank "
                                      "within 1000 ms"),
            std::string::npos)
      << results[0].message();
  for (size_t rank : {0, 2}) {
    EXPECT_NE(results[rank].message().find("1, "), std::string::npos);
    EXPECT_NE(results[rank].message().find("3"), std::string::npos);
  }
  // A round that failed does not count towards the next one.
  results = onRanks(*transport, 4,
                    [&](Endpoint &endpoint) { return endpoint.barrier(); });
  for (const Status &status : results)
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(Failure, AbortEndsEveryBlockedCallAtOnce) {
  auto transport = makeTransport(6, 60000);
  std::vector<Status> results;
  int64_t ms = millisecondsOf([&] {
    results = onRanks(*transport, 6, [&](Endpoint &endpoint) -> Status {
      int value = 0;
      switch (endpoint.rank()) {
      case 0:
        return recvAll(endpoint, 5, {{&value, sizeof(int)}});
      case 1:
        return sendAll(endpoint, 5, {{&value, sizeof(int)}});
      case 2:
        return endpoint.waitSignal(5);
      case 3:
      case 4:
        return endpoint.barrier();
      default:
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        endpoint.abort("out of luck");
        return Status::success();
      }
    });
  });
  EXPECT_LT(ms, 50000);
  for (size_t rank = 0; rank < 5; ++rank)
    EXPECT_EQ(results[rank].message(), "aborted by rank 5: out of luck");
}

TEST(Failure, CallsAfterAnAbortFailUntilReset) {
  auto transport = makeTransport(2, 60000);
  transport->endpoint(0).abort("first");
  transport->endpoint(1).abort("second");
  const char *expected = "aborted by rank 0: first";
  int value = 0;
  Endpoint &one = transport->endpoint(1);
  EXPECT_EQ(one.send(0, {{&value, 4}}).message(), expected);
  EXPECT_EQ(one.recv(0, {{&value, 4}}).message(), expected);
  EXPECT_EQ(one.signal(0).message(), expected);
  EXPECT_EQ(one.waitSignal(0).message(), expected);
  EXPECT_EQ(one.put(0, {}, {}).message(), expected);
  EXPECT_EQ(one.barrier().message(), expected);
  transport->reset();
  auto results = onRanks(*transport, 2, [&](Endpoint &endpoint) -> Status {
    return endpoint.barrier();
  });
  for (const Status &status : results)
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(Failure, ResetDropsTransfersInFlight) {
  auto transport = makeTransport(2, 60000);
  int stale = 1, fresh = 2, received = 0;
  auto dropped = transport->endpoint(0).send(1, {{&stale, sizeof(int)}});
  ASSERT_TRUE(dropped.ok());
  transport->reset();
  EXPECT_EQ(transport->endpoint(0).wait(**dropped).message(),
            "transfer was dropped by a reset");
  auto send = transport->endpoint(0).send(1, {{&fresh, sizeof(int)}});
  ASSERT_TRUE(
      recvAll(transport->endpoint(1), 0, {{&received, sizeof(int)}}).ok());
  EXPECT_EQ(received, 2);
  EXPECT_TRUE(transport->endpoint(0).wait(**send).ok());
}

TEST(Failure, RepeatedAbortsWhileTransfersMeet) {
  // Memory may not be touched once wait has returned, whoever aborts when.
  for (int round = 0; round < 100; ++round) {
    auto transport = makeTransport(3, 60000);
    std::atomic<int> touched{0};
    onRanks(*transport, 3, [&](Endpoint &endpoint) -> Status {
      if (endpoint.rank() == 2) {
        std::this_thread::sleep_for(std::chrono::microseconds(round));
        endpoint.abort("now");
        return Status::success();
      }
      for (int i = 0; i < 50; ++i) {
        std::vector<char> bytes(
            4096, static_cast<char>(endpoint.rank() == 0 ? 1 : 0));
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
      return Status::success();
    });
    ASSERT_EQ(touched, 0);
  }
}

//===- SendRecvTest.cpp - Matching of sends and receives ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Ranks.h"

#include <atomic>
#include <numeric>

using namespace sart;
using namespace sart::test;

TEST(SendRecv, KthSendMeetsKthReceive) {
  auto transport = makeTransport(2, 60000);
  constexpr int count = 100;
  std::vector<int> sent(count), received(count, -1);
  std::iota(sent.begin(), sent.end(), 1000);
  auto results = onRanks(*transport, 2, [&](Endpoint &endpoint) -> Status {
    std::vector<std::shared_ptr<TransferHandle>> handles;
    for (int i = 0; i < count; ++i) {
      auto index = static_cast<size_t>(i);
      auto handle = endpoint.rank() == 0
                        ? endpoint.send(1, {{&sent[index], sizeof(int)}})
                        : endpoint.recv(0, {{&received[index], sizeof(int)}});
      if (!handle)
        return handle.status();
      handles.push_back(*handle);
    }
    // Waited for in another order than posted.
    for (size_t i = handles.size(); i-- > 0;)
      SART_RETURN_IF_ERROR(endpoint.wait(*handles[i]));
    return Status::success();
  });
  for (const Status &status : results)
    EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(sent, received);
}

TEST(SendRecv, OrderIsPerPair) {
  // Rank 2 takes rank 1's value first although rank 0 sends first.
  auto transport = makeTransport(3, 60000);
  int values[3] = {10, 11, 12}, fromOne = 0, fromZero = 0;
  auto results = onRanks(*transport, 3, [&](Endpoint &endpoint) -> Status {
    if (endpoint.rank() < 2)
      return sendAll(endpoint, 2, {{&values[endpoint.rank()], sizeof(int)}});
    SART_RETURN_IF_ERROR(recvAll(endpoint, 1, {{&fromOne, sizeof(int)}}));
    return recvAll(endpoint, 0, {{&fromZero, sizeof(int)}});
  });
  for (const Status &status : results)
    EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(fromZero, 10);
  EXPECT_EQ(fromOne, 11);
}

TEST(SendRecv, SegmentBordersNeedNotAgree) {
  auto transport = makeTransport(2, 60000);
  std::vector<int> sent(60), received(60, 0);
  std::iota(sent.begin(), sent.end(), 1);
  auto results = onRanks(*transport, 2, [&](Endpoint &endpoint) -> Status {
    if (endpoint.rank() == 0)
      return sendAll(endpoint, 1, {{sent.data(), 28}, {sent.data() + 7, 212}});
    return recvAll(endpoint, 0,
                   {{received.data(), 100}, {received.data() + 25, 140}});
  });
  for (const Status &status : results)
    EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(sent, received);
}

TEST(SendRecv, RankMaySendToItself) {
  auto transport = makeTransport(1, 60000);
  int from = 7, to = 0;
  Endpoint &endpoint = transport->endpoint(0);
  auto send = endpoint.send(0, {{&from, sizeof(int)}});
  ASSERT_TRUE(send.ok());
  ASSERT_TRUE(recvAll(endpoint, 0, {{&to, sizeof(int)}}).ok());
  EXPECT_TRUE(endpoint.wait(**send).ok());
  EXPECT_EQ(to, 7);
}

TEST(SendRecv, EmptyTransfersMeet) {
  auto transport = makeTransport(2, 60000);
  auto results = onRanks(*transport, 2, [&](Endpoint &endpoint) -> Status {
    return endpoint.rank() == 0 ? sendAll(endpoint, 1, {})
                                : recvAll(endpoint, 0, {});
  });
  for (const Status &status : results)
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(SendRecv, DifferentSizesAreAnErrorOnBothSides) {
  auto transport = makeTransport(2, 60000);
  std::vector<char> sent(12, 1), received(16, 2);
  auto results = onRanks(*transport, 2, [&](Endpoint &endpoint) -> Status {
    return endpoint.rank() == 0 ? sendAll(endpoint, 1, segmentOf(sent))
                                : recvAll(endpoint, 0, segmentOf(received));
  });
  for (const Status &status : results)
    EXPECT_EQ(status.message(),
              "sizes of send and receive differ from rank 0 to rank 1: got 12 "
              "bytes sent, expected 16 bytes received");
  EXPECT_EQ(received, std::vector<char>(16, 2)) << "nothing may be written";
}

TEST(SendRecv, PeersOutOfRangeAreRefused) {
  auto transport = makeTransport(2, 60000);
  Endpoint &endpoint = transport->endpoint(0);
  EXPECT_EQ(endpoint.send(2, {}).message(),
            "peer of send out of range: got 2, expected 0 to 1");
  EXPECT_EQ(endpoint.recv(-1, {}).message(),
            "peer of recv out of range: got -1, expected 0 to 1");
  EXPECT_EQ(endpoint.signal(5).message(),
            "peer of signal out of range: got 5, expected 0 to 1");
  EXPECT_FALSE(endpoint.put(2, {}, {}).ok());
  EXPECT_FALSE(endpoint.waitSignal(2).ok());
}

TEST(SendRecv, CreateRefusesNonsense) {
  EXPECT_EQ(LocalTransport::create(0).message(),
            "number of ranks out of range: got 0, expected at least 1");
  EXPECT_EQ(LocalTransport::create(2, 0).message(),
            "time-out out of range: got 0 ms, expected at least 1 ms");
}

TEST(SendRecv, ForeignHandleIsRefused) {
  struct Foreign : TransferHandle {
  } foreign;
  auto transport = makeTransport(1, 60000);
  EXPECT_EQ(transport->endpoint(0).wait(foreign).message(),
            "transfer handle belongs to another transport: expected one of the "
            "local transport");
}

TEST(AllGather, EveryRankGetsEveryValueInRankOrder) {
  auto transport = makeTransport(5, 60000);
  std::atomic<int> wrong{0};
  auto results = onRanks(*transport, 5, [&](Endpoint &endpoint) -> Status {
    for (uint64_t round = 0; round < 200; ++round) {
      auto rank = static_cast<uint64_t>(endpoint.rank());
      auto values = endpoint.allGather(round * 100 + rank);
      if (!values)
        return values.status();
      for (uint64_t peer = 0; peer < 5; ++peer)
        wrong += (*values)[peer] != round * 100 + peer;
      SART_RETURN_IF_ERROR(endpoint.barrier());
    }
    return Status::success();
  });
  for (const Status &status : results)
    EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(wrong, 0);
}

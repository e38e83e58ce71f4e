//===- OneSidedTest.cpp - Puts, signals and their waits -------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Ranks.h"

using namespace sart;
using namespace sart::test;

TEST(OneSided, PutIsVisibleAfterTheSignal) {
  auto transport = makeTransport(2, 60000);
  std::vector<int> from(1000), to(1000, -1);
  int wrong = 0;
  auto results = onRanks(*transport, 2, [&](Endpoint &endpoint) -> Status {
    for (int round = 0; round < 200; ++round) {
      if (endpoint.rank() == 0) {
        std::fill(from.begin(), from.end(), round);
        SART_RETURN_IF_ERROR(endpoint.put(1, segmentOf(from), segmentOf(to)));
        SART_RETURN_IF_ERROR(endpoint.signal(1));
        // The buffer is free again when the reader says so.
        SART_RETURN_IF_ERROR(endpoint.waitSignal(1));
      } else {
        SART_RETURN_IF_ERROR(endpoint.waitSignal(0));
        for (int value : to)
          wrong += value != round;
        SART_RETURN_IF_ERROR(endpoint.signal(0));
      }
    }
    return Status::success();
  });
  for (const Status &status : results)
    EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(wrong, 0);
}

TEST(OneSided, SignalsCountPerPeer) {
  auto transport = makeTransport(3, 200);
  Endpoint &zero = transport->endpoint(0), &one = transport->endpoint(1),
           &two = transport->endpoint(2);
  ASSERT_TRUE(one.signal(0).ok());
  ASSERT_TRUE(one.signal(0).ok());
  ASSERT_TRUE(two.signal(0).ok());
  EXPECT_TRUE(zero.waitSignal(2).ok());
  EXPECT_TRUE(zero.waitSignal(1).ok());
  EXPECT_TRUE(zero.waitSignal(1).ok());
  EXPECT_EQ(zero.waitSignal(1).message(),
            "signal from rank 1 not met in time: got nothing within 200 ms");
}

TEST(OneSided, PutRefusesDifferentSizes) {
  auto transport = makeTransport(2, 60000);
  std::vector<char> from(3), to(4);
  EXPECT_EQ(
      transport->endpoint(0).put(1, segmentOf(from), segmentOf(to)).message(),
      "sizes of source and destination differ: got 3 bytes, expected 4 "
      "bytes");
}

TEST(OneSided, ResetForgetsSignals) {
  auto transport = makeTransport(2, 100);
  ASSERT_TRUE(transport->endpoint(0).signal(1).ok());
  transport->reset();
  EXPECT_FALSE(transport->endpoint(1).waitSignal(0).ok());
}

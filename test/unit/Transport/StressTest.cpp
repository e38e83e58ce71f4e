//===- StressTest.cpp - Many exchanges with a rank that lags --------------===//
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

/// 1,000 back-to-back all-to-alls; one rank is late, another one each round.
/// Buffers are reused at once, which shows a rank that reads too late.
TEST(Stress, ThousandExchangesWithOneRankDelayed) {
  constexpr int64_t ranks = 4;
  constexpr int rounds = 1000;
  constexpr size_t words = 64;
  auto transport = makeTransport(ranks, 120000);
  std::atomic<int> wrong{0};
  auto results = onRanks(*transport, ranks, [&](Endpoint &endpoint) -> Status {
    auto self = static_cast<size_t>(endpoint.rank());
    std::vector<std::vector<int>> out(ranks, std::vector<int>(words));
    std::vector<std::vector<int>> in(ranks, std::vector<int>(words));
    for (int round = 0; round < rounds; ++round) {
      if (round % 20 == 0 && round / 20 % ranks == endpoint.rank())
        std::this_thread::sleep_for(std::chrono::microseconds(300));
      std::vector<std::shared_ptr<TransferHandle>> handles;
      for (size_t peer = 0; peer < ranks; ++peer) {
        if (peer == self)
          continue;
        for (size_t i = 0; i < words; ++i) {
          out[peer][i] = round * 1000 + static_cast<int>(self * 10 + peer);
          in[peer][i] = -1;
        }
        auto send =
            endpoint.send(static_cast<int64_t>(peer), segmentOf(out[peer]));
        auto recv =
            endpoint.recv(static_cast<int64_t>(peer), segmentOf(in[peer]));
        if (!send || !recv)
          return send ? recv.status() : send.status();
        handles.push_back(*send);
        handles.push_back(*recv);
      }
      for (auto &handle : handles)
        SART_RETURN_IF_ERROR(endpoint.wait(*handle));
      for (size_t peer = 0; peer < ranks; ++peer)
        for (size_t i = 0; i < words && peer != self; ++i)
          wrong +=
              in[peer][i] != round * 1000 + static_cast<int>(peer * 10 + self);
    }
    return Status::success();
  });
  for (const Status &status : results)
    EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(wrong, 0);
}

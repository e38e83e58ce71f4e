//===- RankTeamTest.cpp - One persistent thread per rank ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RankTeam.h"
#include "Support/FailingNew.h"

#include "gtest/gtest.h"

#include <atomic>
#include <stdexcept>

using namespace sart;

TEST(RankTeam, ThrowsWhatATaskThrewAndStaysUsable) {
  RankTeam team(4);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> calls{0};
    try {
      team.run([&](int64_t rank) {
        ++calls;
        if (rank == round % 4)
          throw std::runtime_error("rank " + std::to_string(rank));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error &failure) {
      EXPECT_EQ(failure.what(), "rank " + std::to_string(round % 4));
    }
    EXPECT_EQ(calls, 4) << "the others finish first";
    calls = 0;
    team.run([&](int64_t) { ++calls; });
    EXPECT_EQ(calls, 4) << "a failure is not reported twice";
  }
}

TEST(RankTeam, AllMayThrow) {
  RankTeam team(3);
  EXPECT_THROW(team.run([](int64_t) { throw 7; }), int);
  team.run([](int64_t) {});
}

TEST(RankTeam, EndsTheThreadsThatStartedWhenMemoryRunsOut) {
  if (!test::allocationsCanFail)
    GTEST_SKIP() << "sanitizers bring an operator new";
  for (int64_t allowed = 0; allowed < 6; ++allowed) {
    test::allocationsLeft = allowed;
    bool threw = false;
    try {
      RankTeam team(16);
    } catch (const std::bad_alloc &) {
      threw = true;
    }
    test::allocationsLeft = -1;
    EXPECT_TRUE(threw) << allowed;
  }
}

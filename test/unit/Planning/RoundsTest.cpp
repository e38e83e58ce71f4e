//===- RoundsTest.cpp - When which ranks talk -----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Rounds.h"
#include "PlanningTestSupport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace sart;
using namespace sart::test;

namespace {

using Sizes = std::vector<int64_t>;

Rounds schedule(int64_t ranks, const Sizes &sizes) {
  Expected<Rounds> rounds = scheduleRounds(ranks, sizes);
  EXPECT_TRUE(rounds.ok()) << rounds.message();
  return rounds ? *rounds : Rounds();
}

/// Every transfer once, no port used twice at a time, makespan as said.
void checkSchedule(int64_t ranks, const Sizes &sizes, const Rounds &rounds) {
  Sizes left = sizes;
  for (int64_t rank = 0; rank < ranks; ++rank)
    left[static_cast<size_t>(rank * ranks + rank)] = 0;
  Sizes sent(static_cast<size_t>(ranks), 0), received = sent;
  int64_t makespan = 0;
  // Ascending by begin, so the ends seen so far are those before it.
  for (const ScheduledTransfer &one : rounds.transfers) {
    int64_t &size = left[static_cast<size_t>(one.from * ranks + one.to)];
    ASSERT_GT(size, 0);
    ASSERT_EQ(one.end - one.begin, size);
    size = 0;
    int64_t &sender = sent[static_cast<size_t>(one.from)];
    int64_t &receiver = received[static_cast<size_t>(one.to)];
    ASSERT_GE(one.begin, std::max(sender, receiver));
    sender = receiver = one.end;
    makespan = std::max(makespan, one.end);
  }
  EXPECT_EQ(std::count(left.begin(), left.end(), 0), ranks * ranks);
  EXPECT_EQ(makespan, rounds.makespan);
  EXPECT_LE(rounds.makespan, rounds.ringMakespan);
  EXPECT_GE(rounds.makespan, rounds.lowerBound);
  Sizes distances = rounds.distances;
  std::sort(distances.begin(), distances.end());
  for (size_t i = 0; i < distances.size(); ++i)
    EXPECT_EQ(distances[i], static_cast<int64_t>(i + 1));
  EXPECT_EQ(ringMakespan(ranks, sizes, rounds.distances), rounds.ringMakespan);
}

// Rank 0 sends 3 to rank 1 and 1 to rank 2, rank 1 sends 2 to rank 2.
TEST(Rounds, KnownSchedule) {
  Sizes sizes = {0, 3, 1, 0, 0, 2, 0, 0, 0};
  EXPECT_EQ(barrierMakespan(3, sizes), 4);
  EXPECT_EQ(ringMakespan(3, sizes, {1, 2}), 4);
  // 0 -> 2 first keeps the port of rank 2 from rank 1.
  EXPECT_EQ(ringMakespan(3, sizes, {2, 1}), 4);
  Rounds rounds = schedule(3, sizes);
  EXPECT_EQ(rounds.kind, Rounds::Kind::Ring);
  EXPECT_EQ(rounds.lowerBound, 4);
  EXPECT_EQ(rounds.makespan, 4);
  EXPECT_EQ(rounds.transfers, (std::vector<ScheduledTransfer>{
                                  {0, 1, 0, 3}, {1, 2, 0, 2}, {0, 2, 3, 4}}));
  EXPECT_EQ(rounds.sendsOf(0), (Sizes{1, 2}));
  EXPECT_EQ(rounds.receivesOf(2), (Sizes{1, 0}));
  EXPECT_TRUE(rounds.sendsOf(2).empty());
}

// Each distance has one long transfer, 0 -> 1 and 2 -> 0 (of four ranks) and
// 3 -> 2: they can run side by side, which barriers prevent.
TEST(Rounds, NeedNoBarriers) {
  Sizes sizes(16, 0);
  sizes[0 * 4 + 1] = 10; // distance 1
  sizes[2 * 4 + 0] = 10; // distance 2
  sizes[3 * 4 + 2] = 10; // distance 3
  EXPECT_EQ(barrierMakespan(4, sizes), 30);
  EXPECT_EQ(schedule(4, sizes).makespan, 10);
}

// The dense ring takes every distance in turn.
TEST(Rounds, OfADenseRingAreTheRing) {
  for (int64_t ranks : {2, 3, 8, 64}) {
    Rounds rounds =
        schedule(ranks, Sizes(static_cast<size_t>(ranks * ranks), 5));
    EXPECT_EQ(rounds.kind, Rounds::Kind::Ring);
    EXPECT_EQ(rounds.makespan, 5 * (ranks - 1));
    EXPECT_EQ(rounds.makespan, rounds.lowerBound);
    EXPECT_TRUE(
        std::is_sorted(rounds.distances.begin(), rounds.distances.end()));
  }
}

TEST(Rounds, OfNothing) {
  Rounds alone = schedule(1, {7});
  EXPECT_TRUE(alone.transfers.empty());
  EXPECT_EQ(alone.makespan, 0);
  EXPECT_EQ(schedule(3, Sizes(9, 0)).makespan, 0);
}

TEST(Rounds, Refuse) {
  EXPECT_EQ(scheduleRounds(0, {}).message(),
            "number of ranks out of range: got 0, expected 1 to 1024");
  EXPECT_EQ(scheduleRounds(2, {1, 2, 3}).message(),
            "entries of a demand: got 3, expected 4 for 2 ranks");
  EXPECT_EQ(scheduleRounds(2, {0, -1, 0, 0}).message(),
            "size of a transfer: got -1, expected at least 0");
  EXPECT_EQ(scheduleRounds(2, {0, INT64_MAX, 0, 0}).message(),
            "sum of a demand: got more than 4611686018427387904, expected at "
            "most that");
}

/// Kinds of demand, by name in the test's output.
Sizes skewed(int64_t ranks, Random &random) {
  // A few large, many small, most none: 2^x with x up to 10.
  Sizes sizes(static_cast<size_t>(ranks * ranks), 0);
  for (int64_t &size : sizes)
    if (random.chance(40))
      size = (int64_t(100) << random.below(5)) + random.below(100);
  return sizes;
}

Sizes hotSenders(int64_t ranks, Random &random) {
  Sizes sizes(static_cast<size_t>(ranks * ranks), 0);
  for (int64_t &size : sizes)
    if (random.chance(15))
      size = random.below(1000);
  for (int64_t i = 0; i < 2; ++i) {
    int64_t from = random.below(ranks);
    for (int64_t to = 0; to < ranks; ++to)
      sizes[static_cast<size_t>(from * ranks + to)] += 500 + random.below(1000);
  }
  return sizes;
}

Sizes video(int64_t ranks, Random &random) {
  // Near ranks need more of each other.
  Sizes sizes(static_cast<size_t>(ranks * ranks), 0);
  int64_t fall = 500 + random.below(500);
  for (int64_t from = 0; from < ranks; ++from)
    for (int64_t to = 0; to < ranks; ++to) {
      int64_t distance =
          std::min((to - from + ranks) % ranks, (from - to + ranks) % ranks);
      sizes[static_cast<size_t>(from * ranks + to)] =
          1000 - fall * distance / ranks + random.below(100);
    }
  return sizes;
}

/// A plan of a ring of `ring` segments with transfers of whole kv-blocks:
/// blocks[from * ring + to] of them, of one kv head.
Plan planOf(int64_t ring, const Sizes &blocks, int64_t ulysses = 0) {
  Plan plan;
  for (int64_t to = 0; to < ring; ++to)
    for (int64_t from = 0; from < ring; ++from) {
      int64_t count = blocks[static_cast<size_t>(from * ring + to)];
      if (from != to && count > 0)
        plan.transfers.push_back(
            {0, ulysses, from, to, {{from * 100, from * 100 + count}}});
    }
  return plan;
}

TEST(RingDistances, PutTheFewestTokensLast) {
  Placement placement = makePlacement(2, 4, 2, 2, 400 * 128, 400 * 128);
  // Every rank sends 5 blocks by distance 1, 1 by distance 2, 3 by distance 3.
  Sizes blocks(16, 0);
  for (int64_t from = 0; from < 4; ++from)
    for (int64_t distance = 1; distance < 4; ++distance)
      blocks[static_cast<size_t>(from * 4 + (from + distance) % 4)] =
          distance == 1   ? 5
          : distance == 2 ? 1
                          : 3;
  EXPECT_EQ(ringDistances(planOf(4, blocks), placement, 0), (Sizes{1, 3, 2}));
  // The other Ulysses index has no transfers.
  EXPECT_EQ(ringDistances(planOf(4, blocks), placement, 1), (Sizes{1, 2, 3}));
  EXPECT_EQ(ringDistances(planOf(4, blocks, 1), placement, 1),
            (Sizes{1, 3, 2}));
  // All alike: ascending. One segment: none.
  EXPECT_EQ(ringDistances(planOf(4, Sizes(16, 7)), placement, 0),
            (Sizes{1, 2, 3}));
  placement.mesh.ring = 1;
  EXPECT_TRUE(ringDistances(Plan(), placement, 0).empty());
}

TEST(RingDistances, AreNeverLongerThanAscendingOnes) {
  Random random(3);
  Placement placement = makePlacement(1, 8, 1, 1, 800 * 128, 800 * 128);
  for (int round = 0; round < 20; ++round) {
    Sizes blocks(64, 0);
    for (int64_t &count : blocks)
      count = random.chance(70) ? 1 + random.below(99) : 0;
    Sizes distances = ringDistances(planOf(8, blocks), placement, 0);
    Sizes ascending = {1, 2, 3, 4, 5, 6, 7}, sorted = distances;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, ascending);
    EXPECT_LE(ringMakespan(8, blocks, distances),
              ringMakespan(8, blocks, ascending));
  }
}

struct Kind {
  const char *name;
  Sizes (*make)(int64_t ranks, Random &random);
  double mean; ///< of makespan over lower bound
};

class RoundsOf : public testing::TestWithParam<Kind> {};

TEST_P(RoundsOf, ComeCloseToTheBusiestPort) {
  for (int64_t ranks : {4, 8, 16}) {
    Random random(static_cast<uint64_t>(ranks));
    double sum = 0, barrier = 0;
    constexpr int count = 40;
    for (int i = 0; i < count; ++i) {
      Sizes sizes = GetParam().make(ranks, random);
      Rounds rounds = schedule(ranks, sizes);
      checkSchedule(ranks, sizes, rounds);
      EXPECT_EQ(schedule(ranks, sizes).transfers, rounds.transfers);
      double bound = static_cast<double>(rounds.lowerBound);
      sum += static_cast<double>(rounds.makespan) / bound;
      barrier += static_cast<double>(barrierMakespan(ranks, sizes)) / bound;
    }
    EXPECT_LE(sum / count, GetParam().mean) << ranks << " ranks";
    EXPECT_LT(sum, barrier) << ranks << " ranks";
    RecordProperty(concat("ranks_", ranks),
                   concat(sum / count, " barrier ", barrier / count));
  }
}

INSTANTIATE_TEST_SUITE_P(Demands, RoundsOf,
                         testing::Values(Kind{"Skewed", skewed, 1.01},
                                         Kind{"HotSenders", hotSenders, 1.01},
                                         Kind{"Video", video, 1.01}),
                         [](const testing::TestParamInfo<Kind> &info) {
                           return std::string(info.param.name);
                         });

TEST(Rounds, OfManyRanks) {
  Random random(64);
  for (auto *make : {skewed, hotSenders, video}) {
    Sizes sizes = make(64, random);
    Rounds rounds = schedule(64, sizes);
    checkSchedule(64, sizes, rounds);
    EXPECT_LE(100 * rounds.makespan, 103 * rounds.lowerBound);
  }
}

} // namespace

//===- SplitTest.cpp - Rows that move -------------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BalanceTestSupport.h"

#include <set>

using namespace sart;
using namespace sart::test;

namespace {

SplitOptions exactly(int64_t epsilonMilli) {
  SplitOptions options;
  options.epsilonMilli = {epsilonMilli};
  options.maxPieces = 1024;
  return options;
}

/// One head per rank whose first rows have one tile each, so that any amount of
/// work can leave it.
MaskSummary oneHeadEach(const std::vector<int64_t> &loads,
                        Placement &placement) {
  auto ranks = static_cast<int64_t>(loads.size());
  placement = makePlacement(ranks, 1, ranks, ranks, 64 * 64, 64 * 64, 64);
  std::vector<int32_t> rows(ranks * 64, 0);
  for (int64_t rank = 0; rank < ranks; ++rank)
    std::fill_n(rows.begin() + rank * 64, loads[rank], 1);
  return summaryOfRows(placement, rows);
}

/// Fewest transfers of any integer amounts after which no load is above
/// `ceiling`, by search in breadth.
int64_t fewestTransfers(std::vector<int64_t> loads, int64_t ceiling) {
  std::set<std::vector<int64_t>> front = {loads}, seen = front;
  for (int64_t depth = 0;; ++depth) {
    std::set<std::vector<int64_t>> next;
    for (const std::vector<int64_t> &state : front) {
      if (*std::max_element(state.begin(), state.end()) <= ceiling)
        return depth;
      for (size_t from = 0; from < state.size(); ++from)
        for (size_t to = 0; to < state.size(); ++to)
          for (int64_t amount = 1; from != to && amount <= state[from];
               ++amount) {
            std::vector<int64_t> after = state;
            after[from] -= amount;
            after[to] += amount;
            if (seen.insert(after).second)
              next.insert(after);
          }
    }
    front = std::move(next);
  }
}

TEST(PlanSplits, FewestTransfersEqualBruteForce) {
  Random random(20261130);
  std::map<int64_t, int64_t> counts;
  for (int round = 0; round < 150; ++round) {
    std::vector<int64_t> loads;
    for (int64_t rank = 0; rank < 2 + round % 4; ++rank)
      loads.push_back(random.below(round % 4 == 3 ? 5 : 8));
    int64_t epsilon = random.chance(50) ? 0 : random.below(300), sum = 0;
    for (int64_t load : loads)
      sum += load;
    auto ranks = static_cast<int64_t>(loads.size());
    int64_t ceiling =
        (sum * (1000 + epsilon) + 1000 * ranks - 1) / (1000 * ranks);
    Placement placement;
    MaskSummary summary = oneHeadEach(loads, placement);
    std::vector<int64_t> owners = initialOwners(placement);
    SplitOptions options = exactly(epsilon);
    options.cost.tilePs = 1; // so that the ceiling is whole tiles
    std::vector<RowMove> moves =
        planSplits(summary, owners, placement, options);
    expectLegal(moves, owners, placement, 1024);
    std::vector<int64_t> after = loadsAfter(summary, owners, moves, placement);
    ASSERT_LE(*std::max_element(after.begin(), after.end()), ceiling);
    ASSERT_EQ(static_cast<int64_t>(moves.size()),
              fewestTransfers(loads, ceiling))
        << "round " << round;
    ++counts[static_cast<int64_t>(moves.size())];
  }
  EXPECT_GE(counts.size(), 4u);
}

TEST(PlanSplits, TwoPairsInsteadOfAChain) {
  // 9 + 3 and 8 + 4 have the mean 6: two transfers; largest to smallest needs
  // three.
  Placement placement;
  MaskSummary summary = oneHeadEach({9, 8, 3, 4}, placement);
  std::vector<RowMove> moves =
      planSplits(summary, initialOwners(placement), placement, exactly(0));
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0], (RowMove{0, {0, 3}, 0, 2}));
  EXPECT_EQ(moves[1], (RowMove{1, {0, 2}, 1, 3}));
}

TEST(PlanSplits, LowestLoadForTheSameNumberOfTransfers) {
  // A mean of 10 and an excess of 20 %: one transfer brings 16 and 4 to 10, not
  // just below 12.
  Placement placement;
  MaskSummary summary = oneHeadEach({16, 10, 10, 4}, placement);
  std::vector<int64_t> owners = initialOwners(placement);
  std::vector<RowMove> moves =
      planSplits(summary, owners, placement, exactly(200));
  EXPECT_EQ(loadsAfter(summary, owners, moves, placement),
            (std::vector<int64_t>{10, 10, 10, 10}));
}

TEST(PlanSplits, AnyRanksHeadsAndMeshes) {
  Random random(77);
  int64_t moved = 0;
  for (int round = 0; round < 300; ++round) {
    Placement placement = randomPlacement(random);
    if (random.chance(20))
      placement.mesh = {1 + random.below(40), 1};
    std::vector<int32_t> rows;
    for (int64_t i = 0; i < placement.shape.heads * placement.shape.qBlocks();
         ++i)
      rows.push_back(random.chance(15) ? 0
                                       : static_cast<int32_t>(random.below(
                                             placement.shape.kvBlocks() + 1)));
    MaskSummary summary = summaryOfRows(placement, rows);
    SplitOptions options;
    options.maxPieces = 1 + random.below(6);
    options.cost.rowPs = random.chance(50) ? 0 : random.below(20000);
    std::vector<int64_t> owners = initialOwners(placement);
    if (random.chance(50))
      for (int64_t &owner : owners)
        owner = random.below(placement.mesh.ulysses);
    std::vector<RowMove> moves =
        planSplits(summary, owners, placement, options);
    ASSERT_NO_FATAL_FAILURE(
        expectLegal(moves, owners, placement, options.maxPieces));
    EXPECT_EQ(moves, planSplits(summary, owners, placement, options));
    if (options.cost.rowPs == 0)
      EXPECT_LE(imbalance(loadsAfter(summary, owners, moves, placement)),
                imbalance(rankLoads(summary.loads, owners, placement.mesh)));
    moved += static_cast<int64_t>(moves.size());
  }
  EXPECT_GT(moved, 300);
}

TEST(PlanSplits, NothingToDo) {
  Placement placement;
  MaskSummary summary = oneHeadEach({7, 7, 7}, placement);
  EXPECT_TRUE(
      planSplits(summary, initialOwners(placement), placement, exactly(0))
          .empty());
  summary = oneHeadEach({0, 0, 0}, placement);
  EXPECT_TRUE(
      planSplits(summary, initialOwners(placement), placement, exactly(0))
          .empty());
  summary = oneHeadEach({9}, placement);
  EXPECT_TRUE(
      planSplits(summary, initialOwners(placement), placement, exactly(0))
          .empty());
}

TEST(PlanSplits, ARingMovesRowsInsideItsGroups) {
  Placement placement = makePlacement(2, 2, 2, 2, 8 * 64, 8 * 64, 64);
  // Head 0 is heavy in segment 0, head 1 in segment 1.
  MaskSummary summary = summaryOfRows(
      placement, {4, 4, 4, 4, 2, 2, 2, 2, 1, 1, 1, 1, 5, 5, 5, 5});
  std::vector<int64_t> owners = initialOwners(placement);
  std::vector<RowMove> moves =
      planSplits(summary, owners, placement, exactly(0));
  // 16 and 8, 4 and 20: a mean of 12 both.
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(moves[0], (RowMove{0, {0, 1}, 0, 2}));
  EXPECT_EQ(moves[1], (RowMove{1, {4, 6}, 3, 1}));
}

TEST(PlanSplits, TheSlowestGroupSetsTheMark) {
  // The group of Ulysses index 0 cannot get below 16, so the other one stays.
  Placement placement = makePlacement(2, 2, 2, 2, 4 * 64, 8 * 64, 64);
  MaskSummary summary = summaryOfRows(placement, {8, 8, 8, 8, 8, 7, 2, 1});
  EXPECT_TRUE(
      planSplits(summary, initialOwners(placement), placement, exactly(0))
          .empty());
}

TEST(PlanSplits, DearTransfersAreLeftOut) {
  Placement placement;
  MaskSummary summary = oneHeadEach({16, 10, 10, 4}, placement);
  std::vector<int64_t> owners = initialOwners(placement);
  // The one transfer shortens 16 tiles to 10, but what it carries, 6 tiles,
  // must have arrived: it pays while it takes less than 10 tiles.
  SplitOptions options = exactly(0);
  options.cost.transferPs = 9999;
  EXPECT_EQ(planSplits(summary, owners, placement, options).size(), 1u);
  options.cost.transferPs = 10000;
  EXPECT_TRUE(planSplits(summary, owners, placement, options).empty());
  options.cost.transferPs = 0;
  options.cost.scheduleNs = 5;
  EXPECT_EQ(planSplits(summary, owners, placement, options).size(), 1u);
  options.cost.scheduleNs = 6;
  EXPECT_TRUE(planSplits(summary, owners, placement, options).empty());
}

TEST(PlanSplits, DearTransfersRaiseTheExcess) {
  // Exact balance takes three transfers, one of them late; 10 % over the mean
  // of 20 takes two,
  // which ship no more than it needs.
  Placement placement;
  MaskSummary summary = oneHeadEach({30, 24, 14, 12}, placement);
  std::vector<int64_t> owners = initialOwners(placement);
  SplitOptions options;
  options.epsilonMilli = {0, 100};
  EXPECT_EQ(planSplits(summary, owners, placement, options).size(), 3u);
  options.cost.transferPs = 10000;
  std::vector<RowMove> moves = planSplits(summary, owners, placement, options);
  EXPECT_EQ(moves.size(), 2u);
  EXPECT_EQ(loadsAfter(summary, owners, moves, placement),
            (std::vector<int64_t>{21, 21, 17, 21}));
}

TEST(PlanSplits, CheapestRowsAndHeads) {
  // Rank 0 has two heads of 16 rows; the second one's last rows are heavy, so
  // fewest queries leave from there.
  Placement placement = makePlacement(2, 1, 4, 4, 16 * 64, 16 * 64, 64);
  std::vector<int32_t> rows(64, 1);
  for (int i = 28; i < 32; ++i)
    rows[i] = 8;
  MaskSummary summary = summaryOfRows(placement, rows);
  std::fill(summary.demand.begin(), summary.demand.end(), 0xffff);
  std::vector<int64_t> owners = initialOwners(placement);
  // 60 and 32: 14 must leave, two rows of 8 are nearest from that end; every
  // other place needs 14 rows.
  std::vector<RowMove> moves =
      planSplits(summary, owners, placement, exactly(0));
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0], (RowMove{1, {14, 16}, 0, 1}));

  // Both ranks have the second kv head: rows of head 3 travel without keys, so
  // eight of them cost less than two of head 0.
  placement = makePlacement(2, 1, 4, 4, 16 * 64, 16 * 64, 64);
  placement.shape.heads = 6;
  placement.shape.kvHeads = 2;
  rows.assign(6 * 16, 1);
  std::fill_n(rows.begin(), 16, 4);
  std::fill_n(rows.begin() + 64, 32, 3);
  summary = summaryOfRows(placement, rows);
  std::fill(summary.demand.begin(), summary.demand.end(), 0xffff);
  owners = {0, 0, 0, 0, 1, 1};
  moves = planSplits(summary, owners, placement, exactly(0));
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0], (RowMove{3, {0, 8}, 0, 1}));
}

TEST(PlanSplits, HeadsWithFewRowsGoWhole) {
  // One row per head: three of four must leave rank 0.
  Placement placement = makePlacement(4, 1, 4, 4, 64, 64 * 64, 64);
  MaskSummary summary = summaryOfRows(placement, {9, 9, 9, 9});
  std::vector<int64_t> owners = {0, 0, 0, 0};
  std::vector<RowMove> moves =
      planSplits(summary, owners, placement, exactly(0));
  EXPECT_EQ(moves.size(), 3u);
  EXPECT_EQ(loadsAfter(summary, owners, moves, placement),
            (std::vector<int64_t>{9, 9, 9, 9}));
}

TEST(PlanSplits, CostsNearTheLimitDoNotOverflow) {
  Placement placement;
  MaskSummary summary = oneHeadEach({60, 10, 20, 30}, placement);
  std::vector<int64_t> owners = initialOwners(placement);
  SplitOptions options = exactly(0);
  std::vector<RowMove> moves = planSplits(summary, owners, placement, options);
  options.cost.tilePs = int64_t(1) << 40;
  EXPECT_EQ(planSplits(summary, owners, placement, options), moves);
  for (int32_t &tiles : summary.rowTiles)
    tiles *= 1 << 24;
  for (int64_t &tiles : summary.loads.tiles)
    tiles *= 1 << 24;
  EXPECT_EQ(planSplits(summary, owners, placement, options), moves);
}

TEST(PlanSplits, BoundsTheMovesPerRank) {
  Placement placement;
  MaskSummary summary = oneHeadEach({60, 0, 0, 0, 0, 0, 0, 0}, placement);
  std::vector<int64_t> owners = initialOwners(placement);
  SplitOptions options = exactly(0);
  EXPECT_EQ(planSplits(summary, owners, placement, options).size(), 7u);
  options.maxPieces = 3;
  EXPECT_EQ(planSplits(summary, owners, placement, options).size(), 3u);
}

TEST(SplitOptions, RefusesWhatItCannotUse) {
  SplitOptions options;
  EXPECT_TRUE(options.verify().ok());
  options.epsilonMilli = {20, 10};
  EXPECT_EQ(options.verify().message(),
            "excess of the largest load out of range: got 10, expected "
            "ascending thousandths, 21 to 1000");
  options.epsilonMilli = {1001};
  EXPECT_EQ(options.verify().message(),
            "excess of the largest load out of range: got 1001, expected "
            "ascending thousandths, 0 to 1000");
  options.epsilonMilli = {0};
  options.maxPieces = 0;
  EXPECT_EQ(options.verify().message(),
            "row moves per rank out of range: got 0, expected at least 1");
}

} // namespace

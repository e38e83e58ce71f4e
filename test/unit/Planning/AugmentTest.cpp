//===- AugmentTest.cpp - Slack-aware augmentation -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PlanningTestSupport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

using namespace sart;
using namespace sart::test;

namespace {

TEST(Augment, BudgetsCanBeSpentAndKeepTheDemand) {
  Random random(15);
  int64_t spent = 0;
  for (int round = 0; round < 120; ++round) {
    Placement p = randomPlacement(random);
    BlockMask mask = makeMask(p.shape, random);
    if (p.shape.causal) {
      // Routing selects visible blocks only.
      std::vector<uint8_t> bits = mask.toBits();
      for (int64_t h = 0; h < p.shape.heads; ++h)
        for (int64_t i = 0; i < mask.qBlocks(); ++i)
          for (int64_t j = p.shape.visibleKvBlocks(i); j < mask.kvBlocks(); ++j)
            bits[(h * mask.qBlocks() + i) * mask.kvBlocks() + j] = 0;
      mask = BlockMask::fromBits(bits.data(), p.shape.heads, mask.qBlocks(),
                                 mask.kvBlocks());
    }
    MaskSummary summary = summarize(mask, p);
    PlannerOptions options = eagerOptions();
    options.augment = true;
    Plan plan = *makePlan(summary, p, options);
    std::vector<int64_t> owners = plan.owners(p);
    std::vector<std::vector<int32_t>> lists;
    for (int64_t h = 0; h < p.shape.heads; ++h)
      for (int64_t i = 0; i < mask.qBlocks(); ++i)
        lists.emplace_back(mask.row(h, i), mask.row(h, i) + mask.count(h, i));
    for (const ExtraTiles &extra : plan.extras) {
      EXPECT_EQ(owners[extra.head], p.ownerOfHead(extra.head));
      Range blocks = p.qBlocksOf(extra.ringIndex);
      auto first = lists.begin() + extra.head * mask.qBlocks() + blocks.begin;
      std::vector<std::vector<int32_t>> rows(first, first + blocks.size());
      std::vector<float> scores;
      for (int64_t i = blocks.begin; i < blocks.end; ++i)
        for (int64_t j = 0; j < mask.kvBlocks(); ++j)
          scores.push_back(j < p.shape.visibleKvBlocks(i)
                               ? static_cast<float>(random.below(5))
                               : -std::numeric_limits<float>::infinity());
      EXPECT_EQ(addExtraTiles(rows, scores, mask.kvBlocks(),
                              p.kvBlocksOf(extra.ringIndex), extra.tiles),
                extra.tiles);
      std::copy(rows.begin(), rows.end(), first);
      spent += extra.tiles;
    }
    Expected<BlockMask> grown = BlockMask::fromLists(
        p.shape.heads, mask.qBlocks(), mask.kvBlocks(), lists);
    ASSERT_TRUE(grown.ok()) << grown.message();
    EXPECT_EQ(*BlockMask::unite(*grown, mask), *grown);
    MaskSummary after = summarize(*grown, p);
    EXPECT_EQ(rankLoads(after.loads, owners, p.mesh), plan.loadsAfter);
    EXPECT_EQ(computeDemand(after, p, owners), plan.transfers);
  }
  EXPECT_GT(spent, 1000);
}

TEST(Augment, UsesTheSlackOfOneRank) {
  Placement p;
  MaskSummary summary = twoRanks({500, 500, 900, 50}, p);
  PlannerOptions options;
  // Slack 50 of 1000 is below n2; lower n2 and it counts.
  EXPECT_EQ(planExtraTiles(summary, p, {}, options),
            (std::vector<int64_t>{0, 0, 0, 0}));
  options.n2Milli = 49;
  // 40 over 100 and 950 unselected tiles: 3.8 and 36.2.
  EXPECT_EQ(planExtraTiles(summary, p, {}, options),
            (std::vector<int64_t>{0, 0, 4, 36}));
  options.n2Milli = 50;
  EXPECT_EQ(planExtraTiles(summary, p, {}, options),
            (std::vector<int64_t>{0, 0, 0, 0}));
  // Heads that came get nothing.
  options.n2Milli = 0;
  summary = twoRanks({900, 100, 100, 100}, p);
  std::vector<int64_t> budgets =
      planExtraTiles(summary, p, {{1, 0, 1}}, options);
  EXPECT_EQ(budgets, (std::vector<int64_t>{0, 0, 240, 240}));
  // Not more than there is: 1000 tiles per head.
  summary = twoRanks({1000, 1000, 990, 1000}, p);
  EXPECT_EQ(planExtraTiles(summary, p, {}, options),
            (std::vector<int64_t>{0, 0, 8, 0}));
}

TEST(Augment, TakesTheNextBestBlocks) {
  std::vector<std::vector<int32_t>> rows = {{1, 4}, {0, 1, 2, 3, 4}, {}};
  float hidden = -std::numeric_limits<float>::infinity();
  std::vector<float> scores = {.1f, .9f, .3f,    .3f, .8f, .2f, // row 0
                               .5f, .4f, .3f,    .2f, .1f, .6f, // row 1
                               .1f, .2f, hidden, .4f, .4f, .9f};
  // Block 5 is outside the range. Room: 3, 0 and 4 tiles; 4 of 7 give 1.7 and
  // 2.3.
  EXPECT_EQ(addExtraTiles(rows, scores, 6, {0, 5}, 4), 4);
  EXPECT_EQ(rows, (std::vector<std::vector<int32_t>>{
                      {1, 2, 3, 4}, {0, 1, 2, 3, 4}, {3, 4}}));
  // More than there is.
  EXPECT_EQ(addExtraTiles(rows, scores, 6, {0, 5}, 100), 3);
  EXPECT_EQ(rows, (std::vector<std::vector<int32_t>>{
                      {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}, {0, 1, 3, 4}}));
  EXPECT_EQ(addExtraTiles(rows, scores, 6, {0, 5}, 1), 0);
  EXPECT_EQ(addExtraTiles(rows, scores, 6, {0, 6}, 0), 0);
  EXPECT_EQ(addExtraTiles(rows, scores, 6, {3, 3}, 5), 0);
  // Equal scores: the lower kv-block.
  rows = {{1}};
  EXPECT_EQ(addExtraTiles(rows, {.2f, .9f, .2f, .2f}, 4, {0, 4}, 1), 1);
  EXPECT_EQ(rows, (std::vector<std::vector<int32_t>>{{0, 1}}));
}

} // namespace

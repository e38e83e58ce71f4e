//===- BlockRuleTest.cpp - Rules that give blocks to ranks ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/RingPlacement.h"

#include <gtest/gtest.h>

using namespace sart;

namespace {

BlockGrid makeGrid(int64_t t, int64_t h, int64_t w, int64_t blockQ,
                   int64_t blockK) {
  BlockGrid grid;
  grid.order.grid = {t, h, w};
  grid.blockQ = blockQ;
  grid.blockK = blockK;
  return grid;
}

BlockOwners place(const BlockRule &rule, const BlockGrid &grid, int64_t ranks) {
  Expected<BlockOwners> owners = placeBlocks(rule, grid, ranks);
  EXPECT_TRUE(owners.ok()) << owners.message();
  return owners ? *owners : BlockOwners();
}

BlockRule tiles(int64_t t, int64_t h) { return {BlockRule::Kind::Tiles, t, h}; }

using Owners = std::vector<int32_t>;

TEST(BlockRule, ReadsWhatItPrints) {
  for (const char *text :
       {"contiguous", "stripes", "tiles<t=2,h=4>", "tiles<t=1,h=1024>"}) {
    Expected<BlockRule> rule = parseBlockRule(text);
    ASSERT_TRUE(rule.ok()) << rule.message();
    EXPECT_EQ(toString(*rule), text);
  }
  for (const char *text :
       {"", "tiles", "tiles<t=2,h=4", "tiles<t=0,h=4>", "tiles<t=2,h=4>x",
        "tiles<h=4,t=2>", "stripes ", "tiles<t=2,h=1025>", "tiles<t=,h=4>"})
    EXPECT_EQ(parseBlockRule(text).message(),
              concat("placement not known: got '", text,
                     "', expected contiguous, stripes or tiles<t=N,h=N>"));
}

TEST(BlockRule, ListsAllTiles) {
  std::vector<std::string> texts;
  for (const BlockRule &rule : blockRules(12))
    texts.push_back(toString(rule));
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "contiguous", "stripes", "tiles<t=2,h=6>",
                       "tiles<t=3,h=4>", "tiles<t=4,h=3>", "tiles<t=6,h=2>"}));
  EXPECT_EQ(blockRules(7).size(), 2u);
  EXPECT_EQ(blockRules(1).size(), 2u);
}

// Two frames of 4 x 1 points, one point per block.
TEST(BlockRule, PlacesAGridThatFits) {
  BlockGrid grid = makeGrid(2, 4, 1, 1, 1);
  EXPECT_EQ(place({}, grid, 4).q, (Owners{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(place({BlockRule::Kind::Stripes, 1, 1}, grid, 4).q,
            (Owners{0, 1, 2, 3, 0, 1, 2, 3}));
  BlockOwners mixed = place(tiles(2, 2), grid, 4);
  EXPECT_EQ(mixed.q, (Owners{0, 0, 2, 2, 1, 1, 3, 3}));
  EXPECT_EQ(mixed.kv, mixed.q);
  EXPECT_EQ(mixed.rowsOf,
            (std::vector<Owners>{{0, 1}, {4, 5}, {2, 3}, {6, 7}}));
  // All time, or all space.
  EXPECT_EQ(place(tiles(4, 1), grid, 4).q, place({}, grid, 4).q);
  EXPECT_EQ(place(tiles(1, 4), grid, 4).q, (Owners{0, 1, 2, 3, 0, 1, 2, 3}));
}

// Five points in q-blocks of 2 (the last ragged) and kv-blocks of 1.
TEST(BlockRule, GivesKeysToTheRankOfTheirQueries) {
  BlockOwners owners = place({}, makeGrid(1, 5, 1, 2, 1), 2);
  EXPECT_EQ(owners.q, (Owners{0, 0, 1}));
  EXPECT_EQ(owners.kv, (Owners{0, 0, 0, 0, 1}));
  // A key block over two query blocks belongs to the first.
  EXPECT_EQ(place({}, makeGrid(1, 5, 1, 2, 3), 3).kv, (Owners{0, 1}));
}

// Means, not sums: the ragged block {4} has mean 4, the others 0.5 and 2.5.
TEST(BlockRule, ComparesMeansOfRaggedBlocks) {
  BlockOwners owners =
      place({BlockRule::Kind::Stripes, 1, 1}, makeGrid(1, 5, 1, 2, 1), 3);
  EXPECT_EQ(owners.q, (Owners{0, 1, 2}));
}

TEST(BlockRule, FollowsTheOrderOfTheTokens) {
  // In stripes order, places come one after the other already.
  BlockGrid grid = makeGrid(2, 4, 1, 1, 1);
  grid.order.kind = OrderKind::Stripes;
  EXPECT_EQ(place({BlockRule::Kind::Stripes, 1, 1}, grid, 4).q,
            place({}, grid, 4).q);
  // Text before and after counts as the grid's first and last token.
  grid = makeGrid(2, 2, 1, 1, 1);
  grid.order.prefix = grid.order.suffix = 1;
  EXPECT_EQ(place({BlockRule::Kind::Stripes, 1, 1}, grid, 2).q,
            (Owners{0, 0, 1, 0, 1, 1}));
}

TEST(BlockRule, SharesBlocksOutEvenly) {
  for (int64_t ranks : {1, 2, 6, 7, 8, 64})
    for (const BlockRule &rule : blockRules(ranks)) {
      BlockOwners owners = place(rule, makeGrid(9, 30, 52, 128, 64), ranks);
      ASSERT_EQ(owners.q.size(), 110u);
      ASSERT_EQ(owners.kv.size(), 220u);
      ASSERT_EQ(owners.rowsOf.size(), static_cast<size_t>(ranks));
      // Tiles round twice.
      size_t slack = rule.kind == BlockRule::Kind::Tiles ? 2 : 1;
      size_t least = 110, most = 0, sum = 0;
      for (const Owners &rows : owners.rowsOf) {
        least = std::min(least, rows.size());
        most = std::max(most, rows.size());
        sum += rows.size();
      }
      EXPECT_EQ(sum, 110u);
      EXPECT_LE(most - least, slack) << toString(rule) << " on " << ranks;
    }
}

TEST(BlockRule, Refuses) {
  BlockGrid grid = makeGrid(2, 2, 2, 1, 1);
  EXPECT_EQ(placeBlocks(tiles(2, 3), grid, 8).message(),
            "tiles do not fit the ranks: got 2 x 3, expected a product of 8");
  EXPECT_EQ(placeBlocks({}, grid, 0).message(),
            "number of ranks out of range: got 0, expected 1 to 1024");
  EXPECT_EQ(placeBlocks({}, makeGrid(2, 2, 2, 0, 1), 2).message(),
            "tokens of a block out of range: got 0, expected at least 1");
  EXPECT_EQ(placeBlocks({}, makeGrid(0, 2, 2, 1, 1), 2).message(),
            "grid axis T out of range: got 0, expected 1 to 1048576");
}

} // namespace

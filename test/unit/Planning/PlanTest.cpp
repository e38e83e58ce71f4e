//===- PlanTest.cpp - Plans: rules and hash -------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PlanningTestSupport.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

using namespace sart;
using namespace sart::test;

namespace {

/// 12 heads over 3 x 2 ranks, 4 kv heads; every kind of decision present.
struct PlanTest : ::testing::Test {
  PlanTest() : placement(makePlacement(3, 2, 12, 4, 1000, 1000, 64)) {
    plan.mesh = placement.mesh;
    plan.heads = 12;
    plan.kvHeads = 4;
    plan.qBlocks = plan.kvBlocks = 16;
    plan.moves = {{1, 0, 1}, {5, 1, 0}};
    // Segment 0 owns kv-blocks 0..7, segment 1 owns 8..15.
    plan.transfers = {{0, 0, 1, 0, {{8, 10}, {12, 13}}},
                      {1, 1, 1, 0, {{15, 16}}},
                      {1, 0, 0, 1, {{0, 8}}}};
    plan.extras = {{0, 0, 3}, {0, 1, 2}, {11, 1, 64}};
    plan.loadsBefore = {1, 2, 3, 4, 5, 6};
    plan.loadsAfter = {6, 5, 4, 3, 2, 1};
  }
  std::string messageOf(const std::function<void(Plan &)> &change) const {
    Plan changed = plan;
    change(changed);
    return changed.verify(placement).message();
  }
  Placement placement;
  Plan plan;
};

TEST_F(PlanTest, OwnersFollowTheMoves) {
  std::vector<int64_t> owners = plan.owners(placement);
  EXPECT_EQ(owners, (std::vector<int64_t>{0, 1, 0, 0, 1, 0, 1, 1, 2, 2, 2, 2}));
}

TEST_F(PlanTest, VerifiesWhatHolds) {
  EXPECT_EQ(messageOf([](Plan &) {}), "");
}

TEST_F(PlanTest, RefusesOtherSizes) {
  EXPECT_EQ(messageOf([](Plan &p) { p.mesh.ulysses = 2; }),
            "plan's mesh axis ulysses does not match the placement: got 2, "
            "expected 3");
  EXPECT_EQ(messageOf([](Plan &p) { p.mesh.ring = 1; }),
            "plan's mesh axis ring does not match the placement: got 1, "
            "expected 2");
  EXPECT_EQ(messageOf([](Plan &p) { p.heads = 11; }),
            "plan's number of heads does not match the placement: got 11, "
            "expected 12");
  EXPECT_EQ(messageOf([](Plan &p) { p.kvHeads = 3; }),
            "plan's number of kv heads does not match the placement: got 3, "
            "expected 4");
  EXPECT_EQ(messageOf([](Plan &p) { p.qBlocks = 15; }),
            "plan's number of q-blocks does not match the placement: got 15, "
            "expected 16");
  EXPECT_EQ(messageOf([](Plan &p) { p.kvBlocks = 17; }),
            "plan's number of kv-blocks does not match the placement: got 17, "
            "expected 16");
  EXPECT_EQ(messageOf([](Plan &p) { p.loadsBefore.pop_back(); }),
            "plan's loads before does not match the placement: got 5, expected "
            "6");
  EXPECT_EQ(messageOf([](Plan &p) { p.loadsAfter[2] = -1; }),
            "plan's loads after of rank 2 negative: got -1, expected at least "
            "0");
}

TEST_F(PlanTest, RefusesWrongMoves) {
  EXPECT_EQ(messageOf([](Plan &p) { p.moves[1].head = 12; }),
            "head of move 1 out of range: got 12, expected 0 to 11");
  EXPECT_EQ(messageOf([](Plan &p) { p.moves[0].from = 3; }),
            "source of move 0 out of range: got 3, expected 0 to 2");
  EXPECT_EQ(messageOf([](Plan &p) { p.moves[0].to = -1; }),
            "destination of move 0 out of range: got -1, expected 0 to 2");
  EXPECT_EQ(messageOf([](Plan &p) { p.moves[0].from = 1; }),
            "source of the move of head 1 is not its owner: got ulysses 1, "
            "expected 0");
  EXPECT_EQ(messageOf([](Plan &p) { p.moves[0].to = 0; }),
            "move of head 1 goes nowhere: got ulysses 0, expected another "
            "index than 0");
  EXPECT_EQ(messageOf([](Plan &p) { p.moves[1] = p.moves[0]; }),
            "moves not ascending by head: got head 1 at move 1, expected more "
            "than 1");
  EXPECT_EQ(messageOf([](Plan &p) { p.moves[1] = {2, 0, 2}; }),
            "more than one head leaves ulysses 0: got heads 1 and 2, expected "
            "at most one");
  EXPECT_EQ(messageOf([](Plan &p) { p.moves[1] = {8, 2, 1}; }),
            "more than one head enters ulysses 1: got heads 1 and 8, expected "
            "at most one");
}

TEST_F(PlanTest, RefusesWrongTransfers) {
  EXPECT_EQ(messageOf([](Plan &p) { p.transfers[0].kvHead = 4; }),
            "kv head of transfer 0 out of range: got 4, expected 0 to 3");
  EXPECT_EQ(messageOf([](Plan &p) { p.transfers[0].ulysses = 3; }),
            "ulysses index of transfer 0 out of range: got 3, expected 0 to 2");
  EXPECT_EQ(messageOf([](Plan &p) { p.transfers[0].from = 2; }),
            "source of transfer 0 out of range: got 2, expected 0 to 1");
  EXPECT_EQ(messageOf([](Plan &p) { p.transfers[0].to = -1; }),
            "destination of transfer 0 out of range: got -1, expected 0 to 1");
  EXPECT_EQ(messageOf([](Plan &p) { p.transfers[0].from = 0; }),
            "transfer 0 stays in its ring segment: got ring 0, expected "
            "another segment than 0");
  EXPECT_EQ(
      messageOf([](Plan &p) { std::swap(p.transfers[0], p.transfers[1]); }),
      "transfers not ascending by (to, from, ulysses, kv head): got "
      "transfer 1 (0, 1, 0, 0), expected more than its predecessor");
  EXPECT_EQ(messageOf([](Plan &p) { p.transfers[0].kvHead = 3; }),
            "transfer 0 goes to ranks without its kv head: got kv head 3, "
            "expected one that ulysses 0 owns after the moves");
  EXPECT_EQ(messageOf([](Plan &p) { p.transfers[2].blocks.clear(); }),
            "transfer 2 carries nothing: got 0 ranges, expected at least 1");
  EXPECT_EQ(messageOf([](Plan &p) { p.transfers[0].blocks[0].begin = 7; }),
            "kv-blocks of transfer 0 not ascending, disjoint and owned by ring "
            "1: got [7, 10), expected a range inside [8, 16)");
  EXPECT_EQ(messageOf([](Plan &p) { p.transfers[0].blocks[1].begin = 9; }),
            "kv-blocks of transfer 0 not ascending, disjoint and owned by ring "
            "1: got [9, 13), expected a range inside [10, 16)");
  EXPECT_EQ(messageOf([](Plan &p) { p.transfers[1].blocks[0].end = 17; }),
            "kv-blocks of transfer 1 not ascending, disjoint and owned by ring "
            "1: got [15, 17), expected a range inside [8, 16)");
}

TEST_F(PlanTest, RefusesWrongExtras) {
  EXPECT_EQ(messageOf([](Plan &p) { p.extras[0].head = -1; }),
            "head of extra tiles 0 out of range: got -1, expected 0 to 11");
  EXPECT_EQ(messageOf([](Plan &p) { p.extras[0].ringIndex = 2; }),
            "ring index of extra tiles 0 out of range: got 2, expected 0 to 1");
  EXPECT_EQ(messageOf([](Plan &p) { std::swap(p.extras[0], p.extras[1]); }),
            "extra tiles not ascending by (head, ring): got entry 1 (0, 0), "
            "expected more than its predecessor");
  EXPECT_EQ(messageOf([](Plan &p) { p.extras[2].tiles = 65; }),
            "extra tiles of head 11 in ring 1 out of range: got 65, expected 1 "
            "to 64");
  EXPECT_EQ(messageOf([](Plan &p) { p.extras[0].tiles = 0; }),
            "extra tiles of head 0 in ring 0 out of range: got 0, expected 1 "
            "to 64");
  EXPECT_EQ(messageOf([](Plan &p) { p.extras[1].head = 5; }),
            "extra tiles go to a head that moves: got head 5, expected a head "
            "that stays");
}

TEST_F(PlanTest, RowMoves) {
  // Rank 0 owns heads 0, 2 and 3 and 5, which came, in segment 0.
  EXPECT_EQ(messageOf([](Plan &p) {
              p.rowMoves = {{0, {0, 2}, 0, 3}, {0, {4, 8}, 0, 3}};
              p.extras.clear();
            }),
            "");
  auto moved = [&](std::vector<RowMove> moves) {
    return messageOf([&](Plan &p) {
      p.rowMoves = std::move(moves);
      p.extras.clear();
    });
  };
  EXPECT_EQ(moved({{12, {0, 2}, 0, 3}}),
            "head of row move 0 out of range: got 12, expected 0 to 11");
  EXPECT_EQ(moved({{0, {0, 2}, 6, 3}}),
            "source of row move 0 out of range: got 6, expected 0 to 5");
  EXPECT_EQ(moved({{0, {0, 2}, 0, -1}}),
            "destination of row move 0 out of range: got -1, expected 0 to 5");
  EXPECT_EQ(moved({{0, {7, 9}, 0, 3}}),
            "q-blocks of row move 0 not inside the segment of its source: got "
            "[7, 9), expected a range inside [0, 8)");
  EXPECT_EQ(moved({{0, {2, 2}, 0, 3}}),
            "q-blocks of row move 0 not inside the segment of its source: got "
            "[2, 2), expected a range inside [0, 8)");
  EXPECT_EQ(moved({{1, {0, 2}, 0, 3}}),
            "source of row move 0 does not own the rows: got rank 0, expected "
            "1");
  EXPECT_EQ(moved({{0, {0, 2}, 0, 4}}),
            "destination of row move 0 is not another rank of the ring group "
            "of its source: got rank 4, expected one beside 0");
  EXPECT_EQ(moved({{0, {0, 2}, 0, 3}, {0, {1, 4}, 0, 3}}),
            "row moves not ascending and disjoint: got row move 1 (head 0, "
            "q-block 1), expected more than (0, 1)");
}

TEST_F(PlanTest, HeldRowsArePartsOfEverything) {
  plan.rowMoves = {{0, {2, 4}, 0, 3}, {0, {6, 8}, 0, 3}, {5, {8, 16}, 3, 0}};
  std::vector<int> seen(static_cast<size_t>(plan.heads * plan.qBlocks), 0);
  for (int64_t rank = 0; rank < 6; ++rank)
    for (const HeldRows &part : rowsHeldBy(plan, placement, rank))
      for (int64_t row = part.qBlocks.begin; row < part.qBlocks.end; ++row)
        ++seen[static_cast<size_t>(part.head * plan.qBlocks + row)];
  EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
  std::vector<HeldRows> held = rowsHeldBy(plan, placement, 3);
  // Own segment first, then what came from segment 0.
  ASSERT_GE(held.size(), 2u);
  const HeldRows &last = held.back(), &before = held[held.size() - 2];
  EXPECT_TRUE(before.head == 0 && before.qBlocks == (Range{2, 4}) &&
              before.ringIndex == 0 && before.moved);
  EXPECT_TRUE(last.head == 0 && last.qBlocks == (Range{6, 8}) && last.moved);
  EXPECT_TRUE(std::none_of(held.begin(), held.end(), [](const HeldRows &part) {
    return part.head == 5; // all its rows left
  }));
}

TEST_F(PlanTest, HashSeesEveryField) {
  std::vector<std::function<void(Plan &)>> changes = {
      [](Plan &) {},
      [](Plan &p) { ++p.mesh.ulysses; },
      [](Plan &p) { ++p.mesh.ring; },
      [](Plan &p) { std::swap(p.mesh.ulysses, p.mesh.ring); },
      [](Plan &p) { ++p.heads; },
      [](Plan &p) { ++p.kvHeads; },
      [](Plan &p) { ++p.qBlocks; },
      [](Plan &p) { ++p.kvBlocks; },
      [](Plan &p) { ++p.moves[0].head; },
      [](Plan &p) { ++p.moves[0].from; },
      [](Plan &p) { ++p.moves[0].to; },
      [](Plan &p) { std::swap(p.moves[0], p.moves[1]); },
      [](Plan &p) { p.moves.pop_back(); },
      [](Plan &p) { p.moves.clear(); },
      [](Plan &p) { p.rowMoves = {{0, {0, 1}, 0, 3}}; },
      [](Plan &p) { p.rowMoves = {{1, {0, 1}, 0, 3}}; },
      [](Plan &p) { p.rowMoves = {{0, {1, 1}, 0, 3}}; },
      [](Plan &p) { p.rowMoves = {{0, {0, 2}, 0, 3}}; },
      [](Plan &p) { p.rowMoves = {{0, {0, 1}, 1, 3}}; },
      [](Plan &p) { p.rowMoves = {{0, {0, 1}, 0, 4}}; },
      [](Plan &p) { ++p.transfers[0].kvHead; },
      [](Plan &p) { ++p.transfers[0].ulysses; },
      [](Plan &p) { ++p.transfers[0].from; },
      [](Plan &p) { ++p.transfers[0].to; },
      [](Plan &p) { ++p.transfers[0].blocks[0].begin; },
      [](Plan &p) { ++p.transfers[0].blocks[0].end; },
      [](Plan &p) { p.transfers[0].blocks.pop_back(); },
      [](Plan &p) { p.transfers.pop_back(); },
      [](Plan &p) { ++p.extras[0].head; },
      [](Plan &p) { ++p.extras[0].ringIndex; },
      [](Plan &p) { ++p.extras[0].tiles; },
      [](Plan &p) { p.extras.pop_back(); },
      [](Plan &p) { ++p.loadsBefore[5]; },
      [](Plan &p) { ++p.loadsAfter[0]; },
      [](Plan &p) { p.loadsAfter.push_back(0); },
      [](Plan &p) { std::swap(p.loadsBefore, p.loadsAfter); },
      [](Plan &p) { p.loadsAfter[0] = -1; },
      [](Plan &p) { p.loadsAfter[0] = int64_t(1) << 62; },
  };
  std::set<uint64_t> hashes;
  for (size_t i = 0; i < changes.size(); ++i) {
    Plan changed = plan;
    changes[i](changed);
    EXPECT_TRUE(hashes.insert(changed.hash()).second) << "change " << i;
    EXPECT_EQ(changed == plan, i == 0) << "change " << i;
  }
  EXPECT_EQ(Plan(plan).hash(), plan.hash());
}

TEST_F(PlanTest, HashIsTheSameOnEveryMachine) {
  // Ranks of different builds compare it.
  EXPECT_EQ(Plan().hash(), 11556654505848297997ull);
  EXPECT_EQ(plan.hash(), 6141340186179289206ull);
}

TEST(Imbalance, LargestOverMean) {
  EXPECT_EQ(imbalance({}), 1);
  EXPECT_EQ(imbalance({0, 0, 0}), 1);
  EXPECT_EQ(imbalance({5, 5}), 1);
  EXPECT_EQ(imbalance({4, 0}), 2);
  EXPECT_EQ(imbalance({6, 2, 1, 3}), 2);
}

} // namespace

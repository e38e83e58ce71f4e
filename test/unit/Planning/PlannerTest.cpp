//===- PlannerTest.cpp - Loads, demand, gates, augmentation ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PlanningTestSupport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <set>

using namespace sart;
using namespace sart::test;

namespace {

TEST(Summary, CountsTilesAndDemand) {
  Random random(11);
  for (int round = 0; round < 60; ++round) {
    Placement p = randomPlacement(random);
    BlockMask mask = makeMask(p.shape, random);
    MaskSummary summary = summarize(mask, p);
    Status status = summary.verify(p);
    ASSERT_TRUE(status.ok()) << status.message();
    int64_t sum = 0;
    for (int64_t h = 0; h < p.shape.heads; ++h)
      for (int64_t r = 0; r < p.mesh.ring; ++r) {
        Range rows = p.qBlocksOf(r);
        int64_t tiles = 0;
        for (int64_t j = 0; j < mask.kvBlocks(); ++j) {
          int64_t users = 0;
          for (int64_t i = rows.begin; i < rows.end; ++i)
            users += mask.contains(h, i, j);
          tiles += users;
          ASSERT_EQ(summary.needs(h, r, j), users > 0);
        }
        EXPECT_EQ(summary.loads.tiles[h * p.mesh.ring + r], tiles);
        sum += tiles;
      }
    EXPECT_EQ(sum, mask.tiles());
    std::vector<int64_t> loads =
        rankLoads(summary.loads, initialOwners(p), p.mesh);
    EXPECT_EQ(std::accumulate(loads.begin(), loads.end(), int64_t(0)), sum);
  }
}

/// Records of all ranks as the executor gathers them; records that nobody
/// writes are poisoned.
std::vector<int32_t> gather(const BlockMask &mask, const Placement &p,
                            int64_t stride) {
  int64_t heads = p.shape.heads;
  std::vector<int32_t> gathered(p.mesh.ranks() * heads * stride, -1);
  for (int64_t rank = 0; rank < p.mesh.ranks(); ++rank) {
    Range rows = p.routedBlocksOf(rank);
    Range own = p.routedHeadsOf(rank);
    for (int64_t h = own.begin; h < own.end; ++h) {
      int32_t *record = gathered.data() + (rank * heads + h) * stride;
      std::fill_n(record, MaskSummary::recordWords(p), 0);
      for (int64_t i = rows.begin; i < rows.end; ++i) {
        std::vector<int32_t> row = {static_cast<int32_t>(mask.count(h, i))};
        row.insert(row.end(), mask.row(h, i), mask.row(h, i) + row[0]);
        addToSummary(row.data(), i - rows.begin, mask.kvBlocks(), record);
      }
    }
  }
  return gathered;
}

TEST(Summary, RecordsSurviveTheGather) {
  Random random(12);
  for (int round = 0; round < 60; ++round) {
    Placement p = randomPlacement(random);
    BlockMask mask = makeMask(p.shape, random);
    // Shards that end with blocks are routed for all heads.
    p.blockShards = round % 2 == 1;
    int64_t stride = MaskSummary::recordWords(p) + random.below(3);
    std::vector<int32_t> gathered = gather(mask, p, stride);
    Expected<MaskSummary> decoded = decodeSummaries(gathered.data(), stride, p);
    ASSERT_TRUE(decoded.ok()) << decoded.message();
    MaskSummary expected = summarize(mask, p);
    EXPECT_EQ(decoded->loads.tiles, expected.loads.tiles);
    EXPECT_EQ(decoded->demand, expected.demand);
    EXPECT_EQ(decoded->kvBlocks, expected.kvBlocks);
    EXPECT_EQ(decoded->qBlocks, expected.qBlocks);
    EXPECT_EQ(decoded->rowTiles, expected.rowTiles);
    EXPECT_TRUE(decoded->verify(p).ok());
  }
}

TEST(Summary, RefusesRecordsThatNoMaskHas) {
  Placement p = makePlacement(2, 1, 2, 2, 256, 320, 64); // 4 x 5 blocks
  BlockMask mask =
      *BlockMask::fromLists(2, 4, 5, {{0, 1}, {}, {4}, {}, {2}, {2}, {2}, {2}});
  int64_t stride = MaskSummary::recordWords(p); // tiles, demand, 4 rows
  std::vector<int32_t> gathered = gather(mask, p, stride);
  ASSERT_EQ(stride, 6);
  ASSERT_TRUE(decodeSummaries(gathered.data(), stride, p).ok());
  auto message = [&](size_t at, int32_t value) {
    std::vector<int32_t> changed = gathered;
    changed[at] = value;
    return decodeSummaries(changed.data(), stride, p).message();
  };
  EXPECT_EQ(message(0, 2), "tiles of head 0 in ring 0 do not fit its demand: "
                           "got 2, expected 3 to 12 for 3 demanded kv-blocks "
                           "and 4 q-blocks");
  EXPECT_EQ(message(0, 13), "tiles of head 0 in ring 0 do not fit its demand: "
                            "got 13, expected 3 to 12 for 3 demanded kv-blocks "
                            "and 4 q-blocks");
  // Rank 1, head 1: the fourth record.
  EXPECT_EQ(message(19, 36), "demand of head 1 in ring 0 goes beyond the "
                             "kv-blocks: got a bit at or above 5, expected "
                             "none");
  // Rank 1's record of head 0, which it does not own, is not read.
  EXPECT_EQ(message(12, 99), "");
  EXPECT_EQ(message(2, 6), "tiles of head 0 q-block 0 out of range: got 6, "
                           "expected 0 to 5");
  EXPECT_EQ(message(2, 1), "tiles of the rows of head 0 on rank 0 do not add "
                           "up: got 2, expected 3");
}

TEST(Summary, RefusesOtherShapes) {
  Placement p = makePlacement(2, 2, 4, 4, 256, 256, 64);
  MaskSummary good = summarize(BlockMask::dense(4, 4, 4), p);
  auto message = [&](const std::function<void(MaskSummary &)> &change) {
    MaskSummary changed = good;
    change(changed);
    return makePlan(changed, p, {}).message();
  };
  EXPECT_EQ(message([](MaskSummary &) {}), "");
  EXPECT_EQ(message([](MaskSummary &s) { s.loads.heads = 3; }),
            "mask summary does not match the placement: got 3 heads x 2 "
            "segments, expected 4 x 2");
  EXPECT_EQ(message([](MaskSummary &s) { s.kvBlocks = 5; }),
            "mask summary does not match the placement: got 5 kv-blocks, "
            "expected 4");
  EXPECT_EQ(message([](MaskSummary &s) { s.loads.tiles.pop_back(); }),
            "number of loads in the mask summary: got 7, expected 8");
  EXPECT_EQ(message([](MaskSummary &s) { s.demand.push_back(0); }),
            "number of demand words in the mask summary: got 9, expected 8");
  EXPECT_EQ(message([](MaskSummary &s) { s.loads.tiles[3] = -1; }),
            "tiles of head 1 in ring 1 do not fit its demand: got -1, expected "
            "4 to 8 for 4 demanded kv-blocks and 2 q-blocks");
}

TEST(Demand, IsExactlyWhatTheRowsNeed) {
  Random random(13);
  for (int round = 0; round < 80; ++round) {
    Placement p = randomPlacement(random);
    BlockMask mask = makeMask(p.shape, random);
    MaskSummary summary = summarize(mask, p);
    Plan plan;
    plan.moves = planSwaps(summary.loads, p);
    std::vector<int64_t> owners = plan.owners(p);
    // (to, from, ulysses, kv head, kv-block)
    using Need = std::array<int64_t, 5>;
    std::set<Need> expected, got;
    for (int64_t h = 0; h < p.shape.heads; ++h)
      for (int64_t to = 0; to < p.mesh.ring; ++to)
        for (int64_t i = p.qBlocksOf(to).begin; i < p.qBlocksOf(to).end; ++i)
          for (int64_t at = 0; at < mask.count(h, i); ++at) {
            int64_t j = mask.row(h, i)[at];
            int64_t from = p.ownerOfKvBlock(j);
            if (from != to)
              expected.insert({to, from, owners[h], p.shape.kvHeadOf(h), j});
          }
    for (const KvTransfer &t : computeDemand(summary, p, owners))
      for (const Range &range : t.blocks)
        for (int64_t j = range.begin; j < range.end; ++j)
          EXPECT_TRUE(
              got.insert({t.to, t.from, t.ulysses, t.kvHead, j}).second);
    EXPECT_EQ(got, expected);
  }
}

TEST(MakePlan, VerifiesRepeatsAndCountsItsLoads) {
  Random random(14);
  for (int round = 0; round < 150; ++round) {
    Placement p = randomPlacement(random);
    BlockMask mask = makeMask(p.shape, random);
    MaskSummary summary = summarize(mask, p);
    PlannerOptions options = eagerOptions();
    options.augment = random.chance(50);
    int64_t planNs = -1;
    Expected<Plan> plan = makePlan(summary, p, options, &planNs);
    ASSERT_TRUE(plan.ok()) << plan.message();
    EXPECT_GE(planNs, 0);
    Status status = plan->verify(p);
    EXPECT_TRUE(status.ok()) << status.message();
    Plan again = *makePlan(summary, p, options);
    EXPECT_EQ(again, *plan);
    EXPECT_EQ(again.hash(), plan->hash());
    EXPECT_EQ(plan->loadsBefore,
              rankLoads(summary.loads, initialOwners(p), p.mesh));
    std::vector<int64_t> after =
        rankLoads(summary.loads, plan->owners(p), p.mesh);
    int64_t largest = *std::max_element(after.begin(), after.end());
    for (const ExtraTiles &extra : plan->extras)
      after[p.mesh.rankOf(plan->owners(p)[extra.head], extra.ringIndex)] +=
          extra.tiles;
    EXPECT_EQ(plan->loadsAfter, after);
    // Augmentation never lengthens the slowest rank.
    EXPECT_EQ(*std::max_element(after.begin(), after.end()), largest);
    EXPECT_LE(largest, *std::max_element(plan->loadsBefore.begin(),
                                         plan->loadsBefore.end()));
  }
}

TEST(MakePlan, GatesOnTheImbalance) {
  Placement p;
  PlannerOptions options;
  options.augment = true;
  auto plan = [&](std::array<int64_t, 4> tiles) {
    MaskSummary summary = twoRanks(tiles, p);
    Expected<Plan> result = makePlan(summary, p, options);
    EXPECT_TRUE(result.ok()) << result.message();
    return *result;
  };
  // rho = 1.048: nothing.
  Plan none = plan({262, 262, 238, 238});
  EXPECT_TRUE(none.moves.empty() && none.extras.empty());
  EXPECT_EQ(none.loadsBefore, none.loadsAfter);
  // rho = 1.096: augmentation only, 0.8 of a slack of 96 over both heads.
  Plan augmented = plan({274, 274, 226, 226});
  EXPECT_TRUE(augmented.moves.empty());
  EXPECT_EQ(augmented.extras,
            (std::vector<ExtraTiles>{{2, 0, 38}, {3, 0, 38}}));
  EXPECT_EQ(augmented.loadsAfter, (std::vector<int64_t>{548, 528}));
  // rho = 1.1 exactly: swaps.
  Plan moved = plan({300, 250, 250, 200});
  EXPECT_EQ(moved.moves.size(), 2u);
  EXPECT_TRUE(moved.extras.empty());
  EXPECT_EQ(moved.loadsAfter, (std::vector<int64_t>{500, 500}));
  options.balance = Balance::None;
  EXPECT_TRUE(plan({300, 250, 250, 200}).moves.empty());
  EXPECT_FALSE(plan({300, 250, 250, 200}).extras.empty());
  options.augment = false;
  EXPECT_TRUE(plan({300, 250, 250, 200}).extras.empty());
}

TEST(MakePlan, GatesOnTheGain) {
  Placement p;
  MaskSummary summary = twoRanks({300, 250, 250, 200}, p);
  // The slowest rank gets 50 tiles shorter.
  PlannerOptions options;
  auto moves = [&](const std::function<void(CostModel &)> &change) {
    PlannerOptions changed = options;
    change(changed.cost);
    Expected<Plan> plan = makePlan(summary, p, changed);
    EXPECT_TRUE(plan.ok()) << plan.message();
    return plan->moves.size();
  };
  EXPECT_EQ(moves([](CostModel &) {}), 2u);
  EXPECT_EQ(moves([](CostModel &c) { c.scheduleNs = 49; }), 2u);
  EXPECT_EQ(moves([](CostModel &c) { c.scheduleNs = 50; }), 0u);
  EXPECT_EQ(moves([](CostModel &c) { c.transferPs = 49999; }), 2u);
  EXPECT_EQ(moves([](CostModel &c) { c.transferPs = 50000; }), 0u);
  EXPECT_EQ(moves([](CostModel &c) { c.tilePs = 0; }), 0u);
  // One head: (1280 + 2 x 3200) rows of 128 bytes = 983,040 bytes.
  EXPECT_EQ(moves([](CostModel &c) {
              c.bytePs = 1;
              c.tilePs = 19661;
            }),
            2u);
  EXPECT_EQ(moves([](CostModel &c) {
              c.bytePs = 1;
              c.tilePs = 19660;
            }),
            0u);
  // One head given, none taken: the receiver's rows count. 20 rows of a head.
  summary = twoRanks({300, 100, 200, 0}, p);
  options.balance = Balance::Swap;
  EXPECT_EQ(makePlan(summary, p, options)->moves.size(), 1u);
  EXPECT_EQ(moves([](CostModel &c) { c.rowPs = 4000; }), 1u);
  EXPECT_EQ(moves([](CostModel &c) { c.rowPs = 5000; }), 0u);
}

TEST(MakePlan, RefusesWrongOptions) {
  Placement p;
  MaskSummary summary = twoRanks({50, 50, 50, 50}, p);
  auto message = [&](const std::function<void(PlannerOptions &)> &change) {
    PlannerOptions options;
    change(options);
    return makePlan(summary, p, options).message();
  };
  EXPECT_EQ(message([](PlannerOptions &) {}), "");
  EXPECT_EQ(message([](PlannerOptions &o) { o.k1Milli = -1; }),
            "k1 out of range: got -1, expected 0 to 1000000 thousandths");
  EXPECT_EQ(message([](PlannerOptions &o) { o.k2Milli = 1049; }),
            "k2 out of range: got 1049, expected 1050 to 1000000 thousandths");
  EXPECT_EQ(message([](PlannerOptions &o) { o.n1Milli = 1001; }),
            "n1 out of range: got 1001, expected 0 to 1000 thousandths");
  EXPECT_EQ(message([](PlannerOptions &o) { o.n2Milli = -5; }),
            "n2 out of range: got -5, expected 0 to 1000000 thousandths");
  EXPECT_EQ(message([](PlannerOptions &o) { o.cost.bytePs = -1; }),
            "picoseconds per byte out of range: got -1, expected 0 to "
            "1099511627776");
  p.mesh.ulysses = 0;
  EXPECT_EQ(message([](PlannerOptions &) {}),
            "mesh axis ulysses out of range: got 0, expected 1 to 1024");
  EXPECT_EQ(*parseBalance("swap"), Balance::Swap);
  EXPECT_EQ(*parseBalance(toString(Balance::None)), Balance::None);
  EXPECT_EQ(parseBalance("best").message(),
            "balance not known: got 'best', expected none, swap, split or pre");
}

TEST(Traffic, ByHand) {
  // 2 x 2 ranks, 4 heads, 2 kv heads, 256 tokens, 128 bytes per row.
  Placement p = makePlacement(2, 2, 4, 2, 256, 256, 64);
  Plan plan;
  plan.mesh = p.mesh;
  TrafficBytes bytes = countTraffic(plan, p);
  // Q and O: every row of the two heads of the other index; K, V: one kv head.
  EXPECT_EQ(bytes.exchange, (256 * 2 + 256 * 2 + 2 * 256 * 1) * 128);
  EXPECT_EQ(bytes.moved, 0);
  EXPECT_EQ(bytes.routed, 0);
  EXPECT_EQ(bytes.denseRing, 2 * 2 * 256 * 128 * 3);
  plan.moves = {{0, 0, 1}};
  plan.transfers = {{1, 1, 1, 0, {{2, 3}}}};
  bytes = countTraffic(plan, p);
  EXPECT_EQ(bytes.moved, (256 + 2 * 256) * 128);
  EXPECT_EQ(bytes.routed, 2 * 64 * 128);
  // One head on index 0, three on index 1, each sends half of its rows of O.
  EXPECT_EQ(bytes.exchange, (256 * 2 + 256 * 2 + 2 * 256) * 128);
  // Rows of a head inside its ring group: Q only. Their O, which was at home,
  // comes back from segment 0.
  plan.moves.clear();
  plan.rowMoves = {{1, {2, 3}, 2, 0}};
  EXPECT_EQ(countTraffic(plan, p).moved, 64 * 128);
  EXPECT_EQ(countTraffic(plan, p).exchange,
            (256 * 2 + 256 * 2 + 2 * 256 + 64) * 128);
  // On one segment K and V go along, once for two pieces of a kv head.
  Placement flat = makePlacement(2, 1, 4, 2, 256, 256, 64);
  plan.mesh = flat.mesh;
  plan.rowMoves = {{0, {0, 1}, 0, 1}, {1, {2, 4}, 0, 1}};
  EXPECT_EQ(countTraffic(plan, flat).moved, (3 * 64 + 2 * 256) * 128);
  // With block shards everything travels once, in the exchange.
  flat.blockShards = true;
  EXPECT_EQ(countTraffic(plan, flat).moved, 0);
  plan.mesh = p.mesh;
  plan.rowMoves.clear();
  plan.moves = {{0, 0, 1}};
  // A head whose kv head is there already ships Q only; 16-bit halves it all.
  p.shape.kvHeads = 1;
  p.shape.dtype = DType::BF16;
  EXPECT_EQ(countTraffic(plan, p).moved, 256 * 64);
}

} // namespace

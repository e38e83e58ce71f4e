//===- RowRepairTest.cpp - Rows that leave their rank ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RingTestSupport.h"

#include <gtest/gtest.h>

#include <chrono>

using namespace sart;
using namespace sart::test;

namespace {

BlockOwners halves() {
  BlockOwners owners;
  owners.ranks = 2;
  owners.q = {0, 0, 1, 1};
  owners.kv = {0, 0, 1, 1};
  owners.rowsOf = {{0, 1}, {2, 3}};
  return owners;
}

RepairOptions unitCosts() {
  RepairOptions options;
  options.movedMilli = 0;
  options.rowTokens = options.kvTokens = 1;
  return options;
}

int64_t costOf(const MaskBits &mask, const BlockOwners &owners,
               const RowRepair &repair, const RepairOptions &options) {
  return countRingDemand(mask, owners, repair.rowOwners).total() *
             options.kvTokens +
         repair.movedRows * options.rowTokens;
}

// Loads 6 and 2, mean 4: rows of 2 tiles move. Head 1's row needs only what
// rank 1 has, so it is the cheaper one.
TEST(RowRepair, MovesTheCheapestRows) {
  MaskBits mask(*BlockMask::fromLists(
      2, 4, 4, {{0, 1}, {0, 1}, {2}, {}, {2, 3}, {}, {2}, {}}));
  Expected<RowRepair> repair = repairRows(mask, halves(), unitCosts());
  ASSERT_TRUE(repair.ok()) << repair.message();
  ASSERT_EQ(repair->shifts.size(), 1u);
  const RowShift &shift = repair->shifts[0];
  EXPECT_EQ(shift.head, 1);
  EXPECT_EQ(shift.from, 0);
  EXPECT_EQ(shift.to, 1);
  EXPECT_EQ(shift.rows, (Range{0, 1}));
  EXPECT_EQ(repair->movedRows, 1);
  EXPECT_EQ(repair->rowOwners, (std::vector<int32_t>{0, 0, 1, 1, 1, 0, 1, 1}));
  // Two blocks less and one row: two blocks were demanded.
  EXPECT_EQ(countRingDemand(mask, halves()).total(), 2);
  EXPECT_EQ(costOf(mask, halves(), *repair, unitCosts()), 1);
}

// Balanced, but both rows of rank 0 need block 2 and 3 alone; rank 1's head 1
// needs what rank 0 has. They change places: neither may move alone.
TEST(RowRepair, ExchangesRowsThatSaveBytes) {
  MaskBits mask(*BlockMask::fromLists(
      2, 4, 4, {{2, 3}, {2, 3}, {}, {}, {}, {}, {0, 1}, {0, 1}}));
  RepairOptions options = unitCosts();
  Expected<RowRepair> still = repairRows(mask, halves(), options);
  ASSERT_TRUE(still.ok());
  EXPECT_TRUE(still->shifts.empty());
  options.kvTokens = 2;
  options.movedMilli = 1000;
  Expected<RowRepair> repair = repairRows(mask, halves(), options);
  ASSERT_TRUE(repair.ok());
  // Blank rows ride along, as they cost as much as they would alone.
  EXPECT_EQ(repair->shifts.size(), 2u);
  RingDemand after = countRingDemand(mask, halves(), repair->rowOwners);
  EXPECT_EQ(after.total(), 0);
  EXPECT_EQ(after.loads, (std::vector<int64_t>{4, 4}));
  // A limit of 3 of 8 rows is too small for the exchange.
  options.movedMilli = 375;
  EXPECT_TRUE(repairRows(mask, halves(), options)->shifts.empty());
}

TEST(RowRepair, LeavesWhatCannotBeBalanced) {
  // One row has all the work.
  MaskBits mask(*BlockMask::fromLists(1, 4, 4, {{0, 1, 2, 3}, {}, {}, {}}));
  Expected<RowRepair> repair = repairRows(mask, halves(), unitCosts());
  ASSERT_TRUE(repair.ok());
  EXPECT_TRUE(repair->shifts.empty());
  // Nothing to do at all.
  MaskBits empty(BlockMask(2, 4, 4));
  EXPECT_TRUE(repairRows(empty, halves(), unitCosts())->shifts.empty());
}

TEST(RowRepair, Refuses) {
  MaskBits mask(BlockMask(1, 3, 4));
  EXPECT_EQ(repairRows(mask, halves(), {}).message(),
            "placed blocks do not fit the mask: got 4 x 4, expected 3 x 4");
  RepairOptions options;
  options.rhoMilli = 999;
  EXPECT_EQ(options.verify().message(),
            "thousandths of rho out of range: got 999, expected 1000 to "
            "1000000");
  options = {};
  options.movedMilli = 1001;
  EXPECT_EQ(options.verify().message(),
            "thousandths of moved rows out of range: got 1001, expected 0 to "
            "1000");
  options = {};
  options.kvTokens = -1;
  EXPECT_EQ(options.verify().message(),
            "tokens of a kv-block out of range: got -1, expected 0 to "
            "268435456");
}

/// Checks that shifts and owners say the same, and that ranges are heads and
/// tails of what was left.
void checkShifts(const RowRepair &repair, const BlockOwners &owners,
                 int64_t heads) {
  std::vector<int32_t> rows;
  for (int64_t head = 0; head < heads; ++head)
    rows.insert(rows.end(), owners.q.begin(), owners.q.end());
  int64_t moved = 0, q = static_cast<int64_t>(owners.q.size());
  for (const RowShift &shift : repair.shifts) {
    EXPECT_NE(shift.from, shift.to);
    moved += shift.rows.size();
    for (int64_t i = shift.rows.begin; i < shift.rows.end; ++i) {
      int32_t block =
          owners
              .rowsOf[static_cast<size_t>(shift.from)][static_cast<size_t>(i)];
      int32_t &owner = rows[static_cast<size_t>(shift.head * q + block)];
      EXPECT_EQ(owner, shift.from) << "moved twice";
      owner = static_cast<int32_t>(shift.to);
    }
  }
  EXPECT_EQ(rows, repair.rowOwners);
  EXPECT_EQ(moved, repair.movedRows);
}

// Masks of another family than the recorded ones: the best placement with moved
// rows against the better of contiguous and stripes as they are.
TEST(RowRepair, BalancesAndSavesOnSeededMasks) {
  double ratio = 0;
  int count = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Random random(seed);
    BlockGrid grid;
    grid.order.grid = {8 + random.below(8), 16 + random.below(16), 32};
    grid.blockQ = 64;
    grid.blockK = 32;
    MaskBits mask(makeVideoMask(grid, 8 + random.below(8), random));
    for (int64_t ranks : {4, 6, 8}) {
      int64_t plain = INT64_MAX, best = INT64_MAX;
      for (const BlockRule &rule : blockRules(ranks)) {
        BlockOwners owners = *placeBlocks(rule, grid, ranks);
        RepairOptions options;
        options.rowTokens = grid.blockQ;
        options.kvTokens = grid.blockK;
        Expected<RowRepair> repair = repairRows(mask, owners, options);
        ASSERT_TRUE(repair.ok()) << repair.message();
        checkShifts(*repair, owners, mask.heads());
        RingDemand before = countRingDemand(mask, owners);
        RingDemand after = countRingDemand(mask, owners, repair->rowOwners);
        EXPECT_LE(imbalance(after.loads), 1.02)
            << toString(rule) << " on " << ranks << ", seed " << seed;
        best = std::min(best, costOf(mask, owners, *repair, options));
        if (rule.kind != BlockRule::Kind::Tiles)
          plain = std::min(plain, before.total() * options.kvTokens);
        // Saving never costs.
        options.movedMilli = 0;
        Expected<RowRepair> balanced = repairRows(mask, owners, options);
        ASSERT_TRUE(balanced.ok());
        EXPECT_LE(costOf(mask, owners, *repair, options),
                  costOf(mask, owners, *balanced, options));
      }
      ratio += static_cast<double>(best) / static_cast<double>(plain);
      ++count;
    }
  }
  // Q and O of moved rows are in it.
  EXPECT_LE(ratio / count, 0.95);
  RecordProperty("mean_ratio", std::to_string(ratio / count));
}

struct Known {
  const char *file;
  int64_t ranks;
  double better; ///< share of contiguous or stripes, as recorded
};

class RecordedRepair : public testing::TestWithParam<Known> {};

TEST_P(RecordedRepair, SendsFewerBlocks) {
  std::string path = findTrace(GetParam().file);
  if (path.empty())
    GTEST_SKIP() << GetParam().file << " is not there: set SPARSEATTN_TRACES";
  Expected<TraceFile> trace = TraceFile::read(path);
  ASSERT_TRUE(trace.ok()) << trace.message();
  double best = 10, bestWithRows = 10;
  for (const BlockRule &rule : blockRules(GetParam().ranks)) {
    BlockOwners owners = *placeBlocks(rule, gridOf(*trace), GetParam().ranks);
    double share = 0, withRows = 0;
    for (size_t i = 0; i < trace->instances.size(); ++i) {
      MaskBits mask(*trace->mask(static_cast<int64_t>(i)));
      Expected<RowRepair> repair = repairRows(mask, owners, {});
      ASSERT_TRUE(repair.ok()) << repair.message();
      RingDemand after = countRingDemand(mask, owners, repair->rowOwners);
      EXPECT_LE(imbalance(after.loads), 1.02) << toString(rule);
      EXPECT_LE(10 * repair->movedRows, mask.heads() * mask.qBlocks());
      share += after.shareOfRing();
      withRows += after.shareOfRing() *
                  static_cast<double>(costOf(mask, owners, *repair, {})) /
                  static_cast<double>(after.total() * 64);
    }
    double count = static_cast<double>(trace->instances.size());
    if (withRows / count < bestWithRows) {
      best = share / count;
      bestWithRows = withRows / count;
    }
  }
  EXPECT_LE(best, 0.93 * GetParam().better);
  EXPECT_LE(bestWithRows, 0.95 * GetParam().better);
}

INSTANTIATE_TEST_SUITE_P(Traces, RecordedRepair,
                         testing::Values(Known{"small_mask_raster_p90.bmt", 4,
                                               0.6317},
                                         Known{"hy_mask_p85.bmt", 8, 0.7433}),
                         [](const testing::TestParamInfo<Known> &info) {
                           std::string name = info.param.file;
                           return name.substr(0, name.find('.'));
                         });

} // namespace

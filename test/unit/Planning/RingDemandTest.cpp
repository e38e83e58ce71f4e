//===- RingDemandTest.cpp - kv-blocks that travel in a ring ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RingTestSupport.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

using namespace sart;
using namespace sart::test;

namespace {

using Counts = std::vector<int64_t>;

BlockOwners halves() {
  BlockOwners owners;
  owners.ranks = 2;
  owners.q = {0, 0, 1, 1};
  owners.kv = {0, 0, 1, 1};
  owners.rowsOf = {{0, 1}, {2, 3}};
  return owners;
}

TEST(RingDemand, CountsEveryBlockOncePerRankAndHead) {
  // Head 0: both rows of rank 0 need block 2, one needs 3; rank 1 needs none of
  // rank 0. Head 1: rank 1 needs block 0.
  MaskBits mask(*BlockMask::fromLists(
      2, 4, 4, {{0, 2}, {2, 3}, {2}, {}, {1}, {}, {0, 3}, {0}}));
  EXPECT_EQ(mask.tiles(), 9);
  EXPECT_EQ(mask.count(1, 2), 2);
  RingDemand demand = countRingDemand(mask, halves());
  EXPECT_EQ(demand.blocks, (Counts{0, 1, 2, 0}));
  EXPECT_EQ(demand.loads, (Counts{5, 4}));
  EXPECT_EQ(demand.total(), 3);
  EXPECT_DOUBLE_EQ(demand.shareOfRing(), 3.0 / (1 * 4 * 2));
  // Of a dense ring, a port carries 1 / 2 * 4 * 2 = 4 blocks.
  EXPECT_DOUBLE_EQ(demand.maxPort(), 2.0 / 4);
  // Of 8 blocks, 3 have one receiver.
  EXPECT_EQ(demand.receivers, (Counts{5, 3}));
  EXPECT_DOUBLE_EQ(demand.multicastShare(), 1);
}

TEST(RingDemand, FollowsMovedRows) {
  MaskBits mask(*BlockMask::fromLists(1, 4, 4, {{0, 2}, {2, 3}, {2}, {}}));
  // Row 1 goes to rank 1, where its blocks are.
  RingDemand demand = countRingDemand(mask, halves(), {0, 1, 1, 1});
  EXPECT_EQ(demand.blocks, (Counts{0, 0, 1, 0}));
  EXPECT_EQ(demand.loads, (Counts{2, 3}));
}

TEST(RingDemand, GathersBlocksOfTheSameReceivers) {
  BlockOwners owners;
  owners.ranks = 3;
  owners.q = owners.kv = {0, 1, 2};
  owners.rowsOf = {{0}, {1}, {2}};
  // Block 0 goes to ranks 1 and 2 in both heads, block 2 to rank 0 in one.
  MaskBits mask(
      *BlockMask::fromLists(2, 3, 3, {{0, 2}, {0, 1}, {0}, {}, {0}, {0}}));
  std::vector<int32_t> rows = {0, 1, 2, 0, 1, 2};
  std::vector<MulticastSet> sets = countMulticast(mask, owners, rows);
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0].from, 0);
  EXPECT_EQ(sets[0].to, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(sets[0].blocks, 2);
  EXPECT_EQ(sets[1].from, 2);
  EXPECT_EQ(sets[1].to, (std::vector<int32_t>{0}));
  EXPECT_EQ(sets[1].blocks, 1);
  // Three sends in place of five.
  RingDemand demand = countRingDemand(mask, owners, rows);
  EXPECT_EQ(demand.receivers, (Counts{3, 1, 2}));
  EXPECT_DOUBLE_EQ(demand.multicastShare(), 3.0 / 5);
}

TEST(RingDemand, OfOneRankIsNothing) {
  BlockOwners owners;
  owners.q = {0};
  owners.kv = {0};
  owners.rowsOf = {{0}};
  RingDemand demand =
      countRingDemand(MaskBits(BlockMask::dense(3, 1, 1)), owners);
  EXPECT_EQ(demand.shareOfRing(), 0);
  EXPECT_EQ(demand.maxPort(), 0);
  EXPECT_EQ(demand.loads, (Counts{3}));
}

TEST(RingDemand, OfADenseMaskIsTheRing) {
  BlockGrid grid;
  grid.order.grid = {9, 30, 52};
  MaskBits mask(BlockMask::dense(3, grid.qBlocks(), grid.kvBlocks()));
  for (const BlockRule &rule : blockRules(6)) {
    RingDemand demand = countRingDemand(mask, *placeBlocks(rule, grid, 6));
    EXPECT_DOUBLE_EQ(demand.shareOfRing(), 1);
    EXPECT_EQ(demand.receivers, (Counts{0, 0, 0, 0, 0, 660}));
  }
}

TEST(RingDemand, EqualsTheSetOfTriples) {
  Random random(17);
  for (int round = 0; round < 20; ++round) {
    Placement placement = makePlacement(1, 5, 3, 3, 700, 700, 16);
    BlockMask lists = makeMask(placement.shape, random);
    BlockOwners owners;
    owners.ranks = 5;
    for (int64_t i = 0; i < lists.qBlocks(); ++i) {
      owners.q.push_back(static_cast<int32_t>(random.below(5)));
      owners.kv.push_back(static_cast<int32_t>(random.below(5)));
    }
    std::set<std::tuple<int64_t, int32_t, int32_t>> triples;
    for (int64_t head = 0; head < 3; ++head)
      for (int64_t i = 0; i < lists.qBlocks(); ++i)
        for (int64_t k = 0; k < lists.count(head, i); ++k) {
          int32_t kv = lists.row(head, i)[k];
          if (owners.kv[kv] != owners.q[i])
            triples.insert({head, owners.q[i], kv});
        }
    EXPECT_EQ(countRingDemand(MaskBits(lists), owners).total(),
              static_cast<int64_t>(triples.size()));
  }
}

struct Recorded {
  const char *file;
  int64_t ranks;
  double contiguous, stripes;            ///< share of the ring, mean
  int64_t contiguousFirst, stripesFirst; ///< blocks of the first instance
};

class RecordedDemand : public testing::TestWithParam<Recorded> {};

// Values that were computed by another program (see the traces' README).
TEST_P(RecordedDemand, HasKnownValues) {
  const Recorded &known = GetParam();
  std::string path = findTrace(known.file);
  if (path.empty())
    GTEST_SKIP() << known.file << " is not there: set SPARSEATTN_TRACES";
  Expected<TraceFile> trace = TraceFile::read(path);
  ASSERT_TRUE(trace.ok()) << trace.message();
  double shares[2] = {0, 0};
  int64_t first[2] = {0, 0};
  for (size_t i = 0; i < trace->instances.size(); ++i) {
    MaskBits mask(*trace->mask(static_cast<int64_t>(i)));
    for (int kind = 0; kind < 2; ++kind) {
      BlockRule rule = blockRules(known.ranks)[static_cast<size_t>(kind)];
      RingDemand demand = countRingDemand(
          mask, *placeBlocks(rule, gridOf(*trace), known.ranks));
      shares[kind] += demand.shareOfRing();
      if (i == 0)
        first[kind] = demand.total();
    }
  }
  double count = static_cast<double>(trace->instances.size());
  EXPECT_NEAR(shares[0] / count, known.contiguous, 5e-5);
  EXPECT_NEAR(shares[1] / count, known.stripes, 5e-5);
  EXPECT_EQ(first[0], known.contiguousFirst);
  EXPECT_EQ(first[1], known.stripesFirst);
}

INSTANTIATE_TEST_SUITE_P(
    Traces, RecordedDemand,
    testing::Values(
        Recorded{"small_mask_raster_p90.bmt", 4, 0.7528, 0.6317, 6277, 5281},
        Recorded{"small_mask_cubes_p90.bmt", 4, 0.8686, 0.7979, 6883, 6364},
        Recorded{"small_mask_hilbert_p90.bmt", 4, 0.8100, 0.8174, 6368, 6413},
        Recorded{"hy_mask_p85.bmt", 8, 0.7433, 0.8016, 202299, 218150},
        Recorded{"wi2v_mask_p90.bmt", 8, 0.9604, 0.9722, 317859, 321748}),
    [](const testing::TestParamInfo<Recorded> &info) {
      std::string name = info.param.file;
      return name.substr(0, name.find('.'));
    });

} // namespace

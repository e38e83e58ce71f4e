//===- HybridTest.cpp - Ulysses x ring meshes with demand routing ---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Hybrid.h"
#include "MachineTestSupport.h"
#include "RingTestSupport.h"

#include <gtest/gtest.h>

using namespace sart;
using namespace sart::test;

namespace {

/// The islands with one kernel of 128x64 tiles (7 ns) and nothing else to pay.
Machine plainIslands() {
  Machine machine = islands();
  machine.device.kernels = {{DType::BF16, 128, 64, 128, {7000, 0}, {0, 0}}};
  machine.device.launchPs = {0, 0};
  machine.device.memoryBytesPerS = {1000000000000000, 0};
  machine.portPerLink = true;
  for (MachineLink &link : machine.links)
    link.latencyPs = {0, 0};
  return machine;
}

Machine flat() {
  Machine machine = plainIslands();
  machine.name = "flat";
  machine.device.launchPs = {5000000, 0};
  machine.device.memoryBytesPerS = {4000000000000, 0};
  machine.links = {{"all", 8, {400000000000, 0}, {10000000, 0}}};
  return machine;
}

/// 64 x 128 blocks of a grid without ragged ones.
BlockGrid denseGrid() {
  BlockGrid grid;
  grid.order.grid = {4, 32, 64};
  return grid;
}

std::vector<HybridPlan> plan(const BlockMask &mask, const BlockGrid &grid,
                             const Machine &machine,
                             const HybridOptions &options = {}) {
  Expected<std::vector<HybridPlan>> plans =
      planHybrids(mask, grid, machine, options);
  EXPECT_TRUE(plans.ok()) << plans.message();
  return plans ? *plans : std::vector<HybridPlan>();
}

// A dense mask of 8 heads over 8,192 tokens on two islands of 4. A head's
// tensor has 2 MiB, a shard of all heads as much. Bytes by hand: Ulysses 8
// gives 4 of 8 parts of each shard to the other island, 4 x 2 a hybrid of 4
// exchanges 3 of 4 parts inside and K, V of 8 shards across.
TEST(Hybrid, PredictsADenseLayer) {
  BlockGrid grid = denseGrid();
  BlockMask mask = BlockMask::dense(8, 64, 128);
  std::vector<HybridPlan> plans = plan(mask, grid, plainIslands());
  ASSERT_GE(plans.size(), 4u);
  constexpr int64_t shard = int64_t(8192) * 128 * 2;
  auto us = [](int64_t ps) { return static_cast<double>(ps) * 1e-6; };
  auto expected = [](int64_t bytes, double gigabytes) {
    return static_cast<double>(bytes) / gigabytes * 1e-3;
  };
  // Tiles: 8 x 64 x 128 / 8, 7 ns each.
  for (const HybridPlan &one : plans) {
    EXPECT_NEAR(us(one.computePs), 8192 * 7e-3, 0.2);
    EXPECT_EQ(one.movedRows, 0);
    EXPECT_DOUBLE_EQ(one.rho, 1);
  }
  const HybridPlan &ulysses = plans[0];
  EXPECT_EQ(ulysses.mesh.ulysses, 8);
  EXPECT_EQ(ulysses.mesh.ring, 1);
  EXPECT_NEAR(us(ulysses.exchangeInPs), expected(3 * shard / 2, 25), 0.1);
  EXPECT_NEAR(us(ulysses.exchangeOutPs), expected(shard / 2, 25), 0.1);
  EXPECT_EQ(ulysses.ringPs, 0);
  EXPECT_EQ(ulysses.plainPs,
            ulysses.exchangeInPs + ulysses.computePs + ulysses.exchangeOutPs);
  // One head a rank: a single chunk.
  EXPECT_EQ(ulysses.pipelinedPs,
            ulysses.exchangeInPs + ulysses.exchangeOutPs +
                std::max(ulysses.computePs, ulysses.busyPs));
  const HybridPlan &hybrid = plans[1];
  EXPECT_EQ(hybrid.mesh.ulysses, 4);
  EXPECT_EQ(hybrid.rule, BlockRule{});
  EXPECT_NEAR(us(hybrid.exchangeInPs), expected(3 * shard * 3 / 4, 400), 0.1);
  EXPECT_NEAR(us(hybrid.ringPs), expected(2 * shard, 25), 0.1);
  EXPECT_DOUBLE_EQ(hybrid.demandShare, 1);
  EXPECT_EQ(hybrid.plainPs, hybrid.exchangeInPs +
                                std::max(hybrid.computePs, hybrid.ringPs) +
                                hybrid.exchangeOutPs);
}

TEST(Hybrid, GivesHeadsOutLongestFirst) {
  // Loads 9, 1, 1, 7: one index takes 9 and 1, the other 7 and 1.
  std::vector<std::vector<int32_t>> rows;
  for (size_t load : {9, 1, 1, 7})
    for (size_t i = 0; i < 64; ++i)
      rows.push_back(i < load ? std::vector<int32_t>{static_cast<int32_t>(i)}
                              : std::vector<int32_t>{});
  BlockMask mask = *BlockMask::fromLists(4, 64, 128, rows);
  HybridOptions options;
  options.ranks = 2;
  std::vector<HybridPlan> plans =
      plan(mask, denseGrid(), plainIslands(), options);
  EXPECT_EQ(plans[0].mesh.ulysses, 2);
  EXPECT_EQ(plans[0].headOwners, (std::vector<int64_t>{0, 1, 0, 1}));
  EXPECT_DOUBLE_EQ(plans[0].rhoHeads, 10.0 / 9);
}

TEST(Hybrid, ListsEveryMeshThatHeadsAllow) {
  HybridOptions options;
  std::vector<HybridPlan> plans =
      plan(BlockMask::dense(3, 64, 128), denseGrid(), plainIslands(), options);
  std::vector<std::string> names;
  for (const HybridPlan &one : plans)
    names.push_back(
        concat(one.mesh.ulysses, "x", one.mesh.ring, " ", toString(one.rule)));
  EXPECT_EQ(names, (std::vector<std::string>{
                       "2x4 contiguous", "2x4 stripes", "2x4 tiles<t=2,h=2>",
                       "1x8 contiguous", "1x8 stripes", "1x8 tiles<t=2,h=4>",
                       "1x8 tiles<t=4,h=2>"}));
}

TEST(Hybrid, KeepsToUlyssesUnlessARingGainsMore) {
  HybridPlan ulysses, hybrid;
  ulysses.mesh = {8, 1};
  hybrid.mesh = {4, 2};
  ulysses.pipelinedPs = 1050;
  ulysses.plainPs = 1051;
  hybrid.pipelinedPs = hybrid.plainPs = 1000;
  HybridOptions options;
  EXPECT_EQ(bestHybrid({ulysses, hybrid}, islands(), options), 0u);
  options.pipelined = false;
  EXPECT_EQ(bestHybrid({ulysses, hybrid}, islands(), options), 1u);
  // Never on links that are all alike, here or inside one island.
  EXPECT_EQ(bestHybrid({ulysses, hybrid}, flat(), options), 0u);
  options.ranks = 4;
  EXPECT_EQ(bestHybrid({ulysses, hybrid}, islands(), options), 0u);
  options.ranks = 8;
  // Without such a mesh the shortest is taken.
  options.pipelined = true;
  HybridPlan other = hybrid;
  other.pipelinedPs = 999;
  EXPECT_EQ(bestHybrid({hybrid, other}, flat(), options), 1u);
}

TEST(Hybrid, Refuses) {
  BlockMask mask = BlockMask::dense(8, 64, 128);
  HybridOptions options;
  options.ranks = 16;
  EXPECT_EQ(planHybrids(mask, denseGrid(), plainIslands(), options).message(),
            "number of ranks out of range: got 16, expected 1 to 8");
  EXPECT_EQ(
      planHybrids(BlockMask::dense(8, 4, 4), denseGrid(), plainIslands(), {})
          .message(),
      "blocks of the mask do not fit the grid: got 4 x 4, expected 64 x "
      "128");
}

// Other masks than the recorded ones.
TEST(Hybrid, ChoosesByTheLinks) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    Random random(seed);
    BlockGrid grid;
    grid.order.grid = {8, 30, 40};
    BlockMask mask = makeVideoMask(grid, 16 + random.below(8), random);
    for (bool pipelined : {false, true}) {
      HybridOptions options;
      options.pipelined = pipelined;
      // Short layers with the share of work that long ones have.
      Machine machine = flat();
      machine.device.kernels[0].tilePs.value = 500000;
      std::vector<HybridPlan> plans = plan(mask, grid, machine, options);
      EXPECT_EQ(plans[bestHybrid(plans, machine, options)].mesh.ring, 1)
          << "seed " << seed;
      machine.links = islands().links;
      machine.device.kernels[0].tilePs.value = 50000;
      plans = plan(mask, grid, machine, options);
      if (!pipelined)
        EXPECT_EQ(plans[bestHybrid(plans, machine, options)].mesh.ring, 2)
            << "seed " << seed;
    }
  }
}

// Balanced Ulysses against the chosen hybrid, two islands of 4.
TEST(Hybrid, GainsOnIslandsWithRecordedMasks) {
  std::string path = findTrace("wi2v_mask_p90.bmt");
  if (path.empty())
    GTEST_SKIP() << "wi2v_mask_p90.bmt is not there: set SPARSEATTN_TRACES";
  Expected<TraceFile> trace = TraceFile::read(path);
  ASSERT_TRUE(trace.ok()) << trace.message();
  BlockMask mask = *trace->mask(0);
  for (bool pipelined : {false, true}) {
    HybridOptions options;
    options.pipelined = pipelined;
    Machine machine = flat();
    std::vector<HybridPlan> plans =
        plan(mask, gridOf(*trace), machine, options);
    EXPECT_EQ(plans[bestHybrid(plans, machine, options)].mesh.ring, 1);
    machine.links = islands().links;
    plans = plan(mask, gridOf(*trace), machine, options);
    const HybridPlan &best = plans[bestHybrid(plans, machine, options)];
    EXPECT_EQ(best.mesh.ring, 2);
    auto time = [&](const HybridPlan &one) {
      return static_cast<double>(pipelined ? one.pipelinedPs : one.plainPs);
    };
    double gain = time(plans[0]) / time(best);
    EXPECT_GE(gain, pipelined ? 1.1 : 1.5);
    RecordProperty(pipelined ? "pipelined" : "plain", std::to_string(gain));
  }
}

} // namespace

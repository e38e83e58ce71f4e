//===- StatsTest.cpp - What a run reports ---------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutorTestSupport.h"

#include <numeric>

using namespace sart;
using namespace sart::test;

TEST(Stats, MeasuredBytesAreThePredictedOnes) {
  for (const Placement &placement :
       {placementOf(1, 1, 4, 4, 63, 63), placementOf(4, 1, 7, 7, 100, 150),
        placementOf(8, 1, 12, 3, 63, 100), placementOf(1, 4, 2, 2, 200, 150),
        placementOf(2, 3, 12, 3, 200, 150), placementOf(4, 2, 7, 7, 3, 200)}) {
    auto executor = executorOf(templateOf(placement, topP(0.6f)));
    LayerData data(placement.shape, 51);
    RunStats stats = runAll(*executor, data);
    EXPECT_EQ(stats.bytesExchange, stats.predicted.exchange);
    EXPECT_EQ(stats.bytesMoved, stats.predicted.moved);
    EXPECT_EQ(stats.bytesRouted, stats.predicted.routed);
    auto ranks = static_cast<size_t>(placement.mesh.ranks());
    ASSERT_EQ(stats.bytesSent.size(), ranks * ranks);
    EXPECT_EQ(std::accumulate(stats.bytesSent.begin(), stats.bytesSent.end(),
                              int64_t(0)),
              stats.bytesExchange + stats.bytesMoved + stats.bytesRouted);
    for (size_t rank = 0; rank < ranks; ++rank)
      EXPECT_EQ(stats.bytesSent[rank * ranks + rank], 0);
  }
}

TEST(Stats, LoadsTilesAndDensity) {
  Placement placement = placementOf(4, 1, 7, 7, 200, 200);
  auto executor = executorOf(templateOf(placement, topP(0.6f)));
  LayerData data(placement.shape, 52);
  RunStats stats = runAll(*executor, data);
  BlockMask mask = maskOf(*executor);
  EXPECT_EQ(stats.tiles, mask.tiles());
  EXPECT_DOUBLE_EQ(stats.density, mask.density());
  EXPECT_LT(stats.density, 1);
  EXPECT_EQ(stats.loadsBefore, stats.plan.loadsBefore);
  EXPECT_EQ(stats.loadsAfter, stats.plan.loadsAfter);
  EXPECT_DOUBLE_EQ(stats.rhoBefore, imbalance(stats.loadsBefore));
  EXPECT_DOUBLE_EQ(stats.rhoAfter, imbalance(stats.loadsAfter));
  EXPECT_LE(stats.rhoAfter, stats.rhoBefore);
  EXPECT_EQ(stats.routing.rows, 7 * placement.shape.qBlocks());
  EXPECT_GT(stats.routing.keptPooledMass / 91.0, 0.6);
  EXPECT_EQ(stats.planHash, stats.plan.hash());
  EXPECT_EQ(stats.programHash, contentHash(executor->program()));
  EXPECT_GT(stats.planNs, 0);
  EXPECT_GT(stats.totalNs, stats.planNs);
}

TEST(Stats, EventsOfARankFollowEachOther) {
  Placement placement = placementOf(2, 2, 7, 7, 100, 100);
  auto executor = executorOf(templateOf(placement, topP(0.6f)));
  LayerData data(placement.shape, 53);
  RunStats stats = runAll(*executor, data);
  std::vector<int64_t> end(4, 0), last(4, -1), tiles(4, 0);
  int64_t begin = 0, bytes = 0;
  for (const TraceEvent &event : stats.events) {
    EXPECT_GE(event.beginNs, begin) << "sorted by begin";
    begin = event.beginNs;
    auto rank = static_cast<size_t>(event.rank);
    EXPECT_GE(event.beginNs, end[rank]);
    EXPECT_GE(event.endNs, event.beginNs);
    EXPECT_GT(event.instruction, last[rank]);
    EXPECT_LE(event.endNs, stats.totalNs);
    end[rank] = event.endNs;
    last[rank] = event.instruction;
    if (event.name == "attend")
      tiles[rank] += event.tiles;
    bytes += event.bytes;
  }
  EXPECT_EQ(tiles, stats.loadsAfter);
  // LSE, pooled keys and summaries travel as well.
  EXPECT_GT(bytes, stats.bytesExchange + stats.bytesMoved + stats.bytesRouted);
  for (size_t rank = 0; rank < 4; ++rank)
    EXPECT_GE(last[rank], 0);

  RunOptions quiet;
  quiet.trace = false;
  stats = runAll(*executor, data, quiet);
  EXPECT_TRUE(stats.events.empty());
  EXPECT_EQ(stats.tiles, maskOf(*executor).tiles());
}

TEST(Stats, EmptyLayer) {
  Placement placement = placementOf(2, 2, 2, 2, 0, 0);
  auto executor = executorOf(templateOf(placement, topP(0.6f)));
  ASSERT_NE(executor, nullptr);
  LayerData data(placement.shape, 54);
  RunStats stats = runAll(*executor, data);
  EXPECT_EQ(stats.tiles, 0);
  EXPECT_EQ(stats.density, 0);
  EXPECT_EQ(stats.rhoBefore, 1);
  EXPECT_EQ(stats.bytesExchange, 0);
}

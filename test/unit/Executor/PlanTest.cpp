//===- PlanTest.cpp - Plans from outside, and what ran as a program -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutorTestSupport.h"

#include "sparseattn-rt/Binder.h"

#include <cmath>

using namespace sart;
using namespace sart::test;

namespace {

/// A plan that leaves every head where it is.
Plan stayingPlan(const BlockMask &mask, const Placement &placement) {
  PlannerOptions options;
  options.balance = Balance::None;
  auto plan = makePlan(summarize(mask, placement), placement, options);
  EXPECT_TRUE(plan.ok()) << plan.message();
  return *plan;
}

/// The same with one head moved, demand and loads as they follow.
Plan movingPlan(const BlockMask &mask, const Placement &placement,
                HeadMove move) {
  Plan plan = stayingPlan(mask, placement);
  plan.moves = {move};
  MaskSummary summary = summarize(mask, placement);
  std::vector<int64_t> owners = plan.owners(placement);
  plan.transfers = computeDemand(summary, placement, owners);
  plan.loadsAfter = rankLoads(summary.loads, owners, placement.mesh);
  return plan;
}

std::string runWith(Executor &executor, LayerData &data, const Plan &plan,
                    RunStats &stats) {
  RunOptions options;
  options.plan = &plan;
  return executor.run(data.shards(executor.program().placement), options, stats)
      .message();
}

} // namespace

TEST(Plan, GivenPlanIsCarriedOut) {
  for (int64_t ring : {1, 2}) {
    Placement placement = placementOf(3, ring, 7, 7, 200, 200);
    auto executor = executorOf(templateOf(placement, topP(0.7f)));
    LayerData data(placement.shape, 41);
    RunStats own = runAll(*executor, data);
    BlockMask mask = maskOf(*executor);
    EXPECT_FALSE(own.plan.moves.empty()) << "the test needs uneven heads";

    RunStats stats;
    data.forget();
    EXPECT_EQ(runWith(*executor, data, stayingPlan(mask, placement), stats),
              "");
    EXPECT_EQ(stats.bytesMoved, 0);
    EXPECT_EQ(stats.loadsAfter, stats.loadsBefore);
    expectOracle(data, mask, executor->program().scale);

    // Head 1 of Ulysses index 0 goes to index 2.
    Plan plan = movingPlan(mask, placement, {1, 0, 2});
    data.forget();
    EXPECT_EQ(runWith(*executor, data, plan, stats), "");
    EXPECT_EQ(stats.plan, plan);
    EXPECT_EQ(stats.planHash, plan.hash());
    EXPECT_EQ(stats.loadsAfter, plan.loadsAfter);
    expectOracle(data, mask, executor->program().scale);
    // q, k and v of one head in every segment, over links 0 -> 2 only.
    int64_t headBytes = 0;
    for (int64_t r = 0; r < ring; ++r)
      headBytes +=
          (placement.qTokensOf(r).size() + 2 * placement.kvTokensOf(r).size()) *
          32 * 4;
    EXPECT_EQ(stats.bytesMoved, headBytes);
    EXPECT_EQ(stats.bytesMoved, stats.predicted.moved);
  }
}

TEST(Plan, PlanThatLeavesOutKvBlocksIsRefusedBeforeTheFirstSend) {
  Placement placement = placementOf(2, 2, 4, 4, 200, 200);
  ExecutorOptions options = strictOptions();
  options.coverage = false; // a plan from outside is checked anyway
  auto executor = executorOf(templateOf(placement, topP(0.7f)), options);
  LayerData data(placement.shape, 42);
  runAll(*executor, data);
  Plan plan = stayingPlan(maskOf(*executor), placement);
  ASSERT_FALSE(plan.transfers.empty());
  ASSERT_FALSE(plan.transfers[0].blocks.empty());
  Range &first = plan.transfers[0].blocks[0];
  if (first.size() > 1)
    ++first.begin;
  else
    plan.transfers[0].blocks.erase(plan.transfers[0].blocks.begin());
  if (plan.transfers[0].blocks.empty())
    plan.transfers.erase(plan.transfers.begin());
  data.forget();
  RunStats stats;
  std::string text = runWith(*executor, data, plan, stats);
  EXPECT_NE(text.find("(plan): "), std::string::npos) << text;
  for (int64_t row = 0; row < 200; ++row)
    EXPECT_TRUE(std::isnan(data.oAt(0, row, 0))) << "nothing may be computed";
  // The next step is not affected.
  runAll(*executor, data);
  expectOracle(data, maskOf(*executor), executor->program().scale);
}

TEST(Plan, PlanForAnotherLayerIsRefused) {
  Placement placement = placementOf(2, 1, 4, 4, 63, 63);
  auto executor = executorOf(templateOf(placement, topP(0.7f)));
  LayerData data(placement.shape, 43);
  RunStats stats;
  Plan plan =
      stayingPlan(BlockMask::dense(4, 4, 3), placementOf(4, 1, 4, 4, 63, 63));
  EXPECT_NE(
      runWith(*executor, data, plan, stats).find("(plan): plan refused: "),
      std::string::npos);
  plan = stayingPlan(BlockMask::dense(4, 4, 3), placement);
  plan.moves = {{0, 1, 0}};
  EXPECT_NE(
      runWith(*executor, data, plan, stats).find("(plan): plan refused: "),
      std::string::npos);
}

TEST(Plan, BoundProgramsTakeNoPlan) {
  Placement placement = placementOf(2, 1, 4, 4, 63, 63);
  BlockMask mask = BlockMask::dense(4, 4, 3);
  auto executor = executorOf(boundOf(placement, mask));
  LayerData data(placement.shape, 44);
  RunStats stats;
  EXPECT_EQ(runWith(*executor, data, stayingPlan(mask, placement), stats),
            "plan given for a bound program: expected a template, or no plan");
  RunOptions options;
  options.dense = true;
  EXPECT_EQ(executor->run(data.shards(placement), options, stats).message(),
            "dense routing asked of a bound program: expected a template, or a "
            "program with a dense mask");
}

TEST(Plan, RanksWithDifferentPlansStopBeforeTheFirstSend) {
  // Rank 1 mistakes a record of rank 0 for one of its own, and so plans for
  // another mask.
  Placement placement = placementOf(2, 1, 4, 4, 200, 200);
  Program layer = templateOf(placement, topP(0.6f));
  auto &received =
      layer.statics.values[1][static_cast<size_t>(layer.findSymbol("gs_recv"))];
  ASSERT_GE(received.size(), 9u);
  std::swap(received[0], received[6]);
  ExecutorOptions options;
  options.validate = false;
  auto executor = executorOf(layer, options);
  LayerData data(placement.shape, 45);
  RunStats stats;
  std::string text = executor->run(data.shards(placement), {}, stats).message();
  EXPECT_NE(text.find("(plan): plans of the ranks differ: got hash "),
            std::string::npos)
      << text;
}

TEST(Plan, BoundProgramOfARunDoesTheSameWork) {
  for (const Placement &placement :
       {placementOf(1, 1, 4, 4, 63, 63), placementOf(4, 1, 7, 7, 100, 150),
        placementOf(2, 3, 12, 3, 200, 150), placementOf(1, 4, 2, 2, 150, 150),
        placementOf(2, 2, 7, 7, 100, 100, true)}) {
    for (bool augment : {false, true}) {
      TemplateOptions options = topP(0.7f);
      options.planner.augment = augment;
      Program layer = templateOf(placement, options);
      auto executor = executorOf(layer);
      EXPECT_EQ(executor->boundProgram().message(),
                "bound program not available: expected a successful run first");
      LayerData data(placement.shape, 46), again(placement.shape, 46);
      RunStats stats = runAll(*executor, data);
      auto bound = executor->boundProgram();
      ASSERT_TRUE(bound.ok()) << bound.message();
      EXPECT_TRUE(bound->bound);
      auto replay = executorOf(*bound);
      RunStats replayed = runAll(*replay, again);
      EXPECT_EQ(data.o, again.o) << "the same bits";
      EXPECT_EQ(data.lse, again.lse);
      EXPECT_EQ(replayed.bytesSent, stats.bytesSent);
      EXPECT_EQ(replayed.tiles, stats.tiles);
      EXPECT_EQ(replayed.density, stats.density);
      EXPECT_EQ(maskOf(*replay), maskOf(*executor));
      // The plan can be read off the instructions.
      EXPECT_EQ(replayed.plan.moves, stats.plan.moves);
      EXPECT_EQ(replayed.plan.transfers, stats.plan.transfers);
      EXPECT_EQ(replayed.plan.loadsAfter, stats.loadsAfter);
      EXPECT_EQ(replayed.predicted.moved, stats.predicted.moved);
      EXPECT_EQ(replayed.predicted.routed, stats.predicted.routed);
      // The way of constant masks gives the same program.
      auto folded = buildBound(layer, maskOf(*executor), stats.plan);
      ASSERT_TRUE(folded.ok()) << folded.message();
      EXPECT_EQ(contentHash(*folded), contentHash(*bound));
    }
  }
}

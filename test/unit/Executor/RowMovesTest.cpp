//===- RowMovesTest.cpp - Rows that move, and plans before the exchange ---===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutorTestSupport.h"
#include "Support/RandomPlan.h"

#include "sparseattn-rt/Binder.h"

#include <gtest/gtest.h>

using namespace sart;
using namespace sart::test;

namespace {

/// Runs random plans of one kind on a mesh and compares every row with the
/// oracle; the program that ran, exported with its mask, runs again alike.
void checkMesh(Balance balance, int64_t ulysses, int64_t ring, int64_t heads,
               int64_t kvHeads, int64_t sq, int64_t skv, bool causal,
               uint64_t seed) {
  SCOPED_TRACE(concat(toString(balance), " ulysses ", ulysses, " ring ", ring,
                      " heads ", heads, ":", kvHeads, " tokens ", sq, ", ", skv,
                      causal ? " causal" : "", " seed ", seed));
  Placement placement =
      placementOf(ulysses, ring, heads, kvHeads, sq, skv, causal);
  placement.blockShards = balance == Balance::Pre;
  TemplateOptions options = topP(0.8f);
  options.planner.balance = balance;
  options.planner.repair = true;
  options.planner.maxPieces = 3;
  std::unique_ptr<Executor> executor =
      executorOf(templateOf(placement, options));
  ASSERT_TRUE(executor);
  LayerData data(placement.shape, static_cast<uint32_t>(seed));
  RunStats first = runAll(*executor, data);
  BlockMask mask = maskOf(*executor);
  expectOracle(data, mask, executor->program().scale);
  Plan plan =
      randomPlan(placement, options.planner, summarize(mask, placement), seed);
  ASSERT_EQ(plan.verify(placement).message(), "");
  RunOptions run;
  run.plan = &plan;
  data.forget();
  RunStats stats = runAll(*executor, data, run);
  expectOracle(data, maskOf(*executor), executor->program().scale);
  EXPECT_EQ(stats.loadsAfter, plan.loadsAfter);
  EXPECT_EQ(stats.bytesExchange, stats.predicted.exchange);
  EXPECT_EQ(stats.bytesMoved, stats.predicted.moved);
  EXPECT_EQ(stats.bytesRouted, stats.predicted.routed);

  Expected<Program> bound = executor->boundProgram();
  ASSERT_TRUE(bound.ok()) << bound.message();
  std::vector<float> lse = data.lse;
  std::vector<uint8_t> o = data.o;
  std::unique_ptr<Executor> again = executorOf(*bound);
  ASSERT_TRUE(again);
  data.forget();
  runAll(*again, data);
  EXPECT_EQ(data.lse, lse);
  EXPECT_EQ(data.o, o);
}

TEST(RowMoves, OneSegment) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    checkMesh(Balance::Split, 4, 1, 6, 6, 200, 190, false, seed);
    checkMesh(Balance::Split, 3, 1, 6, 2, 170, 170, true, seed);
    // More ranks than heads: some only work for others.
    checkMesh(Balance::Split, 5, 1, 3, 1, 130, 64, false, seed);
  }
}

TEST(RowMoves, RingGroups) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    checkMesh(Balance::Split, 1, 3, 4, 2, 200, 200, true, seed);
    checkMesh(Balance::Split, 2, 2, 6, 3, 210, 150, false, seed);
    checkMesh(Balance::Split, 2, 3, 2, 2, 60, 70, false, seed);
  }
}

TEST(RowMoves, BeforeTheExchange) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    checkMesh(Balance::Pre, 4, 1, 6, 6, 200, 200, false, seed);
    checkMesh(Balance::Pre, 3, 1, 6, 2, 170, 130, true, seed);
    checkMesh(Balance::Pre, 5, 1, 3, 1, 40, 64, false, seed);
    checkMesh(Balance::Pre, 2, 2, 6, 3, 210, 150, false, seed);
    checkMesh(Balance::Pre, 1, 3, 2, 2, 60, 200, true, seed);
  }
}

TEST(RowMoves, LimitsOfTheTemplate) {
  Placement placement = placementOf(2, 1, 4, 4, 64, 64);
  TemplateOptions options = topP(0.8f);
  options.planner.balance = Balance::Split;
  options.planner.maxPieces = 1;
  std::unique_ptr<Executor> executor =
      executorOf(templateOf(placement, options));
  ASSERT_TRUE(executor);
  LayerData data(placement.shape, 1);
  runAll(*executor, data);
  MaskSummary summary = summarize(maskOf(*executor), placement);
  Plan plan = *makePlan(summary, placement, options.planner);
  plan.rowMoves = {{0, {0, 1}, 0, 1}, {1, {0, 1}, 0, 1}};
  RunOptions run;
  run.plan = &plan;
  RunStats stats;
  EXPECT_NE(executor->run(data.shards(placement), run, stats)
                .message()
                .find("row moves of rank 0 exceed the template's: got 2 out "
                      "and 0 in, expected at most 1 each"),
            std::string::npos);
}

} // namespace

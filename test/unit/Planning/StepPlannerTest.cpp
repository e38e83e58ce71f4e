//===- StepPlannerTest.cpp - Moves that are kept --------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/StepPlanner.h"
#include "BalanceTestSupport.h"

using namespace sart;
using namespace sart::test;

namespace {

class StepPlannerTest : public testing::TestWithParam<Balance> {
protected:
  StepPlannerTest() {
    placement = makePlacement(4, 1, 8, 8, 40 * 64, 50 * 64, 64);
    placement.blockShards = GetParam() == Balance::Pre;
    options.balance = GetParam();
  }
  MaskSummary summaryOf(const std::vector<int64_t> &loads) const {
    return summaryOfRows(placement, evenRows(placement, loads));
  }

  Placement placement;
  PlannerOptions options;
};

TEST_P(StepPlannerTest, KeepsMovesWhileTheyBalance) {
  StepPlanner planner(placement, options, 1100);
  MaskSummary first = summaryOf({1500, 1500, 300, 310, 900, 800, 700, 720});
  Plan plan = *planner.plan(first);
  EXPECT_EQ(plan, *makePlan(first, placement, options));
  EXPECT_FALSE(plan.moves.empty() && plan.rowMoves.empty());
  EXPECT_EQ(planner.decided(), 1);
  // A little different: the moves stay, the loads follow.
  MaskSummary second = summaryOf({1520, 1490, 310, 300, 910, 790, 690, 730});
  Plan kept = *planner.plan(second);
  EXPECT_EQ(planner.decided(), 1);
  EXPECT_EQ(kept.moves, plan.moves);
  EXPECT_EQ(kept.rowMoves, plan.rowMoves);
  EXPECT_NE(kept.loadsAfter, plan.loadsAfter);
  EXPECT_TRUE(kept.verify(placement).ok());
  EXPECT_LT(imbalance(kept.loadsAfter), 1.1);
  // Much different: planned anew.
  MaskSummary third = summaryOf({2000, 100, 90, 80, 110, 120, 130, 140});
  Plan anew = *planner.plan(third);
  EXPECT_EQ(planner.decided(), 2);
  EXPECT_EQ(anew, *makePlan(third, placement, options));
}

TEST_P(StepPlannerTest, WithoutAThresholdEveryMaskIsPlanned) {
  StepPlanner planner(placement, options, 0);
  MaskSummary summary = summaryOf({1500, 1500, 300, 310, 900, 800, 700, 720});
  int64_t planNs = -1;
  EXPECT_EQ(*planner.plan(summary), *planner.plan(summary, &planNs));
  EXPECT_EQ(planner.decided(), 2);
  EXPECT_GE(planNs, 0);
}

TEST_P(StepPlannerTest, RefusesWhatMakePlanRefuses) {
  StepPlanner planner(placement, options, 1100);
  MaskSummary summary = summaryOf({1500, 1500, 300, 310, 900, 800, 700, 720});
  summary.kvBlocks = 49;
  EXPECT_EQ(planner.plan(summary).message(),
            "mask summary does not match the placement: got 49 kv-blocks, "
            "expected 50");
  EXPECT_EQ(planner.decided(), 0);
}

INSTANTIATE_TEST_SUITE_P(Balances, StepPlannerTest,
                         testing::Values(Balance::Swap, Balance::Split,
                                         Balance::Pre),
                         [](const auto &info) {
                           return std::string(toString(info.param));
                         });

} // namespace

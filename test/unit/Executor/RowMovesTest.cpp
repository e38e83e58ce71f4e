//===- RowMovesTest.cpp - Rows that move, and plans before the exchange ---===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutorTestSupport.h"

#include "sparseattn-rt/Binder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace sart;
using namespace sart::test;

namespace {

/// Arbitrary legal decisions: whole heads where heads go straight to their
/// final rank, and pieces of rows inside the mesh's axis for them.
class RandomPlan {
public:
  RandomPlan(const Placement &placement, const PlannerOptions &planner,
             const MaskSummary &summary, uint64_t seed)
      : placement(placement), planner(planner), summary(summary), random(seed) {
  }

  Plan make() {
    const LayerShape &shape = placement.shape;
    plan.mesh = placement.mesh;
    plan.heads = shape.heads;
    plan.kvHeads = shape.kvHeads;
    plan.qBlocks = shape.qBlocks();
    plan.kvBlocks = shape.kvBlocks();
    if (placement.blockShards)
      moveHeads();
    moveRows();
    std::vector<int64_t> owners = plan.owners(placement);
    plan.loadsBefore =
        rankLoads(summary.loads, Plan().owners(placement), plan.mesh);
    plan.loadsAfter = rankLoads(summary.loads, owners, plan.mesh);
    applyRowMoves(summary, plan.rowMoves, plan.loadsAfter);
    plan.transfers = computeDemand(summary, placement, owners, plan.rowMoves);
    return plan;
  }

private:
  int64_t below(int64_t n) {
    return static_cast<int64_t>(random() % uint64_t(n));
  }
  bool fits() const {
    for (int64_t rank = 0; rank < plan.mesh.ranks(); ++rank) {
      SlotTable slots = slotsOf(placement, rank, plan);
      if (static_cast<int64_t>(slots.qHeads.size()) >
              qSlotCapacity(placement, planner) ||
          static_cast<int64_t>(slots.kvHeads.size()) >
              kvSlotCapacity(placement, planner))
        return false;
    }
    return true;
  }

  void moveHeads() {
    for (int64_t head = 0; head < plan.heads; ++head) {
      int64_t to = below(plan.mesh.ulysses);
      if (to == placement.ownerOfHead(head))
        continue;
      plan.moves.push_back({head, placement.ownerOfHead(head), to});
      if (!fits())
        plan.moves.pop_back();
    }
  }

  void moveRows() {
    int64_t pieces = pieceCapacity(placement, planner);
    std::vector<int64_t> out(static_cast<size_t>(plan.mesh.ranks()), 0);
    std::vector<int64_t> in = out;
    std::vector<int64_t> owners = plan.owners(placement);
    for (int64_t head = 0; head < plan.heads && pieces > 0; ++head)
      for (int64_t r = 0; r < plan.mesh.ring; ++r) {
        Range rows = placement.qBlocksOf(r);
        int64_t from = plan.mesh.rankOf(owners[static_cast<size_t>(head)], r);
        for (int64_t row = rows.begin; row < rows.end && below(3) > 0;) {
          // Up to all rows of the head.
          int64_t end = row + 1 + below(rows.end - row);
          int64_t to = plan.mesh.ring > 1
                           ? plan.mesh.rankOf(plan.mesh.ulyssesIndex(from),
                                              below(plan.mesh.ring))
                           : below(plan.mesh.ranks());
          auto &sent = out[static_cast<size_t>(from)];
          auto &got = in[static_cast<size_t>(to)];
          if (to != from && sent < pieces && got < pieces) {
            plan.rowMoves.push_back({head, {row, end}, from, to});
            if (fits()) {
              ++sent;
              ++got;
            } else {
              plan.rowMoves.pop_back();
            }
          }
          row = end + below(2);
        }
      }
  }

  const Placement &placement;
  const PlannerOptions &planner;
  const MaskSummary &summary;
  std::mt19937_64 random;
  Plan plan;
};

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
      RandomPlan(placement, options.planner, summarize(mask, placement), seed)
          .make();
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

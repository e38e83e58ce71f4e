//===- SwapTest.cpp - Head swaps against brute force ----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PlanningTestSupport.h"
#include "sparseattn-rt/TraceFile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <tuple>

using namespace sart;
using namespace sart::test;

namespace {

__extension__ typedef unsigned __int128 Wide;
using Score = std::tuple<int64_t, Wide, int64_t>;

Score scoreOf(const HeadLoads &loads, const Placement &placement,
              const std::vector<HeadMove> &moves) {
  Plan plan;
  plan.moves = moves;
  Score score = {0, 0, static_cast<int64_t>(moves.size())};
  for (int64_t load :
       rankLoads(loads, plan.owners(placement), placement.mesh)) {
    std::get<0>(score) = std::max(std::get<0>(score), load);
    std::get<1>(score) += static_cast<Wide>(load) * static_cast<Wide>(load);
  }
  return score;
}

/// Best score over all permutations of the indices and all heads, or no head,
/// that an index which is not a fixed point may send along.
class BruteForce {
public:
  BruteForce(const HeadLoads &loads, const Placement &placement)
      : loads(loads), placement(placement),
        best(scoreOf(loads, placement, {})) {}

  Score run() {
    std::vector<int64_t> target(placement.mesh.ulysses);
    std::iota(target.begin(), target.end(), 0);
    std::vector<int64_t> start =
        rankLoads(loads, initialOwners(placement), placement.mesh);
    do {
      send(target, 0, start, 0);
    } while (std::next_permutation(target.begin(), target.end()));
    return best;
  }

private:
  void send(const std::vector<int64_t> &target, int64_t u,
            const std::vector<int64_t> &ranks, int64_t moves) {
    if (u == placement.mesh.ulysses) {
      Score score = {0, 0, moves};
      for (int64_t load : ranks) {
        std::get<0>(score) = std::max(std::get<0>(score), load);
        std::get<1>(score) += static_cast<Wide>(load) * static_cast<Wide>(load);
      }
      best = std::min(best, score);
      return;
    }
    send(target, u + 1, ranks, moves);
    Range heads = placement.headsOf(u);
    for (int64_t h = heads.begin; h < heads.end && target[u] != u; ++h) {
      std::vector<int64_t> changed = ranks;
      for (int64_t r = 0; r < placement.mesh.ring; ++r) {
        int64_t load = loads.tiles[h * placement.mesh.ring + r];
        changed[placement.mesh.rankOf(u, r)] -= load;
        changed[placement.mesh.rankOf(target[u], r)] += load;
      }
      send(target, u + 1, changed, moves + 1);
    }
  }

  const HeadLoads &loads;
  const Placement &placement;
  Score best;
};

HeadLoads randomLoads(int64_t heads, int64_t ring, Random &random) {
  HeadLoads loads;
  loads.heads = heads;
  loads.ring = ring;
  // Small ranges make ties, which the number of moves decides.
  int64_t range = random.chance(30) ? 4 : random.chance(50) ? 60 : 400000;
  for (int64_t i = 0; i < heads * ring; ++i) {
    int64_t load = random.below(range);
    if (random.chance(10))
      load *= 5;
    loads.tiles.push_back(random.chance(15) ? 0 : load);
  }
  return loads;
}

void expectLegal(const std::vector<HeadMove> &moves,
                 const Placement &placement) {
  Plan plan;
  plan.mesh = placement.mesh;
  plan.heads = placement.shape.heads;
  plan.kvHeads = placement.shape.kvHeads;
  plan.qBlocks = placement.shape.qBlocks();
  plan.kvBlocks = placement.shape.kvBlocks();
  plan.moves = moves;
  plan.loadsBefore.assign(placement.mesh.ranks(), 0);
  plan.loadsAfter = plan.loadsBefore;
  Status status = plan.verify(placement);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(PlanSwaps, EqualsBruteForceForUpToFiveIndices) {
  Random random(20260711);
  for (int round = 0; round < 1000; ++round) {
    int64_t ulysses = 1 + round % 5;
    int64_t ring = random.chance(70) ? 1 : 1 + random.below(3);
    // Fewer heads than indices, too.
    int64_t heads = 1 + random.below(ulysses == 5 ? 16 : 20);
    Placement placement =
        makePlacement(ulysses, ring, heads, heads, 1024, 1024);
    HeadLoads loads = randomLoads(heads, ring, random);
    std::vector<HeadMove> moves = planSwaps(loads, placement);
    expectLegal(moves, placement);
    Score expected = BruteForce(loads, placement).run();
    Score got = scoreOf(loads, placement, moves);
    ASSERT_EQ(std::get<0>(got), std::get<0>(expected)) << "round " << round;
    ASSERT_TRUE(std::get<1>(got) == std::get<1>(expected)) << "round " << round;
    ASSERT_EQ(std::get<2>(got), std::get<2>(expected)) << "round " << round;
  }
}

TEST(PlanSwaps, NeverWorseAndLegalBeyondFiveIndices) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    int64_t ulysses = 6 + random.below(11);
    int64_t ring = 1 + random.below(3);
    int64_t heads = 1 + random.below(60);
    Placement placement =
        makePlacement(ulysses, ring, heads, heads, 1024, 1024);
    HeadLoads loads = randomLoads(heads, ring, random);
    std::vector<HeadMove> moves = planSwaps(loads, placement);
    expectLegal(moves, placement);
    EXPECT_LE(scoreOf(loads, placement, moves), scoreOf(loads, placement, {}));
    EXPECT_EQ(moves, planSwaps(loads, placement));
  }
}

TEST(PlanSwaps, IndexWithoutHeadsOrWorkTakesPart) {
  // Two heads on one index of two: the other one owns none.
  Placement placement = makePlacement(3, 1, 2, 2, 1024, 1024);
  EXPECT_TRUE(placement.headsOf(1).size() + placement.headsOf(2).size() == 1);
  // All work on one index, the other two idle.
  placement = makePlacement(3, 1, 6, 6, 1024, 1024);
  HeadLoads loads{6, 1, {50, 40, 0, 0, 0, 0}};
  std::vector<HeadMove> moves = planSwaps(loads, placement);
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].head, 1);
  EXPECT_EQ(moves[0].from, 0);
}

TEST(PlanSwaps, CyclesOfThreeAreFound) {
  // (10, 1) (7, 4) (1, 10): loads 11, 11, 11 are equal; shift them.
  Placement placement = makePlacement(3, 1, 6, 6, 1024, 1024);
  HeadLoads loads{6, 1, {90, 30, 50, 31, 29, 22}};
  Score expected = BruteForce(loads, placement).run();
  EXPECT_EQ(scoreOf(loads, placement, planSwaps(loads, placement)), expected);
}

TEST(PlanSwaps, NothingToDo) {
  Placement placement = makePlacement(4, 2, 8, 8, 1024, 1024);
  EXPECT_TRUE(
      planSwaps({8, 2, std::vector<int64_t>(16, 5)}, placement).empty());
  EXPECT_TRUE(
      planSwaps({8, 2, std::vector<int64_t>(16, 0)}, placement).empty());
  EXPECT_TRUE(planSwaps({8, 1, {9, 1, 1, 1, 1, 1, 1, 1}},
                        makePlacement(1, 1, 8, 8, 1024, 1024))
                  .empty());
}

TEST(PlanSwaps, LoadsNearTheLimitDoNotOverflow) {
  int64_t big = int64_t(1) << 55;
  for (int64_t ulysses : {4, 8}) {
    Placement placement =
        makePlacement(ulysses, 1, 2 * ulysses, 2 * ulysses, 1024, 1024);
    HeadLoads loads{2 * ulysses, 1, std::vector<int64_t>(2 * ulysses, big)};
    loads.tiles[0] = 4 * big;
    loads.tiles[1] = 3 * big;
    std::vector<HeadMove> moves = planSwaps(loads, placement);
    // The best split of 4 and 3 against ones: 4 + 1 on one index.
    EXPECT_EQ(std::get<0>(scoreOf(loads, placement, moves)), 4 * big);
  }
}

struct TraceResult {
  double before = 0, after = 0, worst = 0, medianUs = 0;
};

TraceResult runTrace(const std::string &name, int64_t ulysses) {
  TraceResult result;
  Expected<TraceFile> trace = TraceFile::read(tracePath(name));
  EXPECT_TRUE(trace.ok()) << trace.message();
  if (!trace)
    return result;
  Placement placement = makePlacement(ulysses, 1, trace->heads, trace->heads,
                                      trace->tokens, trace->tokens);
  std::vector<double> times;
  for (const TraceFile::Instance &instance : trace->instances) {
    HeadLoads loads{trace->heads, 1, instance.loads};
    auto start = std::chrono::steady_clock::now();
    std::vector<HeadMove> moves = planSwaps(loads, placement);
    auto end = std::chrono::steady_clock::now();
    times.push_back(
        std::chrono::duration<double, std::micro>(end - start).count());
    Plan plan;
    result.before +=
        imbalance(rankLoads(loads, plan.owners(placement), placement.mesh));
    plan.moves = moves;
    double rho =
        imbalance(rankLoads(loads, plan.owners(placement), placement.mesh));
    result.after += rho;
    result.worst = std::max(result.worst, rho);
  }
  double count = static_cast<double>(trace->instances.size());
  result.before /= count;
  result.after /= count;
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  result.medianUs = times[times.size() / 2];
  return result;
}

TEST(PlanSwaps, BalancesTheRecordedLoads) {
  TraceResult wan = runTrace("wi2v_loads_p90.bmt", 8);
  RecordProperty("rho_after", std::to_string(wan.after));
  RecordProperty("worst", std::to_string(wan.worst));
  RecordProperty("median_us", std::to_string(wan.medianUs));
  EXPECT_NEAR(wan.before, 1.3487, 1e-4);
  // 1.0460 is the optimum with heads that need not be returned; swaps of pairs
  // reach 1.085.
  EXPECT_LE(wan.after, 1.055);
  EXPECT_LE(wan.worst, 1.40);
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) &&                 \
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  EXPECT_LT(wan.medianUs, 200);
#endif
  TraceResult small = runTrace("small12_on8_p90.bmt", 8);
  EXPECT_NEAR(small.before, 1.9317, 1e-4);
  // The optimum: largest heads alone exceed the mean.
  EXPECT_LE(small.after, 1.3500);
  EXPECT_LE(runTrace("small_mask_hilbert_p90.bmt", 4).after, 1.05);
}

} // namespace

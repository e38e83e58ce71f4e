//===- PreTest.cpp - Owners before the exchange ---------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BalanceTestSupport.h"

#include <numeric>

using namespace sart;
using namespace sart::test;

namespace {

int64_t largestLoad(const HeadLoads &loads, const std::vector<int64_t> &owners,
                    const Placement &placement) {
  std::vector<int64_t> ranks = rankLoads(loads, owners, placement.mesh);
  return *std::max_element(ranks.begin(), ranks.end());
}

int64_t heldBy(const std::vector<int64_t> &owners, int64_t index) {
  return std::count(owners.begin(), owners.end(), index);
}

/// The smallest largest load with at most ceil(heads / ulysses) heads each.
int64_t bestLoad(const HeadLoads &loads, const Placement &placement) {
  int64_t ulysses = placement.mesh.ulysses, best = INT64_MAX;
  int64_t most = (loads.heads + ulysses - 1) / ulysses;
  std::vector<int64_t> owners(loads.heads, 0);
  while (true) {
    bool fits = true;
    for (int64_t u = 0; u < ulysses; ++u)
      fits &= heldBy(owners, u) <= most;
    if (fits)
      best = std::min(best, largestLoad(loads, owners, placement));
    size_t head = 0;
    while (head < owners.size() && ++owners[head] == ulysses)
      owners[head++] = 0;
    if (head == owners.size())
      return best;
  }
}

int64_t stayed(const std::vector<int64_t> &owners, const Placement &placement) {
  int64_t count = 0;
  for (size_t head = 0; head < owners.size(); ++head)
    count += owners[head] == placement.ownerOfHead(head);
  return count;
}

TEST(PlanOwners, NearTheBestOfAllOwners) {
  Random random(4);
  int64_t optimal = 0;
  constexpr int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    Placement placement =
        makePlacement(2 + random.below(2), random.chance(70) ? 1 : 2,
                      3 + random.below(5), 1, 1024, 1024);
    HeadLoads loads{placement.shape.heads, placement.mesh.ring, {}};
    for (int64_t i = 0; i < loads.heads * loads.ring; ++i)
      loads.tiles.push_back(random.chance(10) ? 0 : random.below(1000));
    std::vector<int64_t> owners = planOwners(loads, placement, {});
    for (int64_t u = 0; u < placement.mesh.ulysses; ++u)
      ASSERT_LE(heldBy(owners, u), (loads.heads + placement.mesh.ulysses - 1) /
                                       placement.mesh.ulysses);
    int64_t got = largestLoad(loads, owners, placement);
    int64_t best = bestLoad(loads, placement);
    optimal += got == best;
    ASSERT_LE(got * 3, best * 4) << "round " << round;
    EXPECT_EQ(owners, planOwners(loads, placement, {}));
  }
  EXPECT_GE(optimal, rounds * 8 / 10);
}

TEST(PlanOwners, AsManyHeadsAsPossibleStay) {
  Random random(9);
  for (int round = 0; round < 100; ++round) {
    Placement placement =
        makePlacement(2 + random.below(4), 1, 4 + random.below(12), 1, 64, 64);
    HeadLoads loads{placement.shape.heads, 1, {}};
    for (int64_t i = 0; i < loads.heads; ++i)
      loads.tiles.push_back(1 + random.below(1000));
    std::vector<int64_t> owners = planOwners(loads, placement, {});
    std::vector<int64_t> names(placement.mesh.ulysses);
    std::iota(names.begin(), names.end(), 0);
    do {
      std::vector<int64_t> renamed;
      for (int64_t owner : owners)
        renamed.push_back(names[owner]);
      ASSERT_LE(stayed(renamed, placement), stayed(owners, placement));
    } while (std::next_permutation(names.begin(), names.end()));
  }
  // More indices than are assigned exactly.
  Placement placement = makePlacement(40, 1, 40, 40, 64, 64);
  HeadLoads equal{40, 1, std::vector<int64_t>(40, 5)};
  EXPECT_EQ(stayed(planOwners(equal, placement, {}), placement), 40);
}

TEST(PlanOwners, CountsRowsWhenTheyCost) {
  // Loads 6, 1, 1, 1, 1: by tiles alone 6 stands alone. Rows of 100 tiles each
  // make counts matter more.
  Placement placement = makePlacement(2, 1, 5, 5, 64 * 4, 64 * 4, 64);
  HeadLoads loads{5, 1, {6, 1, 1, 1, 2}};
  CostModel cost;
  cost.rowPs = 100000;
  std::vector<int64_t> owners = planOwners(loads, placement, cost);
  // Three heads at most on one index; the heavy one is with one other.
  EXPECT_EQ(heldBy(owners, owners[0]), 2);
}

TEST(PlanOwners, EmptyIndicesAndHeadsWithoutWork) {
  Placement placement = makePlacement(8, 1, 3, 3, 64, 64);
  std::vector<int64_t> owners = planOwners({3, 1, {5, 0, 7}}, placement, {});
  EXPECT_NE(owners[0], owners[2]);
  placement = makePlacement(1, 4, 3, 3, 64, 64);
  EXPECT_EQ(planOwners({3, 4, std::vector<int64_t>(12, 1)}, placement, {}),
            (std::vector<int64_t>{0, 0, 0}));
}

TEST(TailImbalance, KnownOrders) {
  // Two workers: 1 1 1 1 4 leaves one alone with the 4.
  std::vector<int64_t> costs = {1, 1, 1, 1, 4};
  EXPECT_DOUBLE_EQ(tailImbalance(costs, 2), 1.5);
  orderRows(costs, 5, RowOrder::Longest);
  EXPECT_EQ(costs, (std::vector<int64_t>{4, 1, 1, 1, 1}));
  EXPECT_DOUBLE_EQ(tailImbalance(costs, 2), 1);
  costs = {1, 2, 3, 4, 5, 6, 7};
  orderRows(costs, 3, RowOrder::LongestPerHead);
  EXPECT_EQ(costs, (std::vector<int64_t>{3, 2, 1, 6, 5, 4, 7}));
  orderRows(costs, 3, RowOrder::Natural);
  EXPECT_EQ(costs, (std::vector<int64_t>{3, 2, 1, 6, 5, 4, 7}));
  EXPECT_DOUBLE_EQ(tailImbalance({0, 0}, 4), 1);
  EXPECT_DOUBLE_EQ(tailImbalance({}, 4), 1);
  EXPECT_DOUBLE_EQ(tailImbalance({5}, 4), 4);
}

} // namespace

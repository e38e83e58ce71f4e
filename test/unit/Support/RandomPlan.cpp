//===- RandomPlan.cpp - Arbitrary legal plans -----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RandomPlan.h"

#include "sparseattn-rt/Binder.h"

#include <random>

using namespace sart;
using namespace sart::test;

namespace {

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

} // namespace

Plan test::randomPlan(const Placement &placement, const PlannerOptions &planner,
                      const MaskSummary &summary, uint64_t seed) {
  return RandomPlan(placement, planner, summary, seed).make();
}

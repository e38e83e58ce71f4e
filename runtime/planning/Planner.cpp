//===- Planner.cpp - The whole plan of one mask ---------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Planner.h"
#include "Decision.h"

#include <algorithm>
#include <chrono>

using namespace sart;

namespace {

Status checkMilli(const char *what, int64_t value, int64_t least,
                  int64_t greatest) {
  if (value < least || value > greatest)
    return makeError(what, " out of range: got ", value, ", expected ", least,
                     " to ", greatest, " thousandths");
  return Status::success();
}

Status checkCost(const char *what, int64_t value) {
  constexpr int64_t most = int64_t(1) << 40;
  if (value < 0 || value > most)
    return makeError(what, " out of range: got ", value, ", expected 0 to ",
                     most);
  return Status::success();
}

} // namespace

std::string_view sart::toString(Balance balance) {
  switch (balance) {
  case Balance::None:
    return "none";
  case Balance::Swap:
    return "swap";
  case Balance::Split:
    return "split";
  case Balance::Pre:
    return "pre";
  }
  return "unknown";
}

Expected<Balance> sart::parseBalance(std::string_view text) {
  for (Balance balance :
       {Balance::None, Balance::Swap, Balance::Split, Balance::Pre})
    if (text == toString(balance))
      return balance;
  return makeError("balance not known: got '", text,
                   "', expected none, swap, split or pre");
}

Status PlannerOptions::verify() const {
  SART_RETURN_IF_ERROR(checkMilli("k1", k1Milli, 0, 1000000));
  SART_RETURN_IF_ERROR(checkMilli("k2", k2Milli, k1Milli, 1000000));
  SART_RETURN_IF_ERROR(checkMilli("n1", n1Milli, 0, 1000));
  SART_RETURN_IF_ERROR(checkMilli("n2", n2Milli, 0, 1000000));
  if (maxPieces < 0 || maxPieces > maxRanks)
    return makeError("most row moves per rank out of range: got ", maxPieces,
                     ", expected 0 to ", maxRanks);
  SART_RETURN_IF_ERROR(checkCost("picoseconds per tile", cost.tilePs));
  SART_RETURN_IF_ERROR(checkCost("picoseconds per row", cost.rowPs));
  SART_RETURN_IF_ERROR(checkCost("picoseconds per transfer", cost.transferPs));
  SART_RETURN_IF_ERROR(checkCost("picoseconds per byte", cost.bytePs));
  return checkCost("nanoseconds of scheduling", cost.scheduleNs);
}

Status sart::verifyPlanInputs(const MaskSummary &summary,
                              const Placement &placement,
                              const PlannerOptions &options) {
  SART_RETURN_IF_ERROR(placement.verify());
  SART_RETURN_IF_ERROR(options.verify());
  return summary.verify(placement);
}

Plan sart::completePlan(Decision decision, const MaskSummary &summary,
                        const Placement &placement,
                        const PlannerOptions &options) {
  Plan plan;
  plan.mesh = placement.mesh;
  plan.heads = placement.shape.heads;
  plan.kvHeads = placement.shape.kvHeads;
  plan.qBlocks = placement.shape.qBlocks();
  plan.kvBlocks = placement.shape.kvBlocks();
  plan.loadsBefore =
      rankLoads(summary.loads, plan.owners(placement), plan.mesh);
  plan.moves = std::move(decision.moves);
  plan.rowMoves = std::move(decision.rowMoves);
  std::vector<int64_t> owners = plan.owners(placement);
  plan.loadsAfter = rankLoads(summary.loads, owners, plan.mesh);
  applyRowMoves(summary, plan.rowMoves, plan.loadsAfter);

  if (options.augment && reaches(plan.loadsBefore, options.k1Milli)) {
    std::vector<int64_t> budgets =
        planExtraTiles(summary, placement, plan.moves, options, plan.rowMoves);
    for (int64_t head = 0; head < plan.heads; ++head)
      for (int64_t r = 0; r < plan.mesh.ring; ++r) {
        int64_t tiles = budgets[static_cast<size_t>(head * plan.mesh.ring + r)];
        if (tiles == 0)
          continue;
        plan.extras.push_back({head, r, tiles});
        plan.loadsAfter[static_cast<size_t>(
            plan.mesh.rankOf(owners[static_cast<size_t>(head)], r))] += tiles;
      }
  }
  plan.transfers = computeDemand(summary, placement, owners, plan.rowMoves);
  return plan;
}

Expected<Plan> sart::makePlan(const MaskSummary &summary,
                              const Placement &placement,
                              const PlannerOptions &options, int64_t *planNs) {
  auto start = std::chrono::steady_clock::now();
  SART_RETURN_IF_ERROR(verifyPlanInputs(summary, placement, options));
  Plan plan = completePlan(decide(summary, placement, options), summary,
                           placement, options);
  if (planNs)
    *planNs = std::chrono::duration_cast<std::chrono::nanoseconds>(
                  std::chrono::steady_clock::now() - start)
                  .count();
  return plan;
}

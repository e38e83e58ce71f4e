//===- Planner.cpp - The whole plan of one mask ---------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Planner.h"

#include <algorithm>
#include <chrono>

using namespace sart;

namespace {

__extension__ typedef __int128 Wide;

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

/// rho >= milli / 1000, without rounding.
bool reaches(const std::vector<int64_t> &loads, int64_t milli) {
  Wide largest = 0, sum = 0;
  for (int64_t load : loads) {
    largest = std::max<Wide>(largest, load);
    sum += load;
  }
  return largest * static_cast<Wide>(loads.size()) * 1000 >= sum * milli;
}

/// Time of the slowest rank in picoseconds: tiles, and rows of every head.
Wide slowest(const HeadLoads &loads, const std::vector<int64_t> &owners,
             const Placement &placement, const CostModel &cost) {
  std::vector<int64_t> tiles = rankLoads(loads, owners, placement.mesh);
  std::vector<int64_t> owned(static_cast<size_t>(placement.mesh.ulysses), 0);
  for (int64_t owner : owners)
    ++owned[static_cast<size_t>(owner)];
  Wide result = 0;
  for (int64_t rank = 0; rank < placement.mesh.ranks(); ++rank) {
    Wide rows =
        Wide(owned[static_cast<size_t>(placement.mesh.ulyssesIndex(rank))]) *
        placement.qBlocksOf(placement.mesh.ringIndex(rank)).size();
    result =
        std::max(result, Wide(tiles[static_cast<size_t>(rank)]) * cost.tilePs +
                             rows * cost.rowPs);
  }
  return result;
}

/// Transfers of the moves run side by side, so the largest one counts: one
/// latency, and the rows of Q, K and V in the largest segment.
Wide transferCost(const std::vector<HeadMove> &moves,
                  const Placement &placement, const CostModel &cost) {
  const LayerShape &shape = placement.shape;
  Wide rowBytes = shape.headDim * byteSize(shape.dtype);
  Wide most = 0;
  for (const HeadMove &move : moves) {
    Range present = placement.kvHeadsOf(move.to);
    int64_t kvHead = shape.kvHeadOf(move.head);
    bool shared = kvHead >= present.begin && kvHead < present.end;
    for (int64_t r = 0; r < placement.mesh.ring; ++r) {
      Wide rows = placement.qTokensOf(r).size();
      if (!shared)
        rows += 2 * placement.kvTokensOf(r).size();
      most = std::max(most, rows * rowBytes);
    }
  }
  return cost.transferPs + most * cost.bytePs;
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

Expected<Plan> sart::makePlan(const MaskSummary &summary,
                              const Placement &placement,
                              const PlannerOptions &options, int64_t *planNs) {
  auto start = std::chrono::steady_clock::now();
  SART_RETURN_IF_ERROR(placement.verify());
  SART_RETURN_IF_ERROR(options.verify());
  SART_RETURN_IF_ERROR(summary.verify(placement));

  Plan plan;
  plan.mesh = placement.mesh;
  plan.heads = placement.shape.heads;
  plan.kvHeads = placement.shape.kvHeads;
  plan.qBlocks = placement.shape.qBlocks();
  plan.kvBlocks = placement.shape.kvBlocks();
  std::vector<int64_t> owners = plan.owners(placement);
  plan.loadsBefore = rankLoads(summary.loads, owners, plan.mesh);

  if (options.balance == Balance::Swap &&
      reaches(plan.loadsBefore, options.k2Milli)) {
    Plan moved = plan;
    moved.moves = planSwaps(summary.loads, placement);
    std::vector<int64_t> newOwners = moved.owners(placement);
    Wide gain = slowest(summary.loads, owners, placement, options.cost) -
                slowest(summary.loads, newOwners, placement, options.cost);
    Wide price = Wide(options.cost.scheduleNs) * 1000 +
                 transferCost(moved.moves, placement, options.cost);
    if (gain > price) {
      plan = std::move(moved);
      owners = std::move(newOwners);
    }
  }
  plan.loadsAfter = rankLoads(summary.loads, owners, plan.mesh);
  applyRowMoves(summary, plan.rowMoves, plan.loadsAfter);

  if (options.augment && reaches(plan.loadsBefore, options.k1Milli)) {
    std::vector<int64_t> budgets =
        planExtraTiles(summary, placement, plan.moves, options);
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
  if (planNs)
    *planNs = std::chrono::duration_cast<std::chrono::nanoseconds>(
                  std::chrono::steady_clock::now() - start)
                  .count();
  return plan;
}

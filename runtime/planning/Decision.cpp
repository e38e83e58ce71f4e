//===- Decision.cpp - What a plan decides ---------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Decision.h"
#include "sparseattn-rt/Balance.h"
#include "sparseattn-rt/Binder.h"

#include <algorithm>

using namespace sart;

namespace {

__extension__ typedef __int128 Wide;

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

std::vector<int64_t> ownersAfter(const std::vector<HeadMove> &moves,
                                 const Placement &placement) {
  Plan plan;
  plan.moves = moves;
  return plan.owners(placement);
}

/// Swaps that shorten the slowest rank by more than they cost, else none.
std::vector<HeadMove> chooseSwaps(const MaskSummary &summary,
                                  const Placement &placement,
                                  const PlannerOptions &options) {
  std::vector<int64_t> before = ownersAfter({}, placement);
  if (!reaches(rankLoads(summary.loads, before, placement.mesh),
               options.k2Milli))
    return {};
  std::vector<HeadMove> moves = planSwaps(summary.loads, placement);
  Wide gain = slowest(summary.loads, before, placement, options.cost) -
              slowest(summary.loads, ownersAfter(moves, placement), placement,
                      options.cost);
  Wide price = Wide(options.cost.scheduleNs) * 1000 +
               transferCost(moves, placement, options.cost);
  if (gain <= price)
    moves.clear();
  return moves;
}

/// The owners that balance best; the placement's own if those do as well.
std::vector<HeadMove> chooseOwners(const MaskSummary &summary,
                                   const Placement &placement,
                                   const PlannerOptions &options) {
  std::vector<int64_t> before = ownersAfter({}, placement);
  std::vector<int64_t> after =
      planOwners(summary.loads, placement, options.cost);
  std::vector<HeadMove> moves;
  if (slowest(summary.loads, after, placement, options.cost) >=
      slowest(summary.loads, before, placement, options.cost))
    return moves;
  for (size_t head = 0; head < after.size(); ++head)
    if (after[head] != before[head])
      moves.push_back({static_cast<int64_t>(head), before[head], after[head]});
  return moves;
}

} // namespace

bool sart::reaches(const std::vector<int64_t> &loads, int64_t milli) {
  Wide largest = 0, sum = 0;
  for (int64_t load : loads) {
    largest = std::max<Wide>(largest, load);
    sum += load;
  }
  return largest * static_cast<Wide>(loads.size()) * 1000 >= sum * milli;
}

Decision sart::decide(const MaskSummary &summary, const Placement &placement,
                      const PlannerOptions &options) {
  Decision decision;
  SplitOptions split;
  split.maxPieces = pieceCapacity(placement, options);
  split.cost = options.cost;
  bool splits = false;
  switch (options.balance) {
  case Balance::None:
    break;
  case Balance::Swap:
    decision.moves = chooseSwaps(summary, placement, options);
    break;
  case Balance::Split:
    splits = true;
    break;
  case Balance::Pre:
    decision.moves = chooseOwners(summary, placement, options);
    splits = options.repair;
    split.withExchange = true;
    break;
  }
  if (splits && split.maxPieces > 0)
    decision.rowMoves = planSplits(
        summary, ownersAfter(decision.moves, placement), placement, split);
  return decision;
}

//===- Traffic.cpp - Bytes that a plan moves ------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RankLists.h"

#include <algorithm>

using namespace sart;

/// Q rows of what moves, and K and V that its receiver lacks.
static int64_t movedBytes(const Plan &plan, const Placement &placement) {
  const Mesh &mesh = placement.mesh;
  const LayerShape &shape = placement.shape;
  int64_t rows = 0;
  for (const HeadMove &move : plan.moves) {
    Range present = placement.kvHeadsOf(move.to);
    int64_t kvHead = shape.kvHeadOf(move.head);
    bool shared = kvHead >= present.begin && kvHead < present.end;
    rows += shape.sq + (shared ? 0 : 2 * shape.skv);
  }
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    std::vector<int64_t> known;
    for (const RowMove &move : plan.rowMoves) {
      if (move.to != rank)
        continue;
      rows += queryTokens(shape, move.qBlocks).size();
      Range present = placement.kvHeadsOf(mesh.ulyssesIndex(rank));
      int64_t kvHead = shape.kvHeadOf(move.head);
      if (mesh.ring > 1 || (kvHead >= present.begin && kvHead < present.end) ||
          std::find(known.begin(), known.end(), kvHead) != known.end())
        continue;
      known.push_back(kvHead);
      rows += 2 * shape.skv;
    }
  }
  return rows * shape.headDim * byteSize(shape.dtype);
}

TrafficBytes sart::countTraffic(const Plan &plan, const Placement &placement) {
  const Mesh &mesh = placement.mesh;
  const LayerShape &shape = placement.shape;
  int64_t rowBytes = shape.headDim * byteSize(shape.dtype);
  // The exchange goes to where heads stand before they move; with block shards,
  // where they stay.
  const Plan none;
  const Plan &known = placement.blockShards ? plan : none;

  TrafficBytes bytes;
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    Range own = placement.qShardOf(rank);
    auto remoteRows = [&](const Plan &where) {
      int64_t rows = 0;
      for (const HeldRows &part : rowsHeldBy(where, placement, rank)) {
        Range tokens = queryTokens(shape, part.qBlocks);
        rows += tokens.size() - intersection(tokens, own).size();
      }
      return rows;
    };
    // Q comes to this rank, O goes home from it.
    bytes.exchange += (remoteRows(known) + remoteRows(plan)) * rowBytes;
    auto kvHeads =
        static_cast<int64_t>(slotsOf(placement, rank, known).kvHeads.size());
    bytes.exchange += 2 * kvHeads * rowBytes *
                      (placement.kvTokensOf(mesh.ringIndex(rank)).size() -
                       placement.kvShardOf(rank).size());
  }
  if (!placement.blockShards)
    bytes.moved = movedBytes(plan, placement);
  for (const KvTransfer &transfer : plan.transfers)
    for (const Range &range : transfer.blocks)
      bytes.routed += 2 * rowBytes *
                      (std::min(range.end * shape.blockK, shape.skv) -
                       std::min(range.begin * shape.blockK, shape.skv));
  bytes.denseRing =
      2 * shape.kvHeads * shape.skv * rowBytes * (mesh.ranks() - 1);
  return bytes;
}

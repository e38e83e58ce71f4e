//===- Traffic.cpp - Bytes that a plan moves ------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Planner.h"

#include <algorithm>

using namespace sart;

TrafficBytes sart::countTraffic(const Plan &plan, const Placement &placement) {
  const Mesh &mesh = placement.mesh;
  const LayerShape &shape = placement.shape;
  int64_t rowBytes = shape.headDim * byteSize(shape.dtype);
  std::vector<int64_t> owners = plan.owners(placement);
  std::vector<int64_t> owned(static_cast<size_t>(mesh.ulysses), 0);
  for (int64_t owner : owners)
    ++owned[static_cast<size_t>(owner)];
  // Copies of kv heads that the exchange makes, over all Ulysses indices.
  int64_t kvCopies = 0;
  for (int64_t u = 0; u < mesh.ulysses; ++u)
    kvCopies += placement.kvHeadsOf(u).size();

  TrafficBytes bytes;
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    int64_t u = mesh.ulyssesIndex(rank), r = mesh.ringIndex(rank);
    int64_t qRows = placement.qShardOf(rank).size();
    int64_t kvRows = placement.kvShardOf(rank).size();
    // Out of this rank's shard: heads of the others. Q, then K and V.
    bytes.exchange +=
        qRows * (shape.heads - placement.headsOf(u).size()) * rowBytes;
    bytes.exchange +=
        2 * kvRows * (kvCopies - placement.kvHeadsOf(u).size()) * rowBytes;
    // O, back to the other shards of the segment.
    bytes.exchange += (placement.qTokensOf(r).size() - qRows) *
                      owned[static_cast<size_t>(u)] * rowBytes;
  }
  for (const HeadMove &move : plan.moves) {
    Range present = placement.kvHeadsOf(move.to);
    int64_t kvHead = shape.kvHeadOf(move.head);
    bool shared = kvHead >= present.begin && kvHead < present.end;
    bytes.moved += (shape.sq + (shared ? 0 : 2 * shape.skv)) * rowBytes;
  }
  for (const KvTransfer &transfer : plan.transfers)
    for (const Range &range : transfer.blocks)
      bytes.routed += 2 * rowBytes *
                      (std::min(range.end * shape.blockK, shape.skv) -
                       std::min(range.begin * shape.blockK, shape.skv));
  bytes.denseRing =
      2 * shape.kvHeads * shape.skv * rowBytes * (mesh.ranks() - 1);
  return bytes;
}

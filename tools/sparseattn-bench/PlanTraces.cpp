//===- PlanTraces.cpp - Placements and summaries of traces ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PlanTraces.h"

#include <algorithm>

using namespace sart;

Placement sart::placementOf(const TraceFile &trace, const Mesh &mesh,
                            int64_t kvHeads, int64_t headDim) {
  Placement placement;
  placement.mesh = mesh;
  LayerShape &shape = placement.shape;
  shape.heads = trace.heads;
  shape.kvHeads = kvHeads == 0 ? trace.heads : kvHeads;
  shape.sq = shape.skv = trace.tokens;
  shape.headDim = headDim;
  shape.blockQ = trace.tileQ;
  shape.blockK = trace.tileK;
  shape.dtype = DType::BF16;
  return placement;
}

MaskSummary sart::summaryOf(const TraceFile &trace, int64_t instance,
                            const Placement &placement) {
  if (trace.hasMasks)
    if (Expected<BlockMask> mask = trace.mask(instance))
      return summarize(*mask, placement);
  const TraceFile::Instance &recorded =
      trace.instances[static_cast<size_t>(instance)];
  MaskSummary summary;
  summary.kvBlocks = trace.kvTiles;
  summary.qBlocks = trace.qTiles;
  summary.rowTiles.assign(recorded.rows.begin(), recorded.rows.end());
  for (int64_t head = 0; head < trace.heads && !trace.hasRows; ++head)
    for (int64_t row = 0; row < trace.qTiles; ++row)
      summary.rowTiles.push_back(static_cast<int32_t>(
          evenPart(recorded.loads[static_cast<size_t>(head)], trace.qTiles, row)
              .size()));
  summary.loads.heads = trace.heads;
  summary.loads.ring = placement.mesh.ring;
  for (int64_t head = 0; head < trace.heads; ++head)
    for (int64_t r = 0; r < placement.mesh.ring; ++r) {
      Range rows = placement.qBlocksOf(r);
      int64_t tiles = 0;
      for (int64_t row = rows.begin; row < rows.end; ++row)
        tiles +=
            summary.rowTiles[static_cast<size_t>(head * trace.qTiles + row)];
      summary.loads.tiles.push_back(tiles);
      // As many kv-blocks as there may be, the first ones.
      int64_t needed = std::min(tiles, trace.kvTiles);
      for (int64_t word = 0; word < summary.words(); ++word) {
        int64_t bits = std::clamp<int64_t>(needed - 32 * word, 0, 32);
        summary.demand.push_back(
            static_cast<uint32_t>((uint64_t(1) << bits) - 1));
      }
    }
  return summary;
}

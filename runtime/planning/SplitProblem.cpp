//===- SplitProblem.cpp - Which rows go from where to where ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SplitProblem.h"

#include <algorithm>

using namespace sart;

RowCosts::RowCosts(const HeadLoads &loads, const std::vector<int32_t> &rowTiles,
                   int64_t qBlocks, const CostModel &cost)
    : rowTiles(rowTiles.data()), qBlocks(qBlocks), tilePs(cost.tilePs),
      rowPs(cost.rowPs), shift(0) {
  WideCost tiles = 0;
  for (int64_t count : loads.tiles)
    tiles += count;
  WideCost total = tiles * tilePs + WideCost(qBlocks) * loads.heads * rowPs;
  while (total >> 60 != 0) {
    ++shift;
    total >>= 1;
  }
  tilePs >>= shift;
  rowPs >>= shift;
}

int64_t RowCosts::ofRows(int64_t head, Range rows) const {
  const int32_t *tiles = rowTiles + head * qBlocks;
  int64_t sum = 0;
  for (int64_t row = rows.begin; row < rows.end; ++row)
    sum += tiles[row];
  return of(sum, rows.size());
}

SplitProblem::SplitProblem(const MaskSummary &summary, const RowCosts &costs,
                           const std::vector<int64_t> &owners,
                           const Placement &placement, bool alongRing,
                           int64_t index, const SplitOptions &options)
    : summary(summary), costs(costs), placement(placement), options(options),
      alongRing(alongRing), ulysses(index),
      bins(alongRing ? placement.mesh.ring : placement.mesh.ulysses),
      loads(static_cast<size_t>(bins), 0) {
  const LayerShape &shape = placement.shape;
  hasKv.assign(static_cast<size_t>(bins * shape.kvHeads), alongRing);
  for (int64_t bin = 0; bin < bins; ++bin) {
    firstItem.push_back(static_cast<int32_t>(items.size()));
    int64_t segment = alongRing ? bin : 0;
    Range rows = placement.qBlocksOf(segment);
    for (int64_t head = 0; head < shape.heads; ++head) {
      if (owners[static_cast<size_t>(head)] != (alongRing ? index : bin))
        continue;
      int64_t tiles =
          summary.loads
              .tiles[static_cast<size_t>(head * summary.loads.ring + segment)];
      int64_t cost = costs.of(tiles, rows.size());
      items.push_back(
          {static_cast<int32_t>(head), static_cast<int32_t>(bin), rows, cost});
      loads[static_cast<size_t>(bin)] += cost;
      hasKv[static_cast<size_t>(bin * shape.kvHeads + shape.kvHeadOf(head))] =
          1;
    }
  }
  firstItem.push_back(static_cast<int32_t>(items.size()));
}

int64_t SplitProblem::rankOf(int64_t bin) const {
  return alongRing ? placement.mesh.rankOf(ulysses, bin)
                   : placement.mesh.rankOf(bin, 0);
}

int64_t SplitProblem::rowBytesOf(Range rows) const {
  const LayerShape &shape = placement.shape;
  if (options.withExchange)
    return 0;
  return (std::min(rows.end * shape.blockQ, shape.sq) -
          std::min(rows.begin * shape.blockQ, shape.sq)) *
         shape.headDim * byteSize(shape.dtype);
}

int64_t SplitProblem::kvBytesOf(const SplitItem &item) const {
  const LayerShape &shape = placement.shape;
  const uint32_t *demand = summary.demandOf(item.head, 0);
  int64_t blocks = 0;
  for (int64_t word = 0; word < summary.words(); ++word)
    blocks += __builtin_popcount(demand[word]);
  int64_t tokens = blocks * shape.blockK;
  // The last kv-block may be shorter.
  int64_t last = summary.kvBlocks - 1;
  if (last >= 0 && (demand[last / 32] >> (last % 32) & 1))
    tokens -= summary.kvBlocks * shape.blockK - shape.skv;
  return 2 * tokens * shape.headDim * byteSize(shape.dtype);
}

WideCost SplitProblem::transferTime(int64_t bytes) const {
  WideCost latency = options.withExchange ? 0 : options.cost.transferPs;
  return (latency + WideCost(bytes) * options.cost.bytePs) >> costs.shift;
}

WideCost SplitProblem::predict(const std::vector<SplitPiece> &pieces) const {
  std::vector<WideCost> done(loads.begin(), loads.end());
  for (const SplitPiece &piece : pieces)
    done[static_cast<size_t>(piece.from)] -= piece.cost;
  std::vector<WideCost> sending(loads.size(), 0), receiving(loads.size(), 0);
  for (const SplitPiece &piece : pieces) {
    WideCost &send = sending[static_cast<size_t>(piece.from)];
    WideCost &receive = receiving[static_cast<size_t>(piece.to)];
    send = receive = std::max(send, receive) + transferTime(piece.bytes);
    WideCost &end = done[static_cast<size_t>(piece.to)];
    end = std::max(end, receive) + piece.cost;
  }
  return *std::max_element(done.begin(), done.end());
}

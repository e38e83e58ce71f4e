//===- Loads.cpp - Loads and summaries of masks ---------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Planner.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace sart;

namespace {

uint32_t bitOf(int64_t kvBlock) { return uint32_t(1) << (kvBlock % 32); }

/// Refuses a record that no mask can have.
Status verifyRecord(int64_t tiles, const uint32_t *demand, int64_t kvBlocks,
                    int64_t rows, int64_t head, int64_t ringIndex) {
  int64_t demanded = 0;
  for (int64_t word = 0; word < (kvBlocks + 31) / 32; ++word)
    demanded += __builtin_popcount(demand[word]);
  if (kvBlocks % 32 != 0 && demand[kvBlocks / 32] >> (kvBlocks % 32) != 0)
    return makeError("demand of head ", head, " in ring ", ringIndex,
                     " goes beyond the kv-blocks: got a bit at or above ",
                     kvBlocks, ", expected none");
  // Each demanded block has a tile in 1 to `rows` of the rows.
  if (tiles < demanded || tiles > demanded * rows)
    return makeError("tiles of head ", head, " in ring ", ringIndex,
                     " do not fit its demand: got ", tiles, ", expected ",
                     demanded, " to ", demanded * rows, " for ", demanded,
                     " demanded kv-blocks and ", rows, " q-blocks");
  return Status::success();
}

} // namespace

int64_t HeadLoads::total(int64_t head) const {
  int64_t sum = 0;
  for (int64_t r = 0; r < ring; ++r)
    sum += tiles[static_cast<size_t>(head * ring + r)];
  return sum;
}

HeadLoads sart::countLoads(const BlockMask &mask, const Placement &placement) {
  HeadLoads loads;
  loads.heads = mask.heads();
  loads.ring = placement.mesh.ring;
  loads.tiles.reserve(static_cast<size_t>(loads.heads * loads.ring));
  for (int64_t head = 0; head < loads.heads; ++head)
    for (int64_t r = 0; r < loads.ring; ++r)
      loads.tiles.push_back(mask.load(head, placement.qBlocksOf(r)));
  return loads;
}

std::vector<int64_t> sart::rankLoads(const HeadLoads &loads,
                                     const std::vector<int64_t> &owners,
                                     const Mesh &mesh) {
  std::vector<int64_t> result(static_cast<size_t>(mesh.ranks()), 0);
  for (int64_t head = 0; head < loads.heads; ++head)
    for (int64_t r = 0; r < loads.ring; ++r)
      result[static_cast<size_t>(
          mesh.rankOf(owners[static_cast<size_t>(head)], r))] +=
          loads.tiles[static_cast<size_t>(head * loads.ring + r)];
  return result;
}

bool MaskSummary::needs(int64_t head, int64_t ringIndex,
                        int64_t kvBlock) const {
  return (demandOf(head, ringIndex)[kvBlock / 32] & bitOf(kvBlock)) != 0;
}

int64_t MaskSummary::recordWords(const Placement &placement) {
  int64_t rows = 0;
  for (int64_t rank = 0; rank < placement.mesh.ranks(); ++rank)
    rows = std::max(rows, placement.routedBlocksOf(rank).size());
  return rowWords(placement.shape.kvBlocks()) + rows;
}

int64_t MaskSummary::tilesOf(int64_t head, Range rows) const {
  const int32_t *first = rowTiles.data() + head * qBlocks;
  return std::accumulate(first + rows.begin, first + rows.end, int64_t(0));
}

void sart::applyRowMoves(const MaskSummary &summary,
                         const std::vector<RowMove> &rowMoves,
                         std::vector<int64_t> &loads) {
  for (const RowMove &move : rowMoves) {
    int64_t tiles = summary.tilesOf(move.head, move.qBlocks);
    loads[static_cast<size_t>(move.from)] -= tiles;
    loads[static_cast<size_t>(move.to)] += tiles;
  }
}

MaskSummary sart::summarize(const BlockMask &mask, const Placement &placement) {
  MaskSummary summary;
  summary.loads = countLoads(mask, placement);
  summary.kvBlocks = mask.kvBlocks();
  int64_t ring = placement.mesh.ring;
  summary.demand.assign(
      static_cast<size_t>(mask.heads() * ring * summary.words()), 0);
  for (int64_t head = 0; head < mask.heads(); ++head)
    for (int64_t r = 0; r < ring; ++r) {
      uint32_t *demand =
          summary.demand.data() + (head * ring + r) * summary.words();
      Range rows = placement.qBlocksOf(r);
      for (int64_t row = rows.begin; row < rows.end; ++row) {
        const int32_t *list = mask.row(head, row);
        for (int64_t i = 0; i < mask.count(head, row); ++i)
          demand[list[i] / 32] |= bitOf(list[i]);
      }
    }
  summary.qBlocks = mask.qBlocks();
  summary.rowTiles.reserve(static_cast<size_t>(mask.heads() * summary.qBlocks));
  for (int64_t head = 0; head < mask.heads(); ++head)
    for (int64_t row = 0; row < summary.qBlocks; ++row)
      summary.rowTiles.push_back(static_cast<int32_t>(mask.count(head, row)));
  return summary;
}

void sart::addToSummary(const int32_t *maskRow, int64_t row, int64_t kvBlocks,
                        int32_t *record) {
  int32_t count = maskRow[0];
  record[0] = static_cast<int32_t>(static_cast<uint32_t>(record[0]) +
                                   static_cast<uint32_t>(count));
  record[MaskSummary::rowWords(kvBlocks) + row] = count;
  for (int32_t i = 1; i <= count; ++i) {
    int32_t &word = record[1 + maskRow[i] / 32];
    word =
        static_cast<int32_t>(static_cast<uint32_t>(word) | bitOf(maskRow[i]));
  }
}

/// Adds what one rank says of one head to `summary`.
static Status addRecord(const int32_t *record, const Placement &placement,
                        int64_t rank, int64_t head, MaskSummary &summary) {
  int64_t ring = placement.mesh.ring, r = placement.mesh.ringIndex(rank);
  Range rows = placement.routedBlocksOf(rank);
  constexpr int64_t most = std::numeric_limits<uint32_t>::max();
  if (!rows.empty() && summary.kvBlocks > most / rows.size())
    return makeError("tiles of one head and segment do not fit a summary: got ",
                     rows.size(), " x ", summary.kvBlocks,
                     ", expected at most ", most);
  int64_t tiles = static_cast<uint32_t>(record[0]);
  std::vector<uint32_t> demand(record + 1, record + 1 + summary.words());
  SART_RETURN_IF_ERROR(verifyRecord(tiles, demand.data(), summary.kvBlocks,
                                    rows.size(), head, r));
  const int32_t *counts = record + MaskSummary::rowWords(summary.kvBlocks);
  int64_t sum = 0;
  for (int64_t row = 0; row < rows.size(); ++row) {
    if (counts[row] < 0 || counts[row] > summary.kvBlocks)
      return makeError("tiles of head ", head, " q-block ", rows.begin + row,
                       " out of range: got ", counts[row], ", expected 0 to ",
                       summary.kvBlocks);
    sum += counts[row];
    summary.rowTiles[static_cast<size_t>(head * summary.qBlocks + rows.begin +
                                         row)] = counts[row];
  }
  if (sum != tiles)
    return makeError("tiles of the rows of head ", head, " on rank ", rank,
                     " do not add up: got ", sum, ", expected ", tiles);
  auto at = static_cast<size_t>(head * ring + r);
  summary.loads.tiles[at] += tiles;
  for (size_t word = 0; word < demand.size(); ++word)
    summary.demand[at * demand.size() + word] |= demand[word];
  return Status::success();
}

Expected<MaskSummary> sart::decodeSummaries(const int32_t *gathered,
                                            int64_t recordStride,
                                            const Placement &placement) {
  int64_t heads = placement.shape.heads, ring = placement.mesh.ring;
  MaskSummary summary;
  summary.kvBlocks = placement.shape.kvBlocks();
  summary.qBlocks = placement.shape.qBlocks();
  summary.loads.heads = heads;
  summary.loads.ring = ring;
  summary.loads.tiles.assign(static_cast<size_t>(heads * ring), 0);
  summary.demand.assign(static_cast<size_t>(heads * ring * summary.words()), 0);
  summary.rowTiles.assign(static_cast<size_t>(heads * summary.qBlocks), 0);
  for (int64_t rank = 0; rank < placement.mesh.ranks(); ++rank) {
    Range routed = placement.routedHeadsOf(rank);
    for (int64_t head = routed.begin; head < routed.end; ++head)
      SART_RETURN_IF_ERROR(
          addRecord(gathered + (rank * heads + head) * recordStride, placement,
                    rank, head, summary));
  }
  return summary;
}

Status MaskSummary::verify(const Placement &placement) const {
  int64_t heads = placement.shape.heads, ring = placement.mesh.ring;
  if (loads.heads != heads || loads.ring != ring)
    return makeError("mask summary does not match the placement: got ",
                     loads.heads, " heads x ", loads.ring,
                     " segments, expected ", heads, " x ", ring);
  if (kvBlocks != placement.shape.kvBlocks())
    return makeError("mask summary does not match the placement: got ",
                     kvBlocks, " kv-blocks, expected ",
                     placement.shape.kvBlocks());
  if (qBlocks != placement.shape.qBlocks() ||
      static_cast<int64_t>(rowTiles.size()) != heads * qBlocks)
    return makeError("row tiles of the mask summary do not match the "
                     "placement: got ",
                     rowTiles.size(), " of ", qBlocks, " q-blocks, expected ",
                     heads * placement.shape.qBlocks(), " of ",
                     placement.shape.qBlocks());
  if (static_cast<int64_t>(loads.tiles.size()) != heads * ring)
    return makeError("number of loads in the mask summary: got ",
                     loads.tiles.size(), ", expected ", heads * ring);
  if (static_cast<int64_t>(demand.size()) != heads * ring * words())
    return makeError("number of demand words in the mask summary: got ",
                     demand.size(), ", expected ", heads * ring * words());
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t r = 0; r < ring; ++r) {
      int64_t tiles = loads.tiles[static_cast<size_t>(head * ring + r)];
      Range rows = placement.qBlocksOf(r);
      SART_RETURN_IF_ERROR(verifyRecord(tiles, demandOf(head, r), kvBlocks,
                                        rows.size(), head, r));
      if (tilesOf(head, rows) != tiles)
        return makeError("tiles of the rows of head ", head, " in ring ", r,
                         " do not add up: got ", tilesOf(head, rows),
                         ", expected ", tiles);
    }
  return Status::success();
}

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
  return summary;
}

void sart::encodeSummary(const int32_t *maskRows, int64_t rowStride,
                         int64_t rows, int64_t kvBlocks, int32_t *record) {
  int64_t words = MaskSummary::recordWords(kvBlocks);
  std::fill(record, record + words, 0);
  int64_t tiles = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int32_t *list = maskRows + row * rowStride;
    tiles += list[0];
    for (int64_t i = 1; i <= list[0]; ++i)
      record[1 + list[i] / 32] = static_cast<int32_t>(
          static_cast<uint32_t>(record[1 + list[i] / 32]) | bitOf(list[i]));
  }
  record[0] = static_cast<int32_t>(static_cast<uint32_t>(tiles));
}

Expected<MaskSummary> sart::decodeSummaries(const int32_t *gathered,
                                            int64_t recordStride,
                                            const Placement &placement) {
  const Mesh &mesh = placement.mesh;
  int64_t heads = placement.shape.heads;
  MaskSummary summary;
  summary.kvBlocks = placement.shape.kvBlocks();
  summary.loads.heads = heads;
  summary.loads.ring = mesh.ring;
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t r = 0; r < mesh.ring; ++r) {
      int64_t rank = mesh.rankOf(placement.ownerOfHead(head), r);
      const int32_t *record = gathered + (rank * heads + head) * recordStride;
      int64_t rows = placement.qBlocksOf(r).size();
      constexpr int64_t most = std::numeric_limits<uint32_t>::max();
      if (rows != 0 && summary.kvBlocks > most / rows)
        return makeError("tiles of one head and segment do not fit a summary: "
                         "got ",
                         rows, " x ", summary.kvBlocks, ", expected at most ",
                         most);
      int64_t tiles = static_cast<uint32_t>(record[0]);
      size_t begin = summary.demand.size();
      for (int64_t word = 0; word < summary.words(); ++word)
        summary.demand.push_back(static_cast<uint32_t>(record[1 + word]));
      SART_RETURN_IF_ERROR(verifyRecord(tiles, summary.demand.data() + begin,
                                        summary.kvBlocks, rows, head, r));
      summary.loads.tiles.push_back(tiles);
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
  if (static_cast<int64_t>(loads.tiles.size()) != heads * ring)
    return makeError("number of loads in the mask summary: got ",
                     loads.tiles.size(), ", expected ", heads * ring);
  if (static_cast<int64_t>(demand.size()) != heads * ring * words())
    return makeError("number of demand words in the mask summary: got ",
                     demand.size(), ", expected ", heads * ring * words());
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t r = 0; r < ring; ++r)
      SART_RETURN_IF_ERROR(verifyRecord(
          loads.tiles[static_cast<size_t>(head * ring + r)], demandOf(head, r),
          kvBlocks, placement.qBlocksOf(r).size(), head, r));
  return Status::success();
}

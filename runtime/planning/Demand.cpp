//===- Demand.cpp - Demanded kv-blocks ------------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Demand-directed routing of SparSP (arXiv 2609.32197): a segment receives the
// kv-blocks that its mask rows need, and no others.
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Planner.h"

#include <algorithm>

using namespace sart;

namespace {

/// Runs of set bits inside `within`.
std::vector<Range> runsOf(const std::vector<uint32_t> &bits, Range within) {
  std::vector<Range> runs;
  for (int64_t block = within.begin; block < within.end; ++block) {
    if (!(bits[static_cast<size_t>(block / 32)] >> (block % 32) & 1))
      continue;
    if (!runs.empty() && runs.back().end == block)
      ++runs.back().end;
    else
      runs.push_back({block, block + 1});
  }
  return runs;
}

void unite(std::vector<uint32_t> &bits, const uint32_t *more) {
  for (size_t word = 0; word < bits.size(); ++word)
    bits[word] |= more[word];
}

/// Whether no row of `head` among `segment` stays.
bool leaves(const std::vector<RowMove> &rowMoves, int64_t head, Range segment) {
  int64_t moved = 0;
  for (const RowMove &move : rowMoves)
    if (move.head == head && move.qBlocks.begin >= segment.begin &&
        move.qBlocks.end <= segment.end)
      moved += move.qBlocks.size();
  return moved > 0 && moved == segment.size();
}

} // namespace

std::vector<KvTransfer>
sart::computeDemand(const MaskSummary &summary, const Placement &placement,
                    const std::vector<int64_t> &owners,
                    const std::vector<RowMove> &rowMoves) {
  const Mesh &mesh = placement.mesh;
  const LayerShape &shape = placement.shape;
  std::vector<KvTransfer> transfers;
  if (mesh.ring < 2)
    return transfers;
  // Heads of a kv head stand together, so a copy of a kv head is the pair
  // (ulysses, kv head) of some head.
  std::vector<std::pair<int64_t, int64_t>> copies;
  copies.reserve(static_cast<size_t>(shape.heads));
  for (int64_t head = 0; head < shape.heads; ++head)
    copies.emplace_back(owners[static_cast<size_t>(head)],
                        shape.kvHeadOf(head));
  for (const RowMove &move : rowMoves)
    copies.emplace_back(mesh.ulyssesIndex(move.to), shape.kvHeadOf(move.head));
  std::sort(copies.begin(), copies.end());
  copies.erase(std::unique(copies.begin(), copies.end()), copies.end());
  for (int64_t to = 0; to < mesh.ring; ++to) {
    // Needs of segment `to`: one union per copy.
    std::vector<std::vector<uint32_t>> needs;
    for (const auto &[u, kvHead] : copies) {
      std::vector<uint32_t> bits(static_cast<size_t>(summary.words()), 0);
      int64_t begin = kvHead * shape.headsPerKvHead();
      for (int64_t head = begin; head < begin + shape.headsPerKvHead();
           ++head) {
        if (owners[static_cast<size_t>(head)] == u &&
            !leaves(rowMoves, head, placement.qBlocksOf(to)))
          unite(bits, summary.demandOf(head, to));
      }
      for (const RowMove &move : rowMoves)
        if (move.to == mesh.rankOf(u, to) &&
            shape.kvHeadOf(move.head) == kvHead)
          unite(bits, summary.demandOf(move.head, mesh.ringIndex(move.from)));
      needs.push_back(std::move(bits));
    }
    for (int64_t from = 0; from < mesh.ring; ++from) {
      if (from == to)
        continue;
      for (size_t i = 0; i < copies.size(); ++i) {
        std::vector<Range> blocks =
            runsOf(needs[i], placement.kvBlocksOf(from));
        if (!blocks.empty())
          transfers.push_back(
              {copies[i].second, copies[i].first, from, to, std::move(blocks)});
      }
    }
  }
  return transfers;
}

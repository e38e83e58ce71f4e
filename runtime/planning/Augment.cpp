//===- Augment.cpp - Slack-aware augmentation -----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SASA of FVAttn (arXiv 2607.16190): ranks below the largest load add their
// next-best blocks, which costs no time. How the budget is divided is not
// published; here it follows the unselected tiles.
//
//===----------------------------------------------------------------------===//
#include "Proportion.h"
#include "sparseattn-rt/Planner.h"

#include <algorithm>
#include <limits>

using namespace sart;

namespace {

__extension__ typedef __int128 Wide;

/// visible[j - begin]: rows of ring segment `r` that may see kv-block j of the
/// segment's own ones.
std::vector<int64_t> visibleRows(const Placement &placement, int64_t r) {
  Range rows = placement.qBlocksOf(r), own = placement.kvBlocksOf(r);
  std::vector<int64_t> visible;
  // What a row may see is a prefix of the kv-blocks that grows with the row.
  int64_t row = rows.begin;
  for (int64_t j = own.begin; j < own.end; ++j) {
    while (row < rows.end && placement.shape.visibleKvBlocks(row) <= j)
      ++row;
    visible.push_back(rows.end - row);
  }
  return visible;
}

/// Unselected visible tiles of one head's rows in ring segment `r` against the
/// segment's own kv-blocks. The summary counts the tiles of all kv-blocks, so
/// with several segments this is the number that is certain: every demanded
/// remote block takes at least one of the tiles, and none lies in a block
/// without demand.
int64_t certainRoom(const MaskSummary &summary, const Placement &placement,
                    int64_t head, int64_t r,
                    const std::vector<int64_t> &visible) {
  int64_t begin = placement.kvBlocksOf(r).begin;
  const uint32_t *demand = summary.demandOf(head, r);
  int64_t remote = 0;
  for (int64_t word = 0; word < summary.words(); ++word)
    remote += __builtin_popcount(demand[word]);
  int64_t all = 0, demanded = 0;
  for (size_t i = 0; i < visible.size(); ++i) {
    int64_t j = begin + static_cast<int64_t>(i);
    bool needed = demand[j / 32] >> (j % 32) & 1;
    all += visible[i];
    demanded += needed ? visible[i] : 0;
    remote -= needed;
  }
  int64_t tiles =
      summary.loads.tiles[static_cast<size_t>(head * placement.mesh.ring + r)];
  return all - std::min(tiles - remote, demanded);
}

} // namespace

std::vector<int64_t>
sart::divideInProportion(int64_t amount,
                         const std::vector<int64_t> &capacities) {
  int64_t total = 0;
  for (int64_t capacity : capacities)
    total += capacity;
  if (amount >= total)
    return capacities;
  std::vector<int64_t> shares(capacities.size(), 0);
  std::vector<std::pair<int64_t, size_t>> fractions;
  int64_t left = amount;
  for (size_t i = 0; i < capacities.size(); ++i) {
    Wide product = Wide(amount) * capacities[i];
    shares[i] = static_cast<int64_t>(product / total);
    left -= shares[i];
    int64_t fraction = static_cast<int64_t>(product % total);
    if (fraction != 0)
      fractions.emplace_back(fraction, i);
  }
  std::sort(fractions.begin(), fractions.end(), [](auto &a, auto &b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  // The fractions sum to `left` wholes, so there are more than `left` of them
  // or exactly none.
  for (int64_t i = 0; i < left; ++i)
    ++shares[fractions[static_cast<size_t>(i)].second];
  return shares;
}

std::vector<int64_t>
sart::planExtraTiles(const MaskSummary &summary, const Placement &placement,
                     const std::vector<HeadMove> &moves,
                     const PlannerOptions &options,
                     const std::vector<RowMove> &rowMoves) {
  const Mesh &mesh = placement.mesh;
  int64_t heads = placement.shape.heads;
  std::vector<int64_t> budgets(static_cast<size_t>(heads * mesh.ring), 0);
  Plan moved;
  moved.moves = moves;
  std::vector<int64_t> owners = moved.owners(placement);
  std::vector<int64_t> loads = rankLoads(summary.loads, owners, mesh);
  applyRowMoves(summary, rowMoves, loads);
  std::vector<bool> isSplit(static_cast<size_t>(heads), false);
  for (const RowMove &move : rowMoves)
    isSplit[static_cast<size_t>(move.head)] = true;
  int64_t largest = *std::max_element(loads.begin(), loads.end());
  std::vector<std::vector<int64_t>> visible;
  visible.reserve(static_cast<size_t>(mesh.ring));
  for (int64_t r = 0; r < mesh.ring; ++r)
    visible.push_back(visibleRows(placement, r));
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    int64_t slack = largest - loads[static_cast<size_t>(rank)];
    if (Wide(slack) * 1000 <= Wide(options.n2Milli) * largest)
      continue;
    int64_t amount = static_cast<int64_t>(Wide(slack) * options.n1Milli / 1000);
    int64_t u = mesh.ulyssesIndex(rank), r = mesh.ringIndex(rank);
    Range initial = placement.headsOf(u);
    std::vector<int64_t> stayed, room;
    for (int64_t head = initial.begin; head < initial.end; ++head) {
      if (owners[static_cast<size_t>(head)] != u ||
          isSplit[static_cast<size_t>(head)])
        continue;
      stayed.push_back(head);
      room.push_back(certainRoom(summary, placement, head, r,
                                 visible[static_cast<size_t>(r)]));
    }
    std::vector<int64_t> shares = divideInProportion(amount, room);
    for (size_t i = 0; i < stayed.size(); ++i)
      budgets[static_cast<size_t>(stayed[i] * mesh.ring + r)] = shares[i];
  }
  return budgets;
}

int64_t sart::addExtraTiles(std::vector<std::vector<int32_t>> &rows,
                            const std::vector<float> &scores, int64_t kvBlocks,
                            Range kvRange, int64_t budget) {
  if (budget <= 0 || kvRange.empty())
    return 0;
  auto scoreOf = [&](size_t row, int32_t block) {
    return scores[row * static_cast<size_t>(kvBlocks) +
                  static_cast<size_t>(block)];
  };
  std::vector<std::vector<int32_t>> candidates(rows.size());
  std::vector<int64_t> room;
  for (size_t row = 0; row < rows.size(); ++row) {
    auto selected = rows[row].begin();
    for (int64_t j = kvRange.begin; j < kvRange.end; ++j) {
      int32_t block = static_cast<int32_t>(j);
      selected = std::lower_bound(selected, rows[row].end(), block);
      bool taken = selected != rows[row].end() && *selected == block;
      // NaN and -inf (a block that is not visible) never qualify.
      if (!taken &&
          scoreOf(row, block) > -std::numeric_limits<float>::infinity())
        candidates[row].push_back(block);
    }
    room.push_back(static_cast<int64_t>(candidates[row].size()));
  }
  std::vector<int64_t> shares = divideInProportion(budget, room);
  int64_t added = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    std::vector<int32_t> &open = candidates[row];
    auto end = open.begin() + shares[row];
    std::partial_sort(open.begin(), end, open.end(), [&](int32_t a, int32_t b) {
      float scoreA = scoreOf(row, a);
      float scoreB = scoreOf(row, b);
      return scoreA != scoreB ? scoreA > scoreB : a < b;
    });
    rows[row].insert(rows[row].end(), open.begin(), end);
    std::sort(rows[row].begin(), rows[row].end());
    added += shares[row];
  }
  return added;
}

//===- SplitProblem.h - Which rows go from where to where -------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_PLANNING_SPLITPROBLEM_H
#define SPARSEATTN_RT_PLANNING_SPLITPROBLEM_H

#include "sparseattn-rt/Balance.h"

#include <cstdint>
#include <vector>

namespace sart {

__extension__ typedef __int128 WideCost;

/// One head's rows on one rank of the axis.
struct SplitItem {
  int32_t head = 0;
  int32_t bin = 0;  ///< index along the axis
  Range rows;       ///< global q-blocks
  int64_t cost = 0; ///< of all its rows
};

/// Work that goes from one rank of the axis to another.
struct SplitEdge {
  int32_t from = 0, to = 0;
  int64_t amount = 0;
};

/// Rows that carry an edge, or a part of it, out.
struct SplitPiece {
  int32_t item = 0;
  int32_t from = 0, to = 0;
  Range rows;
  int64_t cost = 0;
  int64_t bytes = 0; ///< Q rows unless they travel with the exchange, and K and
                     ///< V unless the receiver has them
};

/// Integer costs of rows. Shifted, when needed, so that all sums fit 62 bits.
struct RowCosts {
  RowCosts(const HeadLoads &loads, const std::vector<int32_t> &rowTiles,
           int64_t qBlocks, const CostModel &cost);
  int64_t of(int64_t tiles, int64_t rows) const {
    return tiles * tilePs + rows * rowPs;
  }
  int64_t ofRow(int64_t head, int64_t row) const {
    return of(rowTiles[head * qBlocks + row], 1);
  }
  int64_t ofRows(int64_t head, Range rows) const;

  const int32_t *rowTiles;
  int64_t qBlocks;
  int64_t tilePs, rowPs;
  int shift; ///< of picoseconds
};

/// One group of ranks among which rows may move: all ranks of a mesh with one
/// ring segment, else one ring group.
struct SplitProblem {
  /// `alongRing`: the ring group of Ulysses index `index`; else the one ring
  /// segment there is.
  SplitProblem(const MaskSummary &summary, const RowCosts &costs,
               const std::vector<int64_t> &owners, const Placement &placement,
               bool alongRing, int64_t index, const SplitOptions &options);

  /// Bytes of Q; 0 if it goes to its last rank anyway.
  int64_t rowBytesOf(Range rows) const;
  /// Bytes of K and V that an item's rows need and that lie in its segment.
  int64_t kvBytesOf(const SplitItem &item) const;
  int64_t rankOf(int64_t bin) const;
  /// Wide, so that no price overflows; same unit as the loads.
  WideCost transferTime(int64_t bytes) const;
  /// Predicted time of the slowest rank: own rows first, then what has arrived,
  /// in order; one transfer at a time out of and into each rank.
  WideCost predict(const std::vector<SplitPiece> &pieces) const;

  const MaskSummary &summary;
  const RowCosts &costs;
  const Placement &placement;
  const SplitOptions &options;
  bool alongRing;
  int64_t ulysses; ///< of the ring group
  int64_t bins;
  std::vector<int64_t> loads;     ///< [bins]
  std::vector<SplitItem> items;   ///< ascending by bin
  std::vector<int32_t> firstItem; ///< [bins + 1]
  /// hasKv[bin * kvHeads + kvHead]: no K and V need to travel there.
  std::vector<uint8_t> hasKv;
};

/// Edges after which no load exceeds `ceiling` (at least the mean): as few as
/// possible for up to 12 loads, else by best fit. `target` receives the largest
/// load after them, the lowest that this number of edges reaches (up to 12
/// loads), and at least `least`.
std::vector<SplitEdge> planEdges(const std::vector<int64_t> &loads,
                                 int64_t ceiling, int64_t least,
                                 int64_t &target);

/// Chooses rows for the edges, largest edge first: the window at either end of
/// a head's free rows with the fewest bytes. Then moves cuts row by row where a
/// load is above `target`.
std::vector<SplitPiece> realizeEdges(const SplitProblem &problem,
                                     std::vector<SplitEdge> edges,
                                     int64_t target);

/// Neighbouring ranges of one head on different ranks.
struct RowCut {
  int32_t head = 0;
  int32_t bin = 0;
  Range rows;
  int32_t tag = -1; ///< the caller's
};
/// Moves borders between neighbouring cuts (ascending by head, then rows) while
/// that lowers the larger of two loads that is above `target`. `loads` follow.
/// No cut becomes empty that has rows.
void polishCuts(std::vector<RowCut> &cuts, const RowCosts &costs,
                int64_t target, std::vector<int64_t> &loads);

} // namespace sart

#endif // SPARSEATTN_RT_PLANNING_SPLITPROBLEM_H

//===- Balance.h - Balancers beyond head swaps ------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_BALANCE_H
#define SPARSEATTN_RT_BALANCE_H

#include "sparseattn-rt/Planner.h"

#include <cstdint>
#include <vector>

namespace sart {

/// How far rows are balanced, and at what price.
struct SplitOptions {
  /// Candidates for the largest load's excess over the mean, thousandths,
  /// ascending. The one with the shortest predicted time is taken.
  std::vector<int64_t> epsilonMilli = {8, 20, 30, 50, 80, 100};
  int64_t maxPieces = 6; ///< most row moves into one rank, and out of one rank
  /// Nothing has been exchanged yet: rows of Q go to their last rank at no
  /// price, K and V travel with the exchange.
  bool withExchange = false;
  CostModel cost;
  /// Refuses candidates that are not ascending or outside 0 to 1000, and
  /// maxPieces below 1.
  Status verify() const;
};

/// Split balancing: ranks above the mean ship ranges of query rows of a head to
/// ranks below it: among all ranks of a mesh with one ring segment, else inside
/// each ring group. `owners`: the Ulysses index of every head. Fewest transfers
/// for the excess allowed (exact up to 12 ranks of a group), then the lowest
/// load that this number reaches, then cheapest bytes. No moves unless the
/// predicted gain exceeds transfers and scheduling. Ascending by (head, first
/// q-block); deterministic, integer.
std::vector<RowMove> planSplits(const MaskSummary &summary,
                                const std::vector<int64_t> &owners,
                                const Placement &placement,
                                const SplitOptions &options);

/// Owners for balance before the exchange, when data go straight to their final
/// rank: longest head first to the index whose slowest rank stays fastest, with
/// at most ceil(heads / ulysses) heads per index; then exchanges of heads
/// between indices while they shorten the slowest rank. Indices are numbered so
/// that many heads stay where the placement has them (as many as possible up to
/// 16 indices).
std::vector<int64_t> planOwners(const HeadLoads &loads,
                                const Placement &placement,
                                const CostModel &cost);

/// In which order the rows of a launch start.
enum class RowOrder : uint8_t {
  Natural,        ///< heads in order, rows in order
  LongestPerHead, ///< heads in order, rows of each head longest first
  Longest         ///< all rows longest first
};
/// Puts costs[head * rowsPerHead + row] into an order.
void orderRows(std::vector<int64_t> &costs, int64_t rowsPerHead,
               RowOrder order);
/// Largest over mean time of `workers` multiprocessors (at least 1) that take
/// the next row whenever they are free; 1 when all costs are 0.
double tailImbalance(const std::vector<int64_t> &costs, int64_t workers);

} // namespace sart

#endif // SPARSEATTN_RT_BALANCE_H

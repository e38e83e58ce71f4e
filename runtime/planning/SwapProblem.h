//===- SwapProblem.h - Which heads swap owners ------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_PLANNING_SWAPPROBLEM_H
#define SPARSEATTN_RT_PLANNING_SWAPPROBLEM_H

#include "sparseattn-rt/Planner.h"

#include <cstdint>
#include <vector>

namespace sart {

/// Sums of squared loads do not fit 64 bits in general.
__extension__ typedef unsigned __int128 SquareSum;

inline SquareSum squareOf(int64_t load) {
  return static_cast<SquareSum>(load) * static_cast<SquareSum>(load);
}

/// Every Ulysses index gives one *item* and receives one: a head, or nothing.
/// Items are numbered like the heads; `none()` is the empty one.
struct SwapProblem {
  SwapProblem(const HeadLoads &loads, const Placement &placement);

  int32_t none() const { return static_cast<int32_t>(heads); }
  const int64_t *weightsOf(int32_t item) const {
    return weights.data() + item * ring;
  }
  const int64_t *loadsOf(int64_t index) const {
    return loads.data() + index * ring;
  }

  int64_t indices = 0, ring = 1, heads = 0;
  std::vector<int64_t> loads;   ///< [indices][ring], before the swaps
  std::vector<int64_t> weights; ///< [heads + 1][ring], the last one is none()
  /// What each index may give: none() first, then its heads with work,
  /// ascending by total weight, then by head. A head without work never needs
  /// to move.
  std::vector<std::vector<int32_t>> items;
};

/// The objective, compared in order of declaration.
struct SwapScore {
  int64_t largest = 0;
  SquareSum squares = 0;
  int64_t moves = 0;
  bool operator<(const SwapScore &o) const {
    if (largest != o.largest)
      return largest < o.largest;
    if (squares != o.squares)
      return squares < o.squares;
    return moves < o.moves;
  }
};

/// give[u]: item that index u gives; source[u]: index whose item u receives
/// (a permutation; source[u] == u keeps the item).
struct SwapChoice {
  std::vector<int32_t> give;
  std::vector<int32_t> source;
};

SwapScore scoreOf(const SwapProblem &problem, const SwapChoice &choice);
/// The choice that moves nothing.
SwapChoice identityChoice(const SwapProblem &problem);

/// Near-exact: descent over the items given, with the receivers assigned by
/// sorting. One ring segment: for fixed items, giving the lightest item to the
/// heaviest rest is optimal in both the largest load and the sum of squares
/// (rearrangement inequality), so that only the items are searched.
SwapChoice searchSwaps(const SwapProblem &problem);

/// Exact, by dynamic programming over the cycles of the permutation. Starts
/// from `choice`, a feasible one; false (and `choice` unchanged) when the
/// search would be too large.
bool solveSwapsExactly(const SwapProblem &problem, SwapChoice &choice);

} // namespace sart

#endif // SPARSEATTN_RT_PLANNING_SWAPPROBLEM_H

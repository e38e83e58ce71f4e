//===- BinNames.cpp - Which index takes which set of heads ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PreProblem.h"

#include <algorithm>
#include <limits>

using namespace sart;

namespace {

constexpr int64_t maxExactBins = 16;

/// Assignment of the largest sum by shortest augmenting paths (Hungarian
/// method): result[row] is the column. O(n^3).
std::vector<int64_t> assignBest(const std::vector<int64_t> &gain, size_t n) {
  // Rows and columns count from 1; column 0 holds the row to be assigned.
  std::vector<int64_t> rowPrice(n + 1, 0), columnPrice(n + 1, 0);
  std::vector<size_t> rowOf(n + 1, 0), before(n + 1, 0);
  for (size_t row = 1; row <= n; ++row) {
    std::vector<int64_t> least(n + 1, std::numeric_limits<int64_t>::max());
    std::vector<bool> used(n + 1, false);
    size_t column = 0;
    rowOf[0] = row;
    while (rowOf[column] != 0) {
      used[column] = true;
      size_t current = rowOf[column], next = 0;
      int64_t step = std::numeric_limits<int64_t>::max();
      for (size_t j = 1; j <= n; ++j) {
        if (used[j])
          continue;
        int64_t reduced = -gain[(current - 1) * n + j - 1] - rowPrice[current] -
                          columnPrice[j];
        if (reduced < least[j]) {
          least[j] = reduced;
          before[j] = column;
        }
        if (least[j] < step) {
          step = least[j];
          next = j;
        }
      }
      for (size_t j = 0; j <= n; ++j) {
        if (used[j]) {
          rowPrice[rowOf[j]] += step;
          columnPrice[j] -= step;
        } else if (j != 0) {
          least[j] -= step;
        }
      }
      column = next;
    }
    for (; column != 0; column = before[column])
      rowOf[column] = rowOf[before[column]];
  }
  std::vector<int64_t> result(n, 0);
  for (size_t j = 1; j <= n; ++j)
    result[rowOf[j] - 1] = static_cast<int64_t>(j - 1);
  return result;
}

/// The largest gain first, ties by bin, then index.
std::vector<int64_t> assignGreedily(const std::vector<int64_t> &gain,
                                    size_t n) {
  std::vector<size_t> pairs;
  for (size_t i = 0; i < gain.size(); ++i)
    if (gain[i] > 0)
      pairs.push_back(i);
  std::sort(pairs.begin(), pairs.end(), [&](size_t a, size_t b) {
    return gain[a] != gain[b] ? gain[a] > gain[b] : a < b;
  });
  std::vector<int64_t> result(n, -1);
  std::vector<bool> used(n, false);
  for (size_t pair : pairs)
    if (result[pair / n] < 0 && !used[pair % n]) {
      result[pair / n] = static_cast<int64_t>(pair % n);
      used[pair % n] = true;
    }
  size_t next = 0;
  for (int64_t &name : result) {
    if (name >= 0)
      continue;
    while (used[next])
      ++next;
    used[next] = true;
    name = static_cast<int64_t>(next);
  }
  return result;
}

} // namespace

void sart::nameBins(std::vector<int64_t> &owners, const Placement &placement,
                    std::vector<int64_t> &names) {
  int64_t bins = placement.mesh.ulysses;
  std::vector<int64_t> gain(static_cast<size_t>(bins * bins), 0);
  for (size_t head = 0; head < owners.size(); ++head)
    ++gain[static_cast<size_t>(
        owners[head] * bins +
        placement.ownerOfHead(static_cast<int64_t>(head)))];
  names = bins <= maxExactBins
              ? assignBest(gain, static_cast<size_t>(bins))
              : assignGreedily(gain, static_cast<size_t>(bins));
  for (int64_t &owner : owners)
    owner = names[static_cast<size_t>(owner)];
}

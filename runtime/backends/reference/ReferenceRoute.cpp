//===- ReferenceRoute.cpp - Top-p selection by sorting --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ReferenceKernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace sart;

/// Blocks whose cumulative mass is this close to p may fall on either side.
static constexpr double thresholdWidth = 1e-5;

void sart::referenceRoute(const std::vector<double> &scores, double p,
                          int64_t minBlocks, const std::vector<Range> &keep,
                          int32_t *row, RouteStats &stats) {
  auto candidates = static_cast<int64_t>(scores.size());
  ++stats.rows;
  row[0] = 0;
  if (candidates == 0)
    return;
  std::vector<int32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  // Not a number orders as the least: sorting needs a total order.
  auto key = [&](int32_t block) {
    double score = scores[static_cast<size_t>(block)];
    return std::isnan(score) ? -std::numeric_limits<double>::infinity() : score;
  };
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    double first = key(a), second = key(b);
    return first != second ? first > second : a < b;
  });
  double largest = scores[static_cast<size_t>(order[0])], total = 0;
  std::vector<double> mass(scores.size());
  for (size_t i = 0; i < scores.size(); ++i)
    total += mass[i] = std::exp(scores[i] - largest);

  int64_t kept = candidates;
  if (p < 1) {
    int64_t least = std::clamp<int64_t>(minBlocks, 1, candidates);
    double cumulative = 0;
    bool reached = false;
    for (int64_t i = 0; i < candidates; ++i) {
      cumulative +=
          mass[static_cast<size_t>(order[static_cast<size_t>(i)])] / total;
      if (p > 0 && std::fabs(cumulative - p) <= thresholdWidth)
        ++stats.nearThreshold;
      if (!reached && cumulative >= p) {
        reached = true;
        kept = i + 1;
      }
    }
    kept = std::max(kept, least);
  }
  std::vector<bool> selected(scores.size(), false);
  for (int64_t i = 0; i < kept; ++i)
    selected[static_cast<size_t>(order[static_cast<size_t>(i)])] = true;
  for (const Range &range : keep)
    for (int64_t i = std::max<int64_t>(0, range.begin);
         i < std::min(range.end, candidates); ++i)
      selected[static_cast<size_t>(i)] = true;
  for (size_t i = 0; i < selected.size(); ++i) {
    if (!selected[i])
      continue;
    row[++row[0]] = static_cast<int32_t>(i);
    stats.keptPooledMass += mass[i] / total;
  }
}

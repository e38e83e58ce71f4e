//===- Tail.cpp - Rows over the multiprocessors of one device -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Balance.h"

#include <algorithm>
#include <functional>
#include <queue>

using namespace sart;

void sart::orderRows(std::vector<int64_t> &costs, int64_t rowsPerHead,
                     RowOrder order) {
  auto sortRange = [&](size_t begin, size_t end) {
    std::sort(costs.begin() + static_cast<std::ptrdiff_t>(begin),
              costs.begin() + static_cast<std::ptrdiff_t>(end),
              std::greater<int64_t>());
  };
  if (order == RowOrder::Longest)
    sortRange(0, costs.size());
  if (order == RowOrder::LongestPerHead && rowsPerHead > 0)
    for (size_t begin = 0; begin < costs.size();
         begin += static_cast<size_t>(rowsPerHead))
      sortRange(begin, std::min(costs.size(),
                                begin + static_cast<size_t>(rowsPerHead)));
}

double sart::tailImbalance(const std::vector<int64_t> &costs, int64_t workers) {
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<int64_t>>
      free;
  for (int64_t worker = 0; worker < workers; ++worker)
    free.push(0);
  int64_t last = 0;
  double sum = 0;
  for (int64_t cost : costs) {
    int64_t end = free.top() + cost;
    free.pop();
    free.push(end);
    last = std::max(last, end);
    sum += static_cast<double>(cost);
  }
  return sum == 0
             ? 1
             : static_cast<double>(last) * static_cast<double>(workers) / sum;
}

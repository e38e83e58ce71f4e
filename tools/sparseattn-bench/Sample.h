//===- Sample.h - Median and spread of repetitions --------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_SAMPLE_H
#define SPARSEATTN_TOOLS_BENCH_SAMPLE_H

#include <algorithm>
#include <chrono>
#include <vector>

namespace sart {

/// One figure, measured several times.
class Sample {
public:
  void add(double value) { values.push_back(value); }
  bool empty() const { return values.empty(); }
  double minimum() const {
    return *std::min_element(values.begin(), values.end());
  }
  double maximum() const {
    return *std::max_element(values.begin(), values.end());
  }
  /// Mean of the two middle values when their number is even.
  double median() const {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    size_t n = sorted.size();
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  }

private:
  std::vector<double> values;
};

/// Seconds that `body` takes.
template <typename Body>
double secondsOf(Body body) {
  auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_SAMPLE_H

//===- Charts.h - Line and bar charts as SVG --------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_REPORT_CHARTS_H
#define SPARSEATTN_LIB_REPORT_CHARTS_H

#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::sparseattn::report {

/// A line over the chart's positions; a position without a value is a gap.
struct Series {
  std::string name;
  std::vector<std::optional<double>> values;
  std::vector<std::optional<double>> low, high; ///< of a band around it
  int colour = 0;                               ///< of the page's palette
  bool dashed = false;
};

struct LineChart {
  std::string id, title;
  std::string unit;      ///< of the values, beside the title; may be empty
  std::string positions; ///< what is counted along x, from 1
  std::vector<Series> series;
  int digits = 2;            ///< of the values' labels
  std::optional<double> low; ///< the axis begins here unless a value is below
};

/// A figure with its legend; nothing when no series has a value.
void writeLineChart(llvm::raw_ostream &os, const LineChart &chart);

/// Bars of each rank before and after balancing, with the mean as a line.
void writeLoadChart(llvm::raw_ostream &os, const std::string &label,
                    const std::vector<int64_t> &before,
                    const std::vector<int64_t> &after);

/// Round numbers that enclose [low, high].
struct Axis {
  Axis(double low, double high);
  double begin, step;
  int ticks; ///< intervals
  double end() const { return begin + step * ticks; }
};

} // namespace mlir::sparseattn::report

#endif // SPARSEATTN_LIB_REPORT_CHARTS_H

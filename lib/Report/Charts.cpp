//===- Charts.cpp - Line and bar charts as SVG ----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Charts.h"

#include "HtmlText.h"

#include <algorithm>
#include <cmath>

using namespace mlir::sparseattn::report;
using llvm::raw_ostream;

Axis::Axis(double low, double high) {
  double span = high - low;
  if (!(span > 1e-9 * std::max(std::abs(low), std::abs(high)))) {
    // One value: some room on both sides.
    double room = low == 0 ? 1 : std::abs(low) * 0.05;
    low -= low == 0 ? 0 : room;
    high += room;
    span = high - low;
  }
  double power = std::pow(10, std::floor(std::log10(span / 4)));
  double rest = span / 4 / power;
  step = power * (rest <= 1.0001   ? 1
                  : rest <= 2.0001 ? 2
                  : rest <= 5.0001 ? 5
                                   : 10);
  double first = std::floor(low / step + 1e-6);
  begin = first * step;
  ticks = std::max(1, static_cast<int>(std::ceil(high / step - 1e-6) - first));
}

namespace {

constexpr double chartWidth = 360, chartHeight = 190;
constexpr double left = 44, right = 12, top = 10, bottom = 34;

std::string at(double value) { return fixedText(value, 1); }

/// A mark that differs in form as well as in colour.
void writeMark(raw_ostream &os, int shape, double x, double y) {
  const char *const paths[] = {
      "m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z", "m-3-3h6v6h-6z",
      "m0-3.8l3.6 6.4h-7.2z", "m0-4l4 4l-4 4l-4-4z"};
  os << "<path class=\"f" << shape << "\" d=\"M" << at(x) << " " << at(y)
     << paths[shape % 4] << "\"/>";
}

void writeText(raw_ostream &os, double x, double y, const char *anchor,
               const std::string &text) {
  os << "<text x=\"" << at(x) << "\" y=\"" << at(y) << "\" text-anchor=\""
     << anchor << "\">" << text << "</text>";
}

/// The chart's frame and its mapping from values to the picture.
struct Plot {
  Axis axis;
  size_t count;

  double x(size_t i) const {
    return count < 2
               ? (left + chartWidth - right) / 2
               : left + (chartWidth - left - right) * static_cast<double>(i) /
                            static_cast<double>(count - 1);
  }
  double y(double value) const {
    return top + (chartHeight - top - bottom) * (axis.end() - value) /
                     (axis.end() - axis.begin);
  }

  void writeFrame(raw_ostream &os, int digits,
                  const std::string &positions) const {
    // Ticks closer than the label's digits need more of them.
    digits = std::max(
        digits, static_cast<int>(std::ceil(-std::log10(axis.step) - 1e-6)));
    for (int i = 0; i <= axis.ticks; ++i) {
      double value = axis.begin + axis.step * i;
      os << "<line class=\"grid\" x1=\"" << at(left) << "\" x2=\""
         << at(chartWidth - right) << "\" y1=\"" << at(y(value)) << "\" y2=\""
         << at(y(value)) << "\"/>";
      writeText(os, left - 6, y(value) + 3.5, "end", fixedText(value, digits));
    }
    size_t every = (count + 7) / 8;
    for (size_t i = 0; i < count; i += every)
      writeText(os, x(i), chartHeight - bottom + 15, "middle",
                std::to_string(i + 1));
    writeText(os, (left + chartWidth - right) / 2, chartHeight - 3, "middle",
              positions);
  }

  void writeBand(raw_ostream &os, const Series &series) const {
    std::string path, back;
    for (size_t i = 0; i < series.low.size(); ++i)
      if (series.low[i] && series.high[i]) {
        path += (path.empty() ? "M" : "L") + at(x(i)) + " " +
                at(y(*series.high[i]));
        back = "L" + at(x(i)) + " " + at(y(*series.low[i])) + back;
      }
    if (!path.empty())
      os << "<path class=\"band f" << series.colour << "\" d=\"" << path << back
         << "z\"/>";
  }

  void writeLine(raw_ostream &os, const Series &series) const {
    std::string path;
    bool pen = false;
    for (size_t i = 0; i < series.values.size(); ++i) {
      if (series.values[i])
        path += (pen ? "L" : "M") + at(x(i)) + " " + at(y(*series.values[i]));
      pen = series.values[i].has_value();
    }
    os << "<path class=\"line s" << series.colour
       << (series.dashed ? " dash" : "") << "\" d=\"" << path << "\"/>";
    for (size_t i = 0; count <= 24 && i < series.values.size(); ++i)
      if (series.values[i])
        writeMark(os, series.colour, x(i), y(*series.values[i]));
  }
};

} // namespace

void mlir::sparseattn::report::writeLineChart(raw_ostream &os,
                                              const LineChart &chart) {
  double low = INFINITY, high = -INFINITY;
  size_t count = 0;
  for (const Series &series : chart.series)
    for (const auto *values : {&series.values, &series.low, &series.high}) {
      count = std::max(count, values->size());
      for (const std::optional<double> &value : *values)
        if (value) {
          low = std::min(low, *value);
          high = std::max(high, *value);
        }
    }
  if (!(low <= high))
    return;
  if (chart.low)
    low = std::min(low, *chart.low);
  Plot plot = {Axis(low, high), count};

  std::string spoken = chart.title;
  for (const Series &series : chart.series) {
    spoken += "; " + series.name + ":";
    for (size_t i = 0; i < series.values.size(); ++i)
      if (i < 12 || i + 1 == series.values.size())
        spoken += " " + orDash(series.values[i], chart.digits);
  }
  os << "<figure class=\"chart\" id=\"" << chart.id << "\"><figcaption><b>"
     << escape(chart.title) << "</b>";
  if (!chart.unit.empty())
    os << " <span class=\"soft\">" << escape(chart.unit) << "</span>";
  os << "<span class=\"legend\">";
  for (const Series &series : chart.series) {
    os << "<span><svg viewBox=\"0 0 26 10\" width=\"26\" height=\"10\" "
          "aria-hidden=\"true\"><path class=\"line s"
       << series.colour << (series.dashed ? " dash" : "")
       << "\" d=\"M1 5H25\"/>";
    writeMark(os, series.colour, 13, 5);
    os << "</svg> " << escape(series.name) << "</span> ";
  }
  os << "</span></figcaption><svg viewBox=\"0 0 " << at(chartWidth) << " "
     << at(chartHeight) << "\" role=\"img\" aria-label=\"" << escape(spoken)
     << "\">";
  plot.writeFrame(os, chart.digits, escape(chart.positions));
  for (const Series &series : chart.series)
    plot.writeBand(os, series);
  for (const Series &series : chart.series)
    plot.writeLine(os, series);
  os << "</svg></figure>\n";
}

void mlir::sparseattn::report::writeLoadChart(
    raw_ostream &os, const std::string &label,
    const std::vector<int64_t> &before, const std::vector<int64_t> &after) {
  double largest = 1, sum = 0;
  for (const std::vector<int64_t> *loads : {&before, &after})
    for (int64_t load : *loads)
      largest = std::max(largest, static_cast<double>(load));
  for (int64_t load : after)
    sum += static_cast<double>(load);
  size_t ranks = after.size();
  double mean = sum / static_cast<double>(ranks);
  double width = 280, height = 132, floor = height - 28, room = floor - 8;
  double begin = 50, each = (width - begin - 4) / static_cast<double>(ranks);
  auto y = [&](double load) { return floor - room * load / largest; };
  std::string spoken = label + ", tiles per rank";
  for (size_t rank = 0; rank < ranks && rank < 64; ++rank)
    spoken += "; rank " + std::to_string(rank) + ": " +
              (before.empty() ? "" : countText(before[rank]) + " before, ") +
              countText(after[rank]) + (before.empty() ? "" : " after");
  os << "<svg viewBox=\"0 0 " << at(width) << " " << at(height)
     << "\" role=\"img\" aria-label=\"" << escape(spoken) << "\">";
  for (double value : {0.0, largest}) {
    os << "<line class=\"grid\" x1=\"" << at(begin) << "\" x2=\"" << at(width)
       << "\" y1=\"" << at(y(value)) << "\" y2=\"" << at(y(value)) << "\"/>";
    writeText(os, begin - 5, y(value) + 3.5, "end",
              countText(static_cast<int64_t>(value)));
  }
  writeText(os, begin - 5, y(largest) + 15, "end", "tiles");
  size_t every = (ranks + 15) / 16;
  for (size_t rank = 0; rank < ranks; ++rank) {
    double x = begin + each * static_cast<double>(rank);
    double bar = before.empty() ? each * 0.6 : each * 0.38;
    auto writeBar = [&](const char *style, double from, int64_t load,
                        const char *when) {
      auto value = static_cast<double>(load);
      os << "<rect class=\"" << style << "\" x=\"" << at(from) << "\" y=\""
         << at(y(value)) << "\" width=\"" << at(bar) << "\" height=\""
         << at(floor - y(value)) << "\"><title>rank " << rank << when << ": "
         << countText(load, "tile") << "</title></rect>";
    };
    if (!before.empty())
      writeBar("before", x + each * 0.1, before[rank], " before balancing");
    writeBar("f0", x + each * (before.empty() ? 0.2 : 0.52), after[rank],
             before.empty() ? "" : " after balancing");
    if (rank % every == 0)
      writeText(os, x + each / 2, floor + 13, "middle", std::to_string(rank));
  }
  os << "<line class=\"mean\" x1=\"" << at(begin) << "\" x2=\"" << at(width)
     << "\" y1=\"" << at(y(mean)) << "\" y2=\"" << at(y(mean)) << "\"/>";
  writeText(os, (begin + width) / 2, height - 2, "middle", "rank");
  os << "</svg>";
}

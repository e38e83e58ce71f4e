//===- FrameGrid.cpp - Frames of a clip as one picture --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FrameGrid.h"

#include <algorithm>
#include <cmath>

using namespace mlir::sparseattn::report;

namespace {

constexpr int64_t mostFrames = 24, mostPixels = 100000;
/// Height of the strips of text tokens, in pixels.
constexpr int64_t stripRows = 4;

} // namespace

FrameGrid::FrameGrid(const sart::Order &order) {
  auto [t, h, w] = order.grid;
  int64_t shown = std::min(t, mostFrames);
  for (int64_t i = 0; i < shown; ++i)
    shownFrames.push_back(shown < 2 ? 0 : i * (t - 1) / (shown - 1));
  auto reduced = [&](int64_t size) { return (size + stride - 1) / stride; };
  while (shown * reduced(h) * reduced(w) > mostPixels)
    ++stride;
  int64_t rows = reduced(h), columns = reduced(w);
  // About 3 to 2, whatever the frames' own shape.
  perRow = std::clamp<int64_t>(
      std::llround(std::sqrt(1.5 * static_cast<double>(shown * rows) /
                             static_cast<double>(columns))),
      1, shown);
  int64_t frameRows = (shown + perRow - 1) / perRow;
  columnsInAll = perRow * (columns + 1) - 1;
  int64_t first = order.prefix > 0 ? stripRows + 1 : 0;
  int64_t framesEnd = first + frameRows * (rows + 1) - 1;
  rowsInAll = framesEnd + (order.suffix > 0 ? stripRows + 1 : 0);
  positions.assign(static_cast<size_t>(columnsInAll * rowsInAll), -1);

  std::vector<int64_t> inverse = order.inverse();
  for (int64_t i = 0; i < shown; ++i)
    for (int64_t y = 0; y < rows; ++y)
      for (int64_t x = 0; x < columns; ++x) {
        int64_t token =
            order.prefix +
            (shownFrames[static_cast<size_t>(i)] * h + y * stride) * w +
            x * stride;
        int64_t row = first + (i / perRow) * (rows + 1) + y;
        int64_t column = (i % perRow) * (columns + 1) + x;
        positions[static_cast<size_t>(row * columnsInAll + column)] =
            inverse[static_cast<size_t>(token)];
      }
  auto strip = [&](int64_t row, int64_t begin, int64_t tokens) {
    for (int64_t i = 0; tokens > 0 && i < stripRows * columnsInAll; ++i)
      positions[static_cast<size_t>(row * columnsInAll + i)] =
          begin + (i % columnsInAll) * tokens / columnsInAll;
  };
  strip(0, 0, order.prefix);
  strip(framesEnd + 1, order.prefix + t * h * w, order.suffix);
}

std::string
FrameGrid::pixels(const std::function<int(int64_t)> &pixelOf) const {
  int64_t rowBytes = (columnsInAll * 2 + 7) / 8;
  std::string bytes(static_cast<size_t>(rowBytes * rowsInAll), '\0');
  for (int64_t row = 0; row < rowsInAll; ++row)
    for (int64_t column = 0; column < columnsInAll; ++column) {
      int64_t position =
          positions[static_cast<size_t>(row * columnsInAll + column)];
      if (position < 0)
        continue;
      char &byte = bytes[static_cast<size_t>(row * rowBytes + column / 4)];
      byte =
          static_cast<char>(byte | pixelOf(position) << (6 - 2 * (column % 4)));
    }
  return bytes;
}

//===- FrameGrid.h - Frames of a clip as one picture ------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_REPORT_FRAMEGRID_H
#define SPARSEATTN_LIB_REPORT_FRAMEGRID_H

#include "sparseattn-rt/Order.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mlir::sparseattn::report {

/// The tokens of an order laid out as their frames, row by row, with the text
/// before and behind them as strips. Of large clips some frames and every n-th
/// token of a frame are taken.
class FrameGrid {
public:
  explicit FrameGrid(const sart::Order &order);

  int64_t width() const { return columnsInAll; }
  int64_t height() const { return rowsInAll; }
  const std::vector<int64_t> &frames() const { return shownFrames; }
  int64_t framesPerRow() const { return perRow; }
  /// Every n-th token along h and w.
  int64_t every() const { return stride; }

  /// Rows of 2-bit pixels: 0 between frames, else what `pixelOf` says of the
  /// token at a position of the order.
  std::string pixels(const std::function<int(int64_t)> &pixelOf) const;

private:
  std::vector<int64_t> shownFrames;
  int64_t perRow = 1, stride = 1, columnsInAll = 0, rowsInAll = 0;
  std::vector<int64_t> positions; ///< per pixel; -1 between frames
};

} // namespace mlir::sparseattn::report

#endif // SPARSEATTN_LIB_REPORT_FRAMEGRID_H

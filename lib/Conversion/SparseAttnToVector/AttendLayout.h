//===- AttendLayout.h - Tiles and scratch of the attend kernel --*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SPARSEATTNTOVECTOR_ATTENDLAYOUT_H
#define SPARSEATTN_CONVERSION_SPARSEATTNTOVECTOR_ATTENDLAYOUT_H

#include "sparseattn-rt/Executable.h"
#include "sparseattn/Jit/CpuTarget.h"

namespace mlir {
namespace sparseattn {

/// Heights of the register tiles that cover an extent. Tiles of six rows, which
/// fill a file of 16 registers, are joined by tiles of four: of the even
/// extents only 2 is not a sum of both. Other heights stand alone.
struct RowTiles {
  int64_t high = 0;
  int64_t low = 0; ///< 4 beside 6, else none

  /// Low tiles among those that cover `extent`, a multiple of 8.
  int64_t lowCount(int64_t extent) const {
    return low ? (6 - extent % 6) % 6 / 2 : 0;
  }
};

/// Register tiles of one attend kernel and where its arrays lie in scratch.
/// All arrays are fp32. A panel is `width` queries side by side.
struct AttendLayout {
  AttendLayout(const sart::KernelSpec &spec, const CpuTarget &target);

  int64_t vectors;      ///< registers side by side in a panel
  int64_t width;        ///< queries in a panel: vectors * lanes
  int64_t panels;       ///< panels in a q-block; the last may be part empty
  RowTiles scoreTiles;  ///< keys in a tile of Q K^T
  RowTiles outputTiles; ///< features in a tile of P V
  bool widened;         ///< 16-bit inputs: K and V are copied to fp32 per visit
  int64_t widePitch;    ///< elements from row to row of the copies

  // Byte offsets.
  int64_t queries; ///< [panels][headDim][width], scaled by scale * log2(e)
  int64_t outputs; ///< [panels][headDim][width], O transposed
  int64_t weights; ///< [blockK][width], scores then P of the current panel
  int64_t maxima;  ///< [panels][width], running row maximum, base 2
  int64_t sums;    ///< [panels][width], running row sum
  int64_t keys;    ///< [blockK][widePitch] if widened
  int64_t values;  ///< [blockK][widePitch] if widened
  int64_t bytes;   ///< total
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOVECTOR_ATTENDLAYOUT_H

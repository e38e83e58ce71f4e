//===- AttendLayout.h - Tiles and scratch of the attend kernel ----*- C++
//-*-===//
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

/// Register tiles of one attend kernel and where its arrays lie in scratch.
/// All arrays are fp32. A panel is `width` queries side by side.
struct AttendLayout {
  AttendLayout(const sart::KernelSpec &spec, const CpuTarget &target);

  int64_t vectors;    ///< registers side by side in a panel
  int64_t width;      ///< queries in a panel: vectors * lanes
  int64_t panels;     ///< panels in a q-block; the last may be part empty
  int64_t scoreRows;  ///< keys in a tile of Q K^T
  int64_t outputRows; ///< features in a tile of P V
  bool widened;       ///< 16-bit inputs: K and V are copied to fp32 per visit

  // Byte offsets.
  int64_t queries; ///< [panels][headDim][width], scaled by scale * log2(e)
  int64_t outputs; ///< [panels][headDim][width], O transposed
  int64_t weights; ///< [blockK][width], scores then P of the current panel
  int64_t maxima;  ///< [panels][width], running row maximum, base 2
  int64_t sums;    ///< [panels][width], running row sum
  int64_t keys;    ///< [blockK][headDim] if widened
  int64_t values;  ///< [blockK][headDim] if widened
  int64_t bytes;   ///< total
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOVECTOR_ATTENDLAYOUT_H

//===- AttendSoftmax.h - Online softmax of an attend kernel -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_ATTENDSOFTMAX_H
#define SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_ATTENDSOFTMAX_H

#include "AttendContext.h"

namespace mlir::sparseattn {

/// Between two steps: what has been computed of the current tile.
struct Softmax {
  Value output;         ///< O, not normalised, without the step of `weights`
  Value weights;        ///< P of the latest step, as an operand
  Value max[2], sum[2]; ///< of the thread's two rows; sums of its own columns
};

/// How the old outputs and sums are scaled to a new maximum.
struct Rescale {
  Value factor[2];
  Value needed; ///< null: always; the same for the lanes of a warp
};

/// Maximum and sums after `scores`, whose exponentials go to `weights`. `old`:
/// null for a tile's first scores.
Softmax addScores(AttendContext &context, Value scores, const Softmax *old,
                  Rescale &rescale, Value &weights);

/// O of the old maximum, for the new one.
Value scaleOutput(AttendContext &context, Value output, const Rescale &rescale);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_ATTENDSOFTMAX_H

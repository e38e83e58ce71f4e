//===- ReferenceKernels.h - Loops of the reference backend ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_BACKENDS_REFERENCE_REFERENCEKERNELS_H
#define SPARSEATTN_RUNTIME_BACKENDS_REFERENCE_REFERENCEKERNELS_H

#include "sparseattn-rt/Backend.h"

namespace sart {

/// Elements of one head widened to double, row after row.
std::vector<double> widen(const SlotView &view, Range rows);

/// One query row against ranges of keys, in double precision.
class ReferenceRow {
public:
  /// `k`, `v`: [rows][headDim] from widen, first row = key 0. With
  /// `lseOnly`, v is not read and no o is written.
  ReferenceRow(const double *k, const double *v, int64_t headDim,
               bool lseOnly = false)
      : k(k), v(v), headDim(headDim), lseOnly(lseOnly),
        sum(static_cast<size_t>(headDim)) {}

  /// Starts a row; `q` holds headDim elements.
  void begin(const double *q, double scale);
  /// Adds keys [keys.begin, keys.end).
  void add(Range keys);
  /// Writes o [headDim], unless it is null, and returns the natural-log LSE; 0
  /// and -inf when no key was added.
  double finish(double *o) const;

private:
  const double *k, *v;
  int64_t headDim;
  bool lseOnly;
  const double *q = nullptr;
  double scale = 1;
  double largest = 0, weights = 0;
  bool empty = true;
  std::vector<double> sum;
};

/// Top-p selection of one row: `scores` of the candidates [0, visible), already
/// scaled. Keeps the shortest prefix by (score descending, index ascending)
/// whose softmax mass reaches p, at least `minBlocks`, and the `keep` ranges.
/// Writes [count, indices ascending...] and the row's statistics.
void referenceRoute(const std::vector<double> &scores, double p,
                    int64_t minBlocks, const std::vector<Range> &keep,
                    int32_t *row, RouteStats &stats);

} // namespace sart

#endif // SPARSEATTN_RUNTIME_BACKENDS_REFERENCE_REFERENCEKERNELS_H

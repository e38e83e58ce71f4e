//===- AttendEmitter.h - Writer of the attend kernel ------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SPARSEATTNTOVECTOR_ATTENDEMITTER_H
#define SPARSEATTN_CONVERSION_SPARSEATTNTOVECTOR_ATTENDEMITTER_H

#include "AttendLayout.h"
#include "KernelEmitter.h"

namespace mlir {
namespace sparseattn {

/// Writes the attend kernel; what it computes is described in AttendKernel.cpp.
class AttendEmitter {
public:
  AttendEmitter(KernelEmitter &e, const sart::KernelSpec &spec)
      : e(e), spec(spec), layout(spec, e.target), f32(e.b.getF32Type()),
        reg(e.f32Vec()) {}

  func::FuncOp build();

private:
  using Values = KernelEmitter::Values;

  /// One visited kv-block, and the one after it.
  struct Visit {
    MatrixRows k, v;         ///< its rows, fp32
    MatrixRows nextK, nextV; ///< rows of the next listed block, as stored
    Value firstKey;          ///< number of its first key among all keys
    Value count;             ///< keys in the block
  };

  /// What one loop fetches of the next block: `lines` cache lines from
  /// `column` on in each of `count` rows.
  struct Fetch {
    MatrixRows rows;
    Value column;
    int64_t count, lines;
    int64_t perLine; ///< elements in a line
  };

  void makeViews();
  void initializePanel(Value panel);
  void packQueries(Value panel, Value validRows);
  Visit beginVisit(Value n, Value listLength);
  MatrixRows widenBlock(const MatrixRows &block, Value count,
                        Value scratchBlock);
  void attendPanel(const Visit &visit, Value panel);
  Values scoreTiles(const Visit &visit, Value panel, Value count);
  Values scoreTile(const Visit &visit, Value packed, Value t, int64_t rows,
                   ValueRange running, const Fetch *fetch);
  Values maskScores(Value count, Value offset);
  void outputTiles(const Visit &visit, Value panel, Value count,
                   ArrayRef<Value> rescale);
  void outputTile(const Visit &visit, Value panel, Value count, Value feature,
                  int64_t rows, ArrayRef<Value> rescale, const Fetch &fetch);
  Fetch shareOf(const MatrixRows &next, Value row, int64_t rows, Value panel);
  Values fetchingLoop(Value end, int64_t usual, const Fetch &fetch,
                      ValueRange carried,
                      llvm::function_ref<Values(Value, ValueRange)> body);
  void finishPanel(Value panel);
  void writeRow(Value row);

  void forEachFeature(llvm::function_ref<void(Value)> body);

  Value idx(int64_t i) { return e.index(i); }
  /// Column of vector `v` inside a panel.
  Value lane(int64_t v) { return idx(v * e.target.lanes); }
  /// The [headDim][width] part of a panel array that belongs to `panel`.
  Value panelFeatures(Value array, Value panel) {
    return e.window(e.rowsOf(array), e.mul(panel, idx(spec.headDim)), idx(0),
                    idx(spec.headDim), layout.width);
  }

  KernelEmitter &e;
  const sart::KernelSpec &spec;
  AttendLayout layout;
  Type f32;
  VectorType reg;
  Type outType;

  // Arguments.
  Value q, k, v, o, lse, list, scratch, qRow, diag, scale;
  // Scratch views.
  Value queries, outputs, weights, maxima, sums, wideKeys, wideValues, rounded;
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOVECTOR_ATTENDEMITTER_H

//===- RouteEmitter.h - Scores and selection of a thread block --*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SPARSEATTNTOGPU_ROUTEEMITTER_H
#define SPARSEATTN_CONVERSION_SPARSEATTNTOGPU_ROUTEEMITTER_H

#include "DeviceEmitter.h"

namespace mlir {
namespace sparseattn {

/// Writes route_d<D>_r<capacity>. Shared memory of a thread block:
///   queries  [capacity][headDim + 2] fp64, later 1 KB for each warp
///   scores   [rowsPerCta][scoreStride] pairs (score, mass) of fp64
class RouteEmitter {
public:
  RouteEmitter(ModuleOp module, int64_t headDim, int64_t capacity);
  void build();

private:
  using Values = DeviceEmitter::Values;
  /// kv-blocks that a lane looks at in one step of a loop over a row.
  static constexpr int64_t kUnroll = 4;

  // Scores (RouteKernel.cpp).
  void readArguments();
  void locate();
  void loadQueries();
  void computeScores();
  void storeScores(ArrayRef<Values> sums, Value tile);

  // Selection (RouteSelect.cpp); one warp has one row.
  void selectRow();
  /// The last kept block in the order of selection, its score first.
  struct Cut {
    Value score, block;
  };
  /// Largest and smallest score; fills in the masses and returns their sum.
  void computeMasses();
  Cut findCut(Value &near);
  /// The interval of scores [low, high) in which the shortest prefix that has
  /// `mass` and `count` blocks ends: blocks at or above low suffice, or are
  /// all; blocks at or above high do not. Results: low, high, blocks at or
  /// above each, mass at or above high.
  Values narrow(Value mass, Value count);
  /// What one search yields.
  struct Found {
    Value score, block; ///< the last block of the prefix
    Value count, mass;  ///< blocks of the prefix, and their mass
    Value near;         ///< blocks near the threshold, -1: not known
  };
  Found searchWindow(ArrayRef<Value> interval, Value mass, Value count);
  Found searchTies(ArrayRef<Value> interval, Value mass, Value count);
  void writeRow(const Cut &cut, Value near);
  void writeEmptyRow();

  /// Runs `body` for the pairs of a row in steps of kUnroll * 32 blocks; body
  /// gets the first block of each of kUnroll groups of 32 and its address.
  Values
  forRow(ValueRange initial,
         llvm::function_ref<Values(ArrayRef<Value> blocks,
                                   ArrayRef<Value> pairs, ValueRange carried)>
             body);
  Value loadPair(Value address) { return e.load(e.vec(e.f64, 2), address, 16); }
  Value sumWarp(Value value) {
    return e.foldWarp(value, [&](Value l, Value r) { return e.addF(l, r); });
  }
  Value countWarp(Value value) {
    return e.foldWarp(value, [&](Value l, Value r) { return e.add(l, r); });
  }
  Value ordered(Value score);
  Value unordered(Value key);

  int64_t headDim, capacity;
  DeviceEmitter e;

  // Arguments and fields of the record.
  Value rowsPerCta, scoreStride, scale, p, minBlocks, keep, keepPairs;
  Value record, kvBlocks, mask, maskStride, visible, summary, rowTiles, figures;
  /// First row of the thread block: in the record, and as a q-block; how many.
  Value firstRow, firstBlock, rows;
  Value tid, warp, lane, scores;

  // Of the row that the warp selects for.
  Value candidates, pairs, scratch, rowNumber;
  Value maxScore, minScore, total;
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOGPU_ROUTEEMITTER_H

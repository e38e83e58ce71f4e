//===- AttendConsumer.h - What a warpgroup does with tiles ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_ATTENDCONSUMER_H
#define SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_ATTENDCONSUMER_H

#include "AttendSoftmax.h"

namespace mlir::sparseattn {

/// Where the rows of a finished tile go.
struct Destination {
  Value out, lse; ///< of this warpgroup's first row
  Value valid;    ///< rows
};

/// Builds the role of the warps that compute: steps in AttendStep.cpp, tiles
/// and their ends in AttendConsumer.cpp.
class Consumer {
public:
  Consumer(AttendContext &context, Value warp);
  void build();

private:
  TilePost fetch();
  Value stepsOf(const TilePost &tile);
  /// Waits for Q; the A operand of the scores: fragments, or rows of a tile.
  Value takeQuery();
  /// Q of ring position `cursor`.
  void releaseQuery(Value cursor);
  SmallVector<Value> awaitSlots(int64_t first);
  void releaseSlots(int64_t first);
  Value maskFirst(Value scores, const TilePost &tile);
  Value wait(int64_t pending, Value accumulator);
  /// P in 16 bits: registers, or this warpgroup's tile in shared memory.
  Value toOperand(Value weights);
  /// What a step beside the last output product of a tile leaves of that tile.
  struct Boundary {
    const TilePost &tile;                     ///< whose first step it is
    Value queryCursor;                        ///< of that tile
    llvm::function_ref<void()> whileProducts; ///< written after their issue
    Value finished;                           ///< out: O of the old tile
  };
  /// The step after `old`, of the same tile or (`boundary`) of the next.
  Softmax step(const Softmax &old, Value query, Boundary *boundary);
  void store(const Destination &destination, const Softmax &state, Value out);

  /// What the loop over tiles carries.
  struct State {
    Softmax softmax;
    Value query, queryCursor; ///< A operand; where it came from
    Value entry, qBlock, steps;
  };
  SmallVector<Value> flatten(const State &state) const;
  State unflatten(ValueRange values);
  State firstStep(const TilePost &tile);
  State boundaryStep(const State &old, const TilePost &tile);
  Softmax steadySteps(const State &state);
  void lastProduct(const State &state);
  Destination destinationOf(const State &state);

  AttendContext &c;
  ImplicitLocOpBuilder &b;
  Value warpgroup;  ///< 0 or 1
  Value rowsOfTile; ///< which 64 rows of the tile
  Stream ring, queryRing, mailbox;
};

} // namespace mlir::sparseattn

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_ATTENDCONSUMER_H

//===- AttendStep.cpp - Scores, softmax and outputs of one step -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warpgroup has 64 rows of a tile. The scores of a step are issued beside the
// output product of the step before, so that the tensor cores work while the
// softmax of the step is computed:
//
//   await K, [turn], issue S = Q K^T, await V, issue O += P V, [pass the turn],
//   wait 1, release K, softmax of S, wait 0, release V, P = S in 16 bits,
//   O *= alpha
//
// What a release may follow: of K and V the wait that covers the product which
// read them; of Q, whose fragments are copied to registers, the wait of the
// first product that used the fragments, since a warp's arrive is not ordered
// after the reads of its other lanes.
//
//===----------------------------------------------------------------------===//
#include "AttendConsumer.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

Value Consumer::takeQuery() {
  Stream &from = queryRing.ring ? queryRing : ring;
  int64_t slots = queryRing.ring ? 1 : c.recipe.querySlots();
  Type tileType = c.queryTile();
  SmallVector<Value> tiles;
  for (int64_t slot = 0; slot < slots; ++slot) {
    tiles.push_back(AwaitOp::create(b, tileType, from.ring, from.cursor));
    c.advance(from, 1);
  }
  auto rowsType = TileType::get(b.getContext(), 64, c.recipe.headDim,
                                c.queryTile().getBoxRows(), c.element);
  Value rows;
  if (slots == 2)
    // A slot holds the 64 rows of one warpgroup.
    rows = arith::SelectOp::create(
        b, c.compare(arith::CmpIPredicate::eq, rowsOfTile, c.i32(0)), tiles[0],
        tiles[1]);
  else
    rows = RowsOp::create(b, rowsType, tiles[0], rowsOfTile);
  if (!c.recipe.queryInRegisters)
    return rows;
  auto operand = OperandType::get(b.getContext(), c.recipe.headDim, c.element);
  return LoadOperandOp::create(b, operand, rows);
}

void Consumer::releaseQuery(Value cursor) {
  if (queryRing.ring) {
    ReleaseOp::create(b, queryRing.ring, cursor);
    return;
  }
  for (int64_t slot = 0; slot < c.recipe.querySlots(); ++slot)
    ReleaseOp::create(b, ring.ring, c.advanced(cursor, slot));
}

SmallVector<Value> Consumer::awaitSlots(int64_t first) {
  SmallVector<Value> tiles;
  for (int64_t part = 0; part < c.recipe.parts; ++part)
    tiles.push_back(AwaitOp::create(b, c.slotTile(), ring.ring,
                                    c.advanced(ring.cursor, first + part)));
  return tiles;
}

void Consumer::releaseSlots(int64_t first) {
  for (int64_t part = 0; part < c.recipe.parts; ++part)
    ReleaseOp::create(b, ring.ring, c.advanced(ring.cursor, first + part));
}

Value Consumer::maskFirst(Value scores, const TilePost &tile) {
  SmallVector<Value> limits = {tile.limit};
  // Where the slots do not fill the steps, the others are repetitions.
  Value missing = c.sub(c.mul(stepsOf(tile), c.recipe.parts), tile.slots);
  Value full = c.i32(c.recipe.partKeys);
  for (int64_t part = 1; part < c.recipe.parts; ++part)
    limits.push_back(
        c.select(c.compare(arith::CmpIPredicate::eq, missing, c.i32(0)), full,
                 c.i32(0)));
  // Most tiles need no mask. The branch is uniform, and nothing waits in it.
  Value whole = c.compare(arith::CmpIPredicate::eq, limits[0], full);
  for (Value limit : llvm::drop_begin(limits))
    whole = arith::AndIOp::create(
        b, whole, c.compare(arith::CmpIPredicate::eq, limit, full));
  auto masked = scf::IfOp::create(
      b, whole, [&](OpBuilder &, Location) { scf::YieldOp::create(b, scores); },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(b, ValueRange{MaskColumnsOp::create(
                                    b, scores.getType(), scores, limits)});
      });
  return masked.getResult(0);
}

Value Consumer::wait(int64_t pending, Value accumulator) {
  return WaitOp::create(b, TypeRange{accumulator.getType()},
                        static_cast<uint64_t>(pending), ValueRange{accumulator})
      .getResult(0);
}

Value Consumer::toOperand(Value weights) {
  auto type = OperandType::get(b.getContext(), c.recipe.stepKeys(), c.element);
  Value operand = ToOperandOp::create(b, type, weights);
  if (c.recipe.probabilitiesInRegisters)
    return operand;
  auto tileType =
      TileType::get(b.getContext(), 64, c.recipe.stepKeys(), 64, c.element);
  Value tile =
      ScratchOp::create(b, tileType, c.layout.probabilities, warpgroup);
  // Named barriers 1 and 2 are the turns.
  StoreOperandOp::create(b, operand, tile, c.add(warpgroup, 3));
  return tile;
}

Softmax Consumer::step(const Softmax &old, Value query, Boundary *boundary) {
  int64_t parts = c.recipe.parts;
  Value own, other;
  if (c.recipe.pingPong) {
    own = c.add(warpgroup, 1);
    other = c.sub(c.i32(2), warpgroup);
  }
  SmallVector<Value> keys = awaitSlots(0);
  if (c.recipe.pingPong)
    BarrierSyncOp::create(b, own, 256);
  Value scores = ScoresOp::create(b, c.scoresType(), query, keys);
  SmallVector<Value> values = awaitSlots(parts);
  Value output =
      AccumulateOp::create(b, c.outputType(), old.output, old.weights, values);
  if (c.recipe.pingPong)
    BarrierArriveOp::create(b, other, 256);
  if (boundary)
    boundary->whileProducts();
  scores = wait(1, scores);
  if (boundary && c.recipe.queryInRegisters)
    releaseQuery(boundary->queryCursor);
  releaseSlots(0);
  if (boundary)
    scores = maskFirst(scores, boundary->tile);
  Rescale rescale;
  Value weights;
  Softmax next =
      addScores(c, scores, boundary ? nullptr : &old, rescale, weights);
  output = wait(0, output);
  releaseSlots(parts);
  c.advance(ring, 2 * parts);
  next.weights = toOperand(weights);
  if (boundary) {
    boundary->finished = output;
    next.output = ZeroOp::create(b, c.outputType());
  } else {
    next.output = scaleOutput(c, output, rescale);
  }
  return next;
}

//===- AttendConsumer.cpp - Tiles of a warpgroup, and their ends ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last output product of a tile stands beside the first scores of the next
// one: the same step, whose softmax has no maximum to start from, and after
// which O is stored (FlashAttention-3, https://arxiv.org/abs/2407.08608, for
// the order inside a step).
//
//===----------------------------------------------------------------------===//
#include "AttendConsumer.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

Consumer::Consumer(AttendContext &context, Value warp)
    : c(context), b(context.b) {
  warpgroup = c.div(warp, 4);
  rowsOfTile = c.recipe.pairs == 2 ? c.i32(0) : warpgroup;
  ring = c.stream(c.copyOf(c.ring, warpgroup), /*producer=*/false);
  queryRing = c.stream(c.copyOf(c.queryRing, warpgroup), /*producer=*/false);
  mailbox = c.stream(c.copyOf(c.mailbox, warpgroup), /*producer=*/false);
}

TilePost Consumer::fetch() {
  auto op = FetchOp::create(b, mailbox.ring, mailbox.cursor);
  c.advance(mailbox, 1);
  return {op.getA(), op.getB(), op.getC(), op.getD()};
}

Value Consumer::stepsOf(const TilePost &tile) {
  int64_t parts = c.recipe.parts;
  return c.div(c.add(tile.slots, parts - 1), parts);
}

Destination Consumer::destinationOf(const State &tile) {
  Value first =
      c.add(c.mul(tile.qBlock, c.recipe.tileRows()), c.mul(rowsOfTile, 64));
  Value row = c.toI64(first);
  Destination destination;
  destination.out =
      c.gep(c.loadPointer(c.field(tile.entry, entry::o)), c.outElement,
            arith::MulIOp::create(b, row, c.outStride));
  destination.lse = c.gep(c.loadPointer(c.field(tile.entry, entry::lse)),
                          b.getF32Type(), row);
  destination.valid = c.sub(c.intField(tile.entry, entry::qRows), first);
  return destination;
}

void Consumer::store(const Destination &destination, const Softmax &state,
                     Value out) {
  Value factor[2], lse[2];
  for (int row = 0; row < 2; ++row) {
    Value sum = QuadSumOp::create(b, state.sum[row]);
    factor[row] = c.reciprocal(sum);
    Value log = c.fadd(c.fmul(state.max[row], c.scale), c.log2(sum));
    lse[row] = c.fmul(log, c.f32(0.693147180559945f));
  }
  out = ScaleRowsOp::create(b, c.outputType(), out, factor[0], factor[1]);
  StoreRowsOp::create(b, out, destination.out, c.outStride, destination.valid,
                      c.outElement);
  StoreRowValuesOp::create(b, lse[0], lse[1], destination.lse,
                           destination.valid);
}

SmallVector<Value> Consumer::flatten(const State &state) const {
  const Softmax &softmax = state.softmax;
  SmallVector<Value> values = {softmax.output, softmax.weights, softmax.max[0],
                               softmax.max[1], softmax.sum[0],  softmax.sum[1],
                               state.query,    state.entry,     state.qBlock,
                               state.steps,    ring.cursor,     mailbox.cursor};
  if (queryRing.ring)
    values.append({queryRing.cursor, state.queryCursor});
  return values;
}

Consumer::State Consumer::unflatten(ValueRange values) {
  State state;
  state.softmax.output = values[0];
  state.softmax.weights = values[1];
  for (int row = 0; row < 2; ++row) {
    state.softmax.max[row] = values[2 + row];
    state.softmax.sum[row] = values[4 + row];
  }
  state.query = values[6];
  state.entry = values[7];
  state.qBlock = values[8];
  state.steps = values[9];
  ring.cursor = values[10];
  mailbox.cursor = values[11];
  if (queryRing.ring) {
    queryRing.cursor = values[12];
    state.queryCursor = values[13];
  }
  return state;
}

Consumer::State Consumer::firstStep(const TilePost &tile) {
  State state;
  state.queryCursor = queryRing.ring ? queryRing.cursor : ring.cursor;
  state.query = takeQuery();
  Value scores =
      ScoresOp::create(b, c.scoresType(), state.query, awaitSlots(0));
  scores = wait(0, scores);
  if (c.recipe.queryInRegisters)
    releaseQuery(state.queryCursor);
  releaseSlots(0);
  c.advance(ring, c.recipe.parts);
  Rescale none;
  Value weights;
  state.softmax = addScores(c, maskFirst(scores, tile), nullptr, none, weights);
  state.softmax.weights = toOperand(weights);
  state.softmax.output = ZeroOp::create(b, c.outputType());
  state.entry = tile.entry;
  state.qBlock = tile.qBlock;
  state.steps = stepsOf(tile);
  return state;
}

Softmax Consumer::steadySteps(const State &state) {
  const Softmax &from = state.softmax;
  SmallVector<Value> carried = {from.output, from.weights, from.max[0],
                                from.max[1], from.sum[0],  from.sum[1],
                                ring.cursor};
  auto toSoftmax = [&](ValueRange values) {
    ring.cursor = values[6];
    return Softmax{
        values[0], values[1], {values[2], values[3]}, {values[4], values[5]}};
  };
  auto loop = scf::ForOp::create(
      b, c.i32(1), state.steps, c.i32(1), carried,
      [&](OpBuilder &, Location, Value, ValueRange arguments) {
        Softmax next = step(toSoftmax(arguments), state.query, nullptr);
        scf::YieldOp::create(
            b, ValueRange{next.output, next.weights, next.max[0], next.max[1],
                          next.sum[0], next.sum[1], ring.cursor});
      });
  return toSoftmax(loop.getResults());
}

Consumer::State Consumer::boundaryStep(const State &old, const TilePost &tile) {
  State state;
  // Every product that read the old Q from shared memory is complete.
  if (!c.recipe.queryInRegisters)
    releaseQuery(old.queryCursor);
  state.queryCursor = queryRing.ring ? queryRing.cursor : ring.cursor;
  state.query = takeQuery();
  Destination destination;
  auto findDestination = [&]() { destination = destinationOf(old); };
  Boundary boundary{tile, state.queryCursor, findDestination, Value()};
  state.softmax = step(old.softmax, state.query, &boundary);
  store(destination, old.softmax, boundary.finished);
  state.entry = tile.entry;
  state.qBlock = tile.qBlock;
  state.steps = stepsOf(tile);
  return state;
}

void Consumer::lastProduct(const State &state) {
  Destination destination = destinationOf(state);
  Value output = AccumulateOp::create(b, c.outputType(), state.softmax.output,
                                      state.softmax.weights, awaitSlots(0));
  output = wait(0, output);
  releaseSlots(0);
  if (!c.recipe.queryInRegisters)
    releaseQuery(state.queryCursor);
  store(destination, state.softmax, output);
}

void Consumer::build() {
  TilePost first = fetch();
  Value some = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, first.entry,
                                     c.i32(0));
  auto guarded = scf::IfOp::create(b, some, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(guarded.thenBlock());
  if (c.recipe.pingPong) {
    // The second warpgroup opens the first one's turn.
    Value second = c.compare(arith::CmpIPredicate::eq, warpgroup, c.i32(1));
    scf::IfOp::create(b, second, [&](OpBuilder &, Location) {
      BarrierArriveOp::create(b, c.i32(1), 256);
      scf::YieldOp::create(b);
    });
  }
  SmallVector<Value> state = flatten(firstStep(first));
  SmallVector<Type> types(ValueRange(state).getTypes());
  // Out of the condition comes the next tile, too.
  SmallVector<Type> outTypes = types;
  outTypes.append(4, b.getI32Type());
  SmallVector<Location> locations(types.size(), b.getLoc());
  SmallVector<Location> outLocations(outTypes.size(), b.getLoc());
  auto loop = scf::WhileOp::create(b, outTypes, state);
  {
    OpBuilder::InsertionGuard inner(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
    State current = unflatten(before->getArguments());
    current.softmax = steadySteps(current);
    TilePost next = fetch();
    Value more = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, next.entry,
                                       c.i32(0));
    SmallVector<Value> out = flatten(current);
    out.append({next.entry, next.qBlock, next.slots, next.limit});
    scf::ConditionOp::create(b, more, out);

    Block *after = b.createBlock(&loop.getAfter(), {}, outTypes, outLocations);
    ValueRange arguments = after->getArguments();
    TilePost tile{arguments[types.size()], arguments[types.size() + 1],
                  arguments[types.size() + 2], arguments[types.size() + 3]};
    State old = unflatten(arguments);
    scf::YieldOp::create(b, flatten(boundaryStep(old, tile)));
  }
  b.setInsertionPointAfter(loop);
  lastProduct(unflatten(loop.getResults()));
}

void mlir::sparseattn::buildConsumer(AttendContext &context, Value warp) {
  Consumer(context, warp).build();
}

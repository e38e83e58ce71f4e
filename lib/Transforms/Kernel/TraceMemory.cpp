//===- TraceMemory.cpp - Rings, barriers and products in a trace ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Tracer.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

//===----------------------------------------------------------------------===//
// Rings and barriers
//===----------------------------------------------------------------------===//

LogicalResult Tracer::slotOf(Operation *op, Value ring, Value cursor,
                             Slot &slot) {
  Fact queue = fact(ring), position = fact(cursor);
  if (!queue.queue.declaration || queue.queue.copy < 0)
    return op->emitOpError()
           << "copy of the ring or mailbox: got an index that does not follow "
              "from the warp's number, expected one that does";
  if (!position.integer)
    return op->emitOpError() << "cursor: got one that does not follow from "
                                "sa_sm90.cursor, expected one that does";
  slot = {queue.queue, *position.integer};
  return success();
}

LogicalResult Tracer::fill(Operation *op, Value ring, Value cursor) {
  Slot slot;
  if (failed(slotOf(op, ring, cursor, slot)))
    return failure();
  actor.events.push_back({TraceEvent::Kind::Fill, op, slot, 0, 0});
  return success();
}

LogicalResult Tracer::await(Operation *op, Value ring, Value cursor) {
  Slot slot;
  if (failed(slotOf(op, ring, cursor, slot)))
    return failure();
  actor.events.push_back({TraceEvent::Kind::Await, op, slot, 0, 0});
  if (auto tile = dyn_cast<AwaitOp>(op))
    facts[tile.getTile()].slots = {slot};
  return success();
}

LogicalResult Tracer::release(Operation *op, Value ring, Value cursor) {
  Slot slot;
  if (failed(slotOf(op, ring, cursor, slot)))
    return failure();
  int64_t &next = released[slot.queue];
  if (slot.position != next)
    return op->emitOpError() << "order of releases: got slot " << slot.position
                             << " from the start of its ring, expected " << next
                             << ", as slots are loaded";
  ++next;
  for (const OpenProduct &reader : open)
    if (llvm::is_contained(reader.tiles, slot)) {
      InFlightDiagnostic error = op->emitOpError();
      error << "slot that a product still reads: got a release before the "
               "wait for the product, expected it after";
      error.attachNote(reader.op->getLoc()) << "the product";
      return error;
    }
  if (auto loaded = unconsumed.find(slot); loaded != unconsumed.end()) {
    InFlightDiagnostic error = op->emitOpError();
    error << "slot whose fragments are still being read: got a release before "
             "the wait for a product of the fragments, expected it after";
    error.attachNote(loaded->second->getLoc()) << "read here";
    return error;
  }
  actor.events.push_back({TraceEvent::Kind::Release, op, slot, 0, 0});
  return success();
}

LogicalResult Tracer::barrier(Operation *op, Value id, int64_t threads,
                              TraceEvent::Kind kind) {
  std::optional<int64_t> known = fact(id).integer;
  if (!known || *known < 1 || *known > 15) {
    InFlightDiagnostic error = op->emitOpError();
    error << "named barrier in " << describe(actor) << ": got ";
    if (known)
      error << *known << ", expected 1 to 15";
    else
      error << "an id that does not follow from the warp's number, expected "
               "one that does";
    return error;
  }
  actor.events.push_back({kind, op, Slot(), *known, threads});
  return success();
}

LogicalResult Tracer::runRing(Operation *op) {
  using Kind = TraceEvent::Kind;
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](CopyOp copy) {
        Fact &result = facts[copy.getResult()];
        result.queue = fact(copy.getSource()).queue;
        result.queue.copy = fact(copy.getIndex()).integer.value_or(-1);
        return success();
      })
      .Case([&](CursorOp cursor) {
        facts[cursor.getResult()].integer = 0;
        return success();
      })
      .Case([&](AdvanceOp advance) {
        if (std::optional<int64_t> from = fact(advance.getCursor()).integer)
          facts[advance.getResult()].integer = *from + int64_t(advance.getBy());
        return success();
      })
      .Case([&](LoadOp load) {
        return fill(op, load.getRing(), load.getCursor());
      })
      .Case([&](PostOp post) {
        return fill(op, post.getMailbox(), post.getCursor());
      })
      .Case([&](AwaitOp tile) {
        return await(op, tile.getRing(), tile.getCursor());
      })
      .Case([&](FetchOp fetch) {
        if (failed(await(op, fetch.getMailbox(), fetch.getCursor())))
          return failure();
        return release(op, fetch.getMailbox(), fetch.getCursor());
      })
      .Case([&](ReleaseOp slot) {
        return release(op, slot.getRing(), slot.getCursor());
      })
      .Case([&](BarrierSyncOp sync) {
        return barrier(op, sync.getId(), sync.getThreads(), Kind::Sync);
      })
      .Case([&](BarrierArriveOp arrive) {
        return barrier(op, arrive.getId(), arrive.getThreads(), Kind::Arrive);
      })
      .Case([&](RowsOp rows) {
        facts[rows.getResult()].slots = fact(rows.getTile()).slots;
        return success();
      })
      .Case([&](ScratchOp scratch) {
        std::optional<int64_t> index = fact(scratch.getIndex()).integer;
        if (!index)
          return LogicalResult(
              op->emitOpError()
              << "index: got one that does not follow from the warp's number, "
                 "expected one that does");
        int64_t bytes = scratch.getTile().getType().getBytes();
        int64_t begin = int64_t(scratch.getOffset()) + *index * bytes;
        facts[scratch.getTile()].slots = {{Queue(), begin}};
        actor.scratch.push_back({begin, begin + bytes, op});
        return success();
      })
      .Case([&](ScoresOp scores) {
        return product(op, scores.getA(), scores.getB(), scores.getResult());
      })
      .Case([&](AccumulateOp sum) {
        return product(op, sum.getA(), sum.getB(), sum.getResult());
      })
      .Case([&](WaitOp some) { return wait(some); })
      .Case([&](LoadOperandOp load) {
        SmallVector<Slot, 2> slots = fact(load.getTile()).slots;
        if (failed(readTile(op, load.getTile())) ||
            failed(defineOperand(op, load.getResult(), slots)))
          return failure();
        for (const Slot &slot : slots)
          unconsumed[slot] = op;
        return success();
      })
      .Case([&](ToOperandOp pack) {
        return defineOperand(op, pack.getResult(), {});
      })
      .Case([&](StoreOperandOp store) {
        for (const OpenProduct &reader : open)
          for (const Slot &slot : fact(store.getTile()).slots)
            if (llvm::is_contained(reader.tiles, slot)) {
              InFlightDiagnostic error = op->emitOpError();
              error << "tile that a product still reads: got a store before "
                       "the wait for the product, expected it after";
              error.attachNote(reader.op->getLoc()) << "the product";
              return LogicalResult(error);
            }
        return barrier(op, store.getBarrier(), 128, Kind::Sync);
      })
      .Default([](Operation *) { return success(); });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LogicalResult Tracer::readTile(Operation *op, Value tile) {
  for (const Slot &slot : fact(tile).slots)
    if (slot.queue.declaration && slot.position < released[slot.queue])
      return op->emitOpError()
             << "tile: got a slot that is released, expected one that is not";
  return success();
}

LogicalResult Tracer::readAccumulators(Operation *op) {
  if (isa<WaitOp>(op))
    return success();
  for (Value operand : op->getOperands()) {
    if (!isa<AccumulatorType>(operand.getType()))
      continue;
    // A product may go on from one that runs, and may ignore it.
    if (isa<AccumulateOp>(op) || fact(operand).product < 0)
      continue;
    return op->emitOpError() << "accumulator: got the result of a product, "
                                "expected what a wait for it gives back";
  }
  return success();
}

LogicalResult Tracer::product(Operation *op, Value a, ValueRange b,
                              Value result) {
  OpenProduct made;
  made.number = numProducts++;
  made.op = op;
  SmallVector<Value> tiles(b);
  if (isa<TileType>(a.getType())) {
    tiles.push_back(a);
  } else {
    Fact known = fact(a);
    made.operand = a;
    made.version = known.version;
    made.fragments = known.slots;
  }
  for (Value tile : tiles) {
    if (failed(readTile(op, tile)))
      return failure();
    made.tiles.append(fact(tile).slots);
  }
  open.push_back(std::move(made));
  Fact known;
  known.varies = true;
  known.product = open.back().number;
  facts[result] = known;
  return success();
}

LogicalResult Tracer::wait(WaitOp op) {
  while (open.size() > op.getPending()) {
    for (const Slot &slot : open.front().fragments)
      unconsumed.erase(slot);
    open.erase(open.begin());
  }
  for (auto [accumulator, result] :
       llvm::zip_equal(op.getAccumulators(), op.getResults())) {
    Fact known = fact(accumulator);
    for (const OpenProduct &running : open)
      if (running.number == known.product) {
        InFlightDiagnostic error = op.emitOpError();
        error << "accumulator of a product that may still run: got "
              << op.getPending() << " pending, expected at most "
              << (open.end() - &running) - 1;
        error.attachNote(running.op->getLoc()) << "the product";
        return error;
      }
    known.product = -1;
    facts[result] = known;
  }
  return success();
}

/// Whether nothing reads the operand of `reader` from `op` on.
bool Tracer::isDead(const OpenProduct &reader, Operation *op) {
  Value operand = reader.operand;
  // Bound anew, in a later round of a loop: the old value is gone.
  if (fact(operand).version != reader.version)
    return true;
  if (operand.getParentBlock() != op->getBlock())
    return false;
  for (Operation *user : operand.getUsers()) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    if (!here || here == op || op->isBeforeInBlock(here))
      return false;
  }
  return true;
}

LogicalResult Tracer::defineOperand(Operation *op, Value result,
                                    ArrayRef<Slot> slots) {
  for (const OpenProduct &reader : open) {
    if (!reader.operand || !isDead(reader, op))
      continue;
    InFlightDiagnostic error = op->emitOpError();
    error << "registers that a product still reads: got an operand that takes "
             "the place of the product's before the wait for it, expected it "
             "after";
    error.attachNote(reader.op->getLoc()) << "the product";
    return error;
  }
  Fact known;
  known.varies = true;
  known.version = numVersions++;
  known.slots = SmallVector<Slot, 2>(slots);
  facts[result] = known;
  return success();
}

//===- Tracer.h - Follows one actor of a Hopper kernel ----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_TRANSFORMS_KERNEL_TRACER_H
#define SPARSEATTN_LIB_TRANSFORMS_KERNEL_TRACER_H

#include "KernelTrace.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>

namespace mlir {
namespace sparseattn {

/// What is known of a value.
struct Fact {
  /// Differs between the lanes of a warp.
  bool varies = false;
  /// The value of an integer; of a cursor its position.
  std::optional<int64_t> integer;
  Queue queue;
  /// Of a tile: what it may be. Of an operand: where it was read from.
  SmallVector<Slot, 2> slots;
  /// Of an accumulator: the product that makes it, until a wait gives it back.
  int64_t product = -1;
  /// Which definition of an operand this is.
  int64_t version = -1;
};

/// A product that may still run.
struct OpenProduct {
  int64_t number;
  Operation *op;
  SmallVector<Slot, 4> tiles;
  /// The A operand in registers, if it is there.
  Value operand;
  int64_t version = -1;
  SmallVector<Slot, 2> fragments;
};

class Tracer {
public:
  Tracer(Actor &actor, const Schedule &schedule)
      : actor(actor), schedule(schedule),
        oneThread(actor.role.getSingleThread()) {}

  LogicalResult run() {
    Block &body = actor.role.getBody().front();
    facts[body.getArgument(0)].integer = actor.warp;
    facts[body.getArgument(1)].varies = true;
    return runBlock(body);
  }

private:
  Fact fact(Value value);
  void carry(ValueRange from, ValueRange to);
  LogicalResult runBlock(Block &block);
  LogicalResult runOp(Operation *op);
  LogicalResult runFor(scf::ForOp op);
  LogicalResult runWhile(scf::WhileOp op);
  LogicalResult runIf(scf::IfOp op);
  LogicalResult runUniform(Operation *op, Value condition);
  void runPlain(Operation *op);
  void summarize(Operation *op);
  int64_t roundsOf(std::optional<int64_t> known);
  /// Begins a round of a loop; of an outer one with its number of steps.
  void enterLoop();

  LogicalResult runRing(Operation *op);
  LogicalResult fill(Operation *op, Value ring, Value cursor);
  LogicalResult await(Operation *op, Value ring, Value cursor);
  LogicalResult release(Operation *op, Value ring, Value cursor);
  LogicalResult barrier(Operation *op, Value id, int64_t threads,
                        TraceEvent::Kind kind);
  LogicalResult slotOf(Operation *op, Value ring, Value cursor, Slot &slot);
  LogicalResult product(Operation *op, Value a, ValueRange b, Value result);
  LogicalResult wait(sa_sm90::WaitOp op);
  LogicalResult readTile(Operation *op, Value tile);
  LogicalResult readAccumulators(Operation *op);
  LogicalResult defineOperand(Operation *op, Value result,
                              ArrayRef<Slot> slots);
  bool isDead(const OpenProduct &reader, Operation *op);

  Actor &actor;
  const Schedule &schedule;
  bool oneThread;
  llvm::DenseMap<Value, Fact> facts;
  SmallVector<OpenProduct> open;
  /// Slots read into registers that no completed product has used, and where.
  std::map<Slot, Operation *> unconsumed;
  std::map<Queue, int64_t> released;
  int64_t numProducts = 0, numVersions = 0, depth = 0, numRounds = 0;
  /// Steps left to this round of the outer loop.
  int64_t steps = 0;
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_TRANSFORMS_KERNEL_TRACER_H

//===- KernelTrace.cpp - What the roles of a Hopper kernel do in order ----===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Tracer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

std::vector<Actor> sparseattn::listActors(KernelOp kernel) {
  std::vector<Actor> actors;
  for (RoleOp role : kernel.getBody().getOps<RoleOp>()) {
    auto warps = int64_t(role.getWarps());
    bool groups = !role.getSingleThread() && warps % 4 == 0;
    for (int64_t warp = 0; warp < warps; warp += groups ? 4 : 1)
      actors.push_back({role, warp, groups ? 4 : 1, {}, {}});
  }
  return actors;
}

std::string sparseattn::describe(const Actor &actor) {
  RoleOp role = actor.role;
  return ("role \"" + role.getName() + "\" from warp " +
          Twine(int64_t(role.getFirstWarp()) + actor.warp))
      .str();
}

namespace {
bool isSm90Type(Type type) {
  return isa<AccumulatorType, OperandType, TileType, RingType, MailboxType,
             CursorType>(type);
}

/// Whether `op` holds operations or makes values of the dialect.
bool concernsKernel(Operation *op) {
  if (llvm::any_of(op->getResultTypes(), isSm90Type))
    return true;
  WalkResult walk = op->walk([](Operation *inner) {
    return isa<Sm90Dialect>(inner->getDialect()) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// Whether `op` holds operations that other roles meet.
bool communicates(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<LoadOp, AwaitOp, ReleaseOp, PostOp, FetchOp, BarrierSyncOp,
                   BarrierArriveOp, StoreOperandOp>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether lanes get different results from the same operands.
bool isVaryingSource(Operation *op) {
  return isa<NVVM::ThreadIdXOp, NVVM::LaneIdOp, LLVM::AtomicRMWOp,
             LLVM::InlineAsmOp, RowMaxOp, RowSumOp, QuadSumOp>(op);
}

/// Whether all lanes get the same result whatever the operands.
bool isUniformSource(Operation *op) {
  if (auto shuffle = dyn_cast<NVVM::ShflOp>(op))
    return shuffle.getKind() == NVVM::ShflKind::idx;
  return isa<NVVM::VoteSyncOp, FetchOp>(op);
}
} // namespace

//===----------------------------------------------------------------------===//
// Values and control flow
//===----------------------------------------------------------------------===//

Fact Tracer::fact(Value value) {
  auto found = facts.find(value);
  if (found != facts.end())
    return found->second;
  // From outside the role: declarations and constants of the kernel.
  Fact known;
  if (Operation *op = value.getDefiningOp()) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      known.integer = constant.getSExtValue();
    if (isa<RingOp, MailboxOp>(op))
      known.queue = {op, 0};
  }
  return known;
}

void Tracer::carry(ValueRange from, ValueRange to) {
  SmallVector<Fact> carried;
  for (Value value : from)
    carried.push_back(fact(value));
  for (auto [value, known] : llvm::zip_equal(to, carried))
    facts[value] = known;
}

LogicalResult Tracer::runBlock(Block &block) {
  for (Operation &op : block)
    if (failed(runOp(&op)))
      return failure();
  return success();
}

/// Follows an operation without regions: constants fold, what varies stays so.
void Tracer::runPlain(Operation *op) {
  bool varies = isVaryingSource(op);
  SmallVector<Attribute> constants;
  for (Value operand : op->getOperands()) {
    Fact known = fact(operand);
    varies |= known.varies;
    Attribute constant;
    if (known.integer && isa<IntegerType>(operand.getType()))
      constant = IntegerAttr::get(operand.getType(), *known.integer);
    constants.push_back(constant);
  }
  if (isUniformSource(op))
    varies = false;
  for (Value result : op->getResults()) {
    Fact known;
    known.varies = varies;
    facts[result] = known;
  }
  if (op->getNumResults() != 1 || !isa<IntegerType>(op->getResult(0).getType()))
    return;
  Fact &known = facts[op->getResult(0)];
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
      known.integer = integer.getValue().getSExtValue();
    return;
  }
  SmallVector<OpFoldResult> folded;
  if (!isa<arith::ArithDialect>(op->getDialect()) ||
      failed(op->fold(constants, folded)) || folded.size() != 1)
    return;
  if (auto attribute = dyn_cast<Attribute>(folded.front())) {
    if (auto integer = dyn_cast<IntegerAttr>(attribute))
      known.integer = integer.getValue().getSExtValue();
  } else {
    known.integer = fact(cast<Value>(folded.front())).integer;
  }
}

/// Results of control flow that does not concern the kernel's structure.
void Tracer::summarize(Operation *op) {
  bool varies = false;
  op->walk([&](Operation *inner) {
    varies |= isVaryingSource(inner);
    for (Value operand : inner->getOperands())
      varies |= fact(operand).varies;
  });
  for (Value result : op->getResults()) {
    Fact known;
    known.varies = varies;
    facts[result] = known;
  }
}

LogicalResult Tracer::runUniform(Operation *op, Value condition) {
  if (oneThread || !fact(condition).varies)
    return success();
  return op->emitError() << "control flow around operations of a warp: got a "
                            "condition that differs between its lanes, "
                            "expected one that is the same";
}

int64_t Tracer::roundsOf(std::optional<int64_t> known) {
  constexpr int64_t most = 8;
  if (known)
    return std::min(*known, most);
  return depth == 0 ? schedule.outer : steps;
}

void Tracer::enterLoop() {
  if (++depth == 1)
    steps = schedule.inner[numRounds++ % 2];
}

LogicalResult Tracer::runFor(scf::ForOp op) {
  for (Value bound : {op.getLowerBound(), op.getUpperBound(), op.getStep()})
    if (failed(runUniform(op, bound)))
      return failure();
  std::optional<int64_t> begin = fact(op.getLowerBound()).integer,
                         end = fact(op.getUpperBound()).integer,
                         step = fact(op.getStep()).integer, known;
  if (begin && end && step && *step > 0)
    known = *begin < *end ? (*end - *begin + *step - 1) / *step : 0;
  int64_t rounds = roundsOf(known);
  Block &body = *op.getBody();
  carry(op.getInitArgs(), op.getRegionIterArgs());
  for (int64_t i = 0; i < rounds; ++i) {
    Fact counter;
    if (begin && step)
      counter.integer = *begin + i * *step;
    facts[op.getInductionVar()] = counter;
    enterLoop();
    if (failed(runBlock(body)))
      return failure();
    --depth;
    carry(body.getTerminator()->getOperands(), op.getRegionIterArgs());
  }
  carry(op.getRegionIterArgs(), op.getResults());
  return success();
}

LogicalResult Tracer::runWhile(scf::WhileOp op) {
  Block &before = *op.getBeforeBody(), &after = *op.getAfterBody();
  carry(op.getInits(), before.getArguments());
  std::optional<int64_t> rounds;
  for (int64_t i = 0;; ++i) {
    enterLoop();
    if (failed(runBlock(before)))
      return failure();
    --depth;
    auto condition = cast<scf::ConditionOp>(before.getTerminator());
    if (failed(runUniform(op, condition.getCondition())))
      return failure();
    if (!rounds)
      rounds = roundsOf(std::nullopt);
    std::optional<int64_t> known = fact(condition.getCondition()).integer;
    if ((known && *known == 0) || i >= *rounds) {
      carry(condition.getArgs(), op.getResults());
      return success();
    }
    carry(condition.getArgs(), after.getArguments());
    ++depth;
    if (failed(runBlock(after)))
      return failure();
    --depth;
    carry(after.getTerminator()->getOperands(), before.getArguments());
  }
}

LogicalResult Tracer::runIf(scf::IfOp op) {
  if (failed(runUniform(op, op.getCondition())))
    return failure();
  std::optional<int64_t> known = fact(op.getCondition()).integer;
  bool taken = schedule.compute;
  if (known)
    taken = *known != 0;
  else if (communicates(op) && depth == 0)
    taken = schedule.communicate;
  else if (communicates(op))
    // A step of the inner loop that stands before it.
    taken = steps > 0 && steps-- > 0;
  Region &region = taken ? op.getThenRegion() : op.getElseRegion();
  if (region.empty())
    return success();
  if (failed(runBlock(region.front())))
    return failure();
  carry(region.front().getTerminator()->getOperands(), op.getResults());
  return success();
}

LogicalResult Tracer::runOp(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return success();
  if (op->getNumRegions() != 0) {
    if (!concernsKernel(op)) {
      summarize(op);
      return success();
    }
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](scf::ForOp loop) { return runFor(loop); })
        .Case([&](scf::WhileOp loop) { return runWhile(loop); })
        .Case([&](scf::IfOp branch) { return runIf(branch); })
        .Default([](Operation *other) {
          return other->emitOpError()
                 << "control flow around operations of a kernel: got "
                 << other->getName()
                 << ", expected scf.for, scf.while or scf.if";
        });
  }
  runPlain(op);
  if (auto select = dyn_cast<arith::SelectOp>(op);
      select && isSm90Type(select.getType())) {
    Fact a = fact(select.getTrueValue()), b = fact(select.getFalseValue());
    std::optional<int64_t> known = fact(select.getCondition()).integer;
    if (!known)
      a.slots.append(b.slots);
    facts[select] = known && *known == 0 ? b : a;
    return success();
  }
  if (!isa<Sm90Dialect>(op->getDialect()))
    return success();
  if (failed(readAccumulators(op)))
    return failure();
  return runRing(op);
}

LogicalResult sparseattn::traceActor(Actor &actor, const Schedule &schedule) {
  actor.events.clear();
  actor.scratch.clear();
  return Tracer(actor, schedule).run();
}

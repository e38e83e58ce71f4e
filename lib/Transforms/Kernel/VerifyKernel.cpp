//===- VerifyKernel.cpp - Checks Hopper kernels as a whole ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Transforms/Kernel/Passes.h"

#include "KernelTrace.h"

#include <array>

namespace mlir::sparseattn {
#define GEN_PASS_DEF_VERIFYKERNELPASS
#include "sparseattn/Transforms/Kernel/Passes.h.inc"
} // namespace mlir::sparseattn

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// A CTA reallocates the registers that it had at entry, no others; asking for
/// more hangs the device without a message.
static LogicalResult checkRegisters(KernelOp kernel) {
  auto entry = int64_t(kernel.getEntryRegisters());
  int64_t groups = int64_t(kernel.getThreads()) / 128, sum = 0;
  for (int64_t group = 0; group < groups; ++group) {
    int64_t registers = entry;
    for (RoleOp role : kernel.getBody().getOps<RoleOp>()) {
      auto first = int64_t(role.getFirstWarp());
      int64_t last = first + int64_t(role.getWarps()) - 1;
      if (first / 4 <= group && group <= last / 4)
        registers = role.getRegisters();
    }
    sum += 128 * registers;
  }
  int64_t most = entry * int64_t(kernel.getThreads());
  if (sum <= most)
    return success();
  return kernel.emitOpError() << "registers of all roles: got " << sum
                              << ", expected at most those at entry, " << most;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

namespace {
struct Range {
  int64_t begin, end;
  Operation *op;
  std::string what;
};
} // namespace

template <typename Op>
static void listRanges(Op op, int64_t stages, int64_t bytes,
                       std::vector<Range> &ranges) {
  for (int64_t copy = 0; copy < int64_t(op.getCopies()); ++copy) {
    int64_t moved = copy * int64_t(op.getCopyStride());
    int64_t slots = int64_t(op.getOffset()) + moved;
    int64_t barriers = int64_t(op.getBarriers()) + moved;
    ranges.push_back({slots, slots + stages * bytes, op, "slots"});
    ranges.push_back({barriers, barriers + 16 * stages, op, "barriers"});
  }
}

/// Two different things may not share a byte. Scratch memory is listed actor by
/// actor: one actor may use a tile of its own again and again.
static LogicalResult checkShared(KernelOp kernel, ArrayRef<Actor> actors) {
  std::vector<Range> ranges;
  for (RingOp ring : kernel.getBody().getOps<RingOp>()) {
    RingType type = ring.getRing().getType();
    listRanges(ring, type.getStages(), type.getTile().getBytes(), ranges);
  }
  for (MailboxOp mailbox : kernel.getBody().getOps<MailboxOp>())
    listRanges(mailbox, mailbox.getMailbox().getType().getStages(), 16, ranges);
  std::vector<std::pair<Range, const Actor *>> scratch;
  for (const Actor &actor : actors)
    for (auto [begin, end, op] : actor.scratch)
      scratch.push_back({{begin, end, op, "tile"}, &actor});
  auto check = [&](const Range &a, const Range &b) -> LogicalResult {
    if (a.begin >= b.end || b.begin >= a.end)
      return success();
    InFlightDiagnostic error = b.op->emitOpError();
    error << b.what << " in shared memory: got bytes " << b.begin << " to "
          << b.end << ", which overlap " << a.begin << " to " << a.end
          << " of the " << a.what << " of " << a.op->getName()
          << ", expected bytes of their own";
    error.attachNote(a.op->getLoc()) << "the other one";
    return error;
  };
  for (size_t i = 0; i < ranges.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (failed(check(ranges[j], ranges[i])))
        return failure();
  auto most = int64_t(kernel.getSharedBytes());
  for (size_t i = 0; i < scratch.size(); ++i) {
    const Range &own = scratch[i].first;
    if (own.begin < 0 || own.end > most)
      return own.op->emitOpError()
             << "tile in shared memory: got bytes " << own.begin << " to "
             << own.end << ", expected at most the kernel's " << most;
    for (const Range &other : ranges)
      if (failed(check(other, own)))
        return failure();
    for (size_t j = 0; j < i; ++j)
      if (scratch[j].second != scratch[i].second &&
          failed(check(scratch[j].first, own)))
        return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Runs of few rounds, in all combinations: positions in rings count on, so
/// that more rounds bring nothing new once every loop was entered from every
/// other one.
static std::vector<Schedule> listSchedules() {
  std::vector<Schedule> schedules;
  constexpr int64_t most = 2;
  // The longest first: what they show is told best.
  for (bool compute : {true, false})
    for (int64_t outer = most; outer >= 0; --outer)
      for (int64_t first = most; first >= 0; --first)
        for (int64_t second = most; second >= 0; --second)
          schedules.push_back({outer, {first, second}, true, compute});
  schedules.push_back({0, {0, 0}, false, true});
  return schedules;
}

LogicalResult sparseattn::verifyKernel(KernelOp kernel) {
  if (failed(checkRegisters(kernel)))
    return failure();
  std::vector<Actor> actors = listActors(kernel);
  bool first = true;
  for (const Schedule &schedule : listSchedules()) {
    for (Actor &actor : actors)
      if (failed(traceActor(actor, schedule)))
        return failure();
    if (first && failed(checkShared(kernel, actors)))
      return failure();
    first = false;
    if (failed(replayActors(actors)))
      return failure();
  }
  return success();
}

namespace {
struct VerifyKernel : sparseattn::impl::VerifyKernelPassBase<VerifyKernel> {
  void runOnOperation() override {
    WalkResult walk = getOperation().walk([&](KernelOp kernel) {
      if (failed(verifyKernel(kernel)))
        return WalkResult::interrupt();
      ++numKernels;
      return WalkResult::skip();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

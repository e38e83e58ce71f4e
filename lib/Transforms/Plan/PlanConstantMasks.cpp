//===- PlanConstantMasks.cpp - Plan the masks that are known now ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sart::makePlan for each mask: linear in its tiles, then the planner's own
// complexity (Planner.h).
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Transforms/Plan/Passes.h"

#include "PlanChain.h"

#include "sparseattn/Target/Plan/Plan.h"

using namespace mlir;
using namespace mlir::sparseattn;

namespace mlir::sparseattn {
#define GEN_PASS_DEF_PLANCONSTANTMASKSPASS
#include "sparseattn/Transforms/Plan/Passes.h.inc"
} // namespace mlir::sparseattn

namespace {
struct PlanConstantMasksPass
    : mlir::sparseattn::impl::PlanConstantMasksPassBase<PlanConstantMasksPass> {
  void runOnOperation() override;

private:
  LogicalResult plan(BalanceOp balance);
};
} // namespace

LogicalResult PlanConstantMasksPass::plan(BalanceOp balance) {
  auto constant =
      dyn_cast_if_present<ExplicitMaskOp>(findMaskSource(balance.getMask()));
  if (!constant) {
    ++numRouted;
    return success();
  }
  if (balance.getFixedPlanAttr()) {
    ++numWritten;
    return success();
  }
  PlaceOp place = findPlace(balance.getPlan());
  if (!place)
    return balance.emitOpError("placement of a constant mask: got a plan made "
                               "by ")
           << describeSource(balance.getPlan())
           << ", expected one that goes back to 'sparseattn.place'";
  FailureOr<sart::Placement> placement =
      toPlacement(place, constant.getMask().getType());
  if (failed(placement))
    return failure();
  if (placement->shape.heads != constant.getMask().getType().getHeads() ||
      placement->shape.sq != constant.getMask().getType().getSq() ||
      placement->shape.skv != constant.getMask().getType().getSkv())
    return balance.emitOpError("heads x tokens of mask must equal those of the "
                               "placed q and k: got ")
           << constant.getMask().getType().getHeads() << "x"
           << constant.getMask().getType().getSq() << "x"
           << constant.getMask().getType().getSkv() << ", expected "
           << placement->shape.heads << "x" << placement->shape.sq << "x"
           << placement->shape.skv;
  sart::Expected<sart::Plan> made =
      sart::makePlan(sart::summarize(toBlockMask(constant), *placement),
                     *placement, toPlannerOptions(balance, AugmentOp()));
  if (!made)
    return balance.emitOpError("plan: ") << made.message();
  PlanAttr attr = fromPlan(&getContext(), *made);
  if (!attr)
    return failure();
  balance.setFixedPlanAttr(attr);
  ++numPlanned;
  numMoves += made->moves.size();
  return success();
}

void PlanConstantMasksPass::runOnOperation() {
  WalkResult result = getOperation()->walk([&](BalanceOp balance) {
    return failed(plan(balance)) ? WalkResult::interrupt()
                                 : WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}

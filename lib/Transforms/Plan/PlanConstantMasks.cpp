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

#include "sparseattn/Dialect/SparseAttn/IR/MaskBits.h"
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
  MaskType mask = constant.getMask().getType();
  if (failed(checkListedTiles(constant, mask)))
    return failure();
  PlaceOp place = findPlace(balance.getPlan());
  if (!place)
    return balance.emitOpError("placement of a constant mask: got a plan made "
                               "by ")
           << describeSource(balance.getPlan())
           << ", expected one that goes back to 'sparseattn.place'";
  FailureOr<sart::Placement> placement = toPlacement(place, mask);
  if (failed(placement))
    return failure();
  const sart::LayerShape &shape = placement->shape;
  if (shape.heads != mask.getHeads() || shape.sq != mask.getSq() ||
      shape.skv != mask.getSkv())
    return balance.emitOpError("heads x tokens of mask must equal those of the "
                               "placed q and k: got ")
           << mask.getHeads() << "x" << mask.getSq() << "x" << mask.getSkv()
           << ", expected " << shape.heads << "x" << shape.sq << "x"
           << shape.skv;
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

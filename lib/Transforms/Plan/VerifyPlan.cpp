//===- VerifyPlan.cpp - Check what the plan phase guarantees --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules 1 to 6 of the pass's description. Linear in the ops and in the tiles of
// constant masks.
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Transforms/Plan/Passes.h"

#include "PlanChain.h"

#include "sparseattn/Dialect/SparseAttn/IR/MaskBits.h"
#include "sparseattn/Target/Plan/Plan.h"

#include <set>
#include <tuple>

using namespace mlir;
using namespace mlir::sparseattn;

namespace mlir::sparseattn {
#define GEN_PASS_DEF_VERIFYPLANPASS
#include "sparseattn/Transforms/Plan/Passes.h.inc"
} // namespace mlir::sparseattn

namespace {
struct VerifyPlanPass
    : mlir::sparseattn::impl::VerifyPlanPassBase<VerifyPlanPass> {
  void runOnOperation() override;
};

/// The ops that carry one attend's plan.
struct PlanOps {
  AttendOp attend;
  DemandOp demand;
  BalanceOp balance;
  PlaceOp place;
};
} // namespace

/// Rule 1.
static LogicalResult findPlanOps(AttendOp attend, PlanOps &ops) {
  ops.attend = attend;
  if (!attend.getPlan())
    return attend.emitOpError("plan: got none, expected one (run "
                              "sparseattn-insert-plan first)");
  ops.demand = attend.getPlan().getDefiningOp<DemandOp>();
  if (!ops.demand)
    return attend.emitOpError("source of the plan: got ")
           << describeSource(attend.getPlan())
           << ", expected 'sparseattn.demand'";
  ops.balance = ops.demand.getPlan().getDefiningOp<BalanceOp>();
  if (!ops.balance)
    return ops.demand.emitOpError("source of the plan: got ")
           << describeSource(ops.demand.getPlan())
           << ", expected 'sparseattn.balance'";
  ops.place = ops.balance.getPlan().getDefiningOp<PlaceOp>();
  if (!ops.place)
    return ops.balance.emitOpError("source of the plan: got ")
           << describeSource(ops.balance.getPlan())
           << ", expected 'sparseattn.place'";
  return success();
}

/// Rule 2.
static FailureOr<sart::Placement> verifyPlacement(const PlanOps &ops) {
  PlaceOp place = ops.place;
  AttendOp attend = ops.attend;
  MaskType mask = attend.getMask().getType();
  PlacementAttr placement = place.getPlacement();
  std::tuple<StringRef, int64_t, int64_t> sizes[] = {
      {"heads", placement.getHeads(), mask.getHeads()},
      {"q-blocks", placement.getQBlocks(), mask.getQBlocks()},
      {"kv-blocks", placement.getKvBlocks(), mask.getKvBlocks()},
      {"tokens of q", place.getQ().getType().getDimSize(1), mask.getSq()},
      {"tokens of k", place.getK().getType().getDimSize(1), mask.getSkv()}};
  for (auto [what, got, expected] : sizes)
    if (got != expected)
      return place.emitOpError()
             << what << " of a placement must equal those of the mask: got "
             << got << ", expected " << expected;
  return toPlacement(place, mask);
}

/// Rule 3.
static LogicalResult verifyMasks(const PlanOps &ops) {
  AttendOp attend = ops.attend;
  DemandOp demand = ops.demand;
  BalanceOp balance = ops.balance;
  if (demand.getMask() != attend.getMask())
    return demand.emitOpError("mask must be the one that is attended: got ")
           << describeSource(demand.getMask()) << ", expected "
           << describeSource(attend.getMask());
  Value balanced = attend.getMask();
  if (auto augment = balanced.getDefiningOp<AugmentOp>()) {
    if (augment.getPlan() != balance.getResult())
      return augment.emitOpError("plan must be the balanced one: got ")
             << describeSource(augment.getPlan())
             << ", expected the 'sparseattn.balance' of attend's plan";
    balanced = augment.getMask();
  }
  if (balance.getMask() != balanced)
    return balance.emitOpError("mask must be the one that is attended: got ")
           << describeSource(balance.getMask()) << ", expected "
           << describeSource(balanced);
  return success();
}

/// Rule 4, one tensor on its way in.
static LogicalResult verifyInput(Operation *user, StringRef name, Value value,
                                 Value plan, StringRef source) {
  auto reshard = value.getDefiningOp<ReshardOp>();
  if (!reshard || reshard.getLayout() != Layout::Heads)
    return user->emitOpError()
           << name << " must be in heads layout: got "
           << (reshard ? "a reshard to sequence" : describeSource(value))
           << ", expected a 'sparseattn.reshard' to heads";
  if (reshard.getPlan() != plan)
    return reshard.emitOpError("plan of ")
           << name << " must be that of '" << source << "': got "
           << describeSource(reshard.getPlan());
  if (auto again = reshard.getInput().getDefiningOp<ReshardOp>())
    return reshard.emitOpError("input of a reshard to heads: got another "
                               "reshard, expected a tensor in sequence layout");
  return success();
}

/// Rule 4.
static LogicalResult verifyLayouts(const PlanOps &ops) {
  AttendOp attend = ops.attend;
  BalanceOp balance = ops.balance;
  PlaceOp place = ops.place;
  bool pre = balance.getAlgorithm() == BalanceAlgorithm::Pre;
  if (pre != place.getPlacement().getBlockShards())
    return place.emitOpError("shards of the placement: got ")
           << (pre ? "even parts" : "block_shards") << ", expected "
           << (pre ? "block_shards" : "even parts") << " under the algorithm "
           << stringifyBalanceAlgorithm(balance.getAlgorithm());
  // Before the plan tensors go where the placement says; with pre they wait.
  Value plan = pre ? attend.getPlan() : Value(place.getPlan());
  StringRef source = pre ? "sparseattn.demand" : "sparseattn.place";
  if (failed(verifyInput(attend, "q", attend.getQ(), plan, source)) ||
      failed(verifyInput(attend, "k", attend.getK(), plan, source)) ||
      failed(verifyInput(attend, "v", attend.getV(), plan, source)))
    return failure();
  if (auto route =
          dyn_cast_if_present<RouteOp>(findMaskSource(attend.getMask())))
    for (Value pooled : {route.getPooledQ(), route.getPooledK()}) {
      auto pool = pooled.getDefiningOp<PoolOp>();
      if (!pool)
        continue;
      if (pre && pool.getInput().getDefiningOp<ReshardOp>())
        return pool.emitOpError("input must be in sequence layout under the "
                                "algorithm pre: got a reshard to heads");
      if (!pre &&
          failed(verifyInput(pool, "input", pool.getInput(), plan, source)))
        return failure();
    }
  for (OpResult result : attend->getResults())
    for (Operation *user : result.getUsers()) {
      auto reshard = dyn_cast<ReshardOp>(user);
      if (!reshard || reshard.getLayout() != Layout::Sequence)
        return user->emitOpError("use of a result of attend in heads layout: "
                                 "got '")
               << user->getName()
               << "', expected a 'sparseattn.reshard' to sequence";
      if (reshard.getPlan() != attend.getPlan())
        return reshard.emitOpError("plan of a result must be that of attend: "
                                   "got ")
               << describeSource(reshard.getPlan());
    }
  return success();
}

/// Rule 6: every kv-block that the constant mask needs is in a transfer.
static LogicalResult verifyTransfers(BalanceOp balance, ExplicitMaskOp mask,
                                     const sart::Plan &plan,
                                     const sart::Placement &placement) {
  using Block = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>;
  auto blocksOf = [](const std::vector<sart::KvTransfer> &transfers) {
    std::set<Block> blocks;
    for (const sart::KvTransfer &t : transfers)
      for (sart::Range range : t.blocks)
        for (int64_t b = range.begin; b < range.end; ++b)
          blocks.insert({t.kvHead, t.ulysses, t.from, t.to, b});
    return blocks;
  };
  if (failed(checkListedTiles(mask, mask.getMask().getType())))
    return failure();
  std::set<Block> written = blocksOf(plan.transfers);
  std::set<Block> needed = blocksOf(
      sart::computeDemand(sart::summarize(toBlockMask(mask), placement),
                          placement, plan.owners(placement), plan.rowMoves));
  for (auto [kvHead, ulysses, from, to, block] : needed)
    if (!written.count({kvHead, ulysses, from, to, block}))
      return balance.emitOpError("transfers of the plan must hold what the "
                                 "mask needs: got none of kv-block ")
             << block << ", expected [" << kvHead << ", " << ulysses << ", "
             << from << ", " << to << ", [" << block << ", " << block + 1
             << "]]";
  return success();
}

/// Rules 5 and 6.
static LogicalResult verifyFixedPlan(const PlanOps &ops,
                                     const sart::Placement &placement) {
  BalanceOp balance = ops.balance;
  AttendOp attend = ops.attend;
  auto constant =
      dyn_cast_if_present<ExplicitMaskOp>(findMaskSource(attend.getMask()));
  PlanAttr attr = balance.getFixedPlanAttr();
  if (!attr) {
    if (!constant)
      return success();
    return balance.emitOpError("plan of a constant mask: got none, expected "
                               "one (run sparseattn-plan-constant-masks "
                               "first)");
  }
  sart::Plan plan = toPlan(attr);
  if (sart::Status status = plan.verify(placement); !status.ok())
    return balance.emitOpError("plan: ") << status.message();
  if (!constant)
    return success();
  if (!plan.extras.empty())
    return balance.emitOpError("extras in the plan of a constant mask: got ")
           << plan.extras.size()
           << ", expected 0: extra tiles follow routing scores";
  return verifyTransfers(balance, constant, plan, placement);
}

static LogicalResult verifyAttend(AttendOp attend) {
  PlanOps ops;
  if (failed(findPlanOps(attend, ops)))
    return failure();
  FailureOr<sart::Placement> placement = verifyPlacement(ops);
  return failure(failed(placement) || failed(verifyMasks(ops)) ||
                 failed(verifyLayouts(ops)) ||
                 failed(verifyFixedPlan(ops, *placement)));
}

void VerifyPlanPass::runOnOperation() {
  WalkResult result = getOperation()->walk([&](AttendOp attend) {
    if (failed(verifyAttend(attend)))
      return WalkResult::interrupt();
    ++numVerified;
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return signalPassFailure();
  markAllAnalysesPreserved();
}

//===- InsertPlan.cpp - Place a layer and balance its work ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops are inserted where their operands are first known: place and the
// reshards of q and k at the entry, balance, augment and demand after the mask,
// the reshard of v before attend. Linear in the ops.
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Transforms/Plan/Passes.h"

#include "PlanChain.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sparseattn;

namespace mlir::sparseattn {
#define GEN_PASS_DEF_INSERTPLANPASS
#include "sparseattn/Transforms/Plan/Passes.h.inc"
} // namespace mlir::sparseattn

namespace {
struct InsertPlanPass
    : mlir::sparseattn::impl::InsertPlanPassBase<InsertPlanPass> {
  using InsertPlanPassBase::InsertPlanPassBase;
  void runOnOperation() override;

private:
  LogicalResult checkOptions();
  LogicalResult runOnLayer(func::FuncOp layer);
  LogicalResult keepPlan(PlaceOp place, AttendOp attend);
  LogicalResult insertPlan(AttendOp attend);

  std::optional<BalanceAlgorithm> algorithm;
};
} // namespace

LogicalResult InsertPlanPass::checkOptions() {
  if (ulysses < 0 || ring < 0)
    return getOperation().emitError("options ulysses and ring: got ")
           << ulysses.getValue() << " and " << ring.getValue()
           << ", expected at least 1, or 0 for the layer's own";
  // The attribute bounds the ranks; its message is shown at the module.
  auto emitError = [&] { return getOperation().emitError(); };
  if (failed(MeshAttr::verify(emitError, std::max<int64_t>(ulysses, 1),
                              std::max<int64_t>(ring, 1))))
    return failure();
  if (balance.empty())
    return success();
  algorithm = symbolizeBalanceAlgorithm(balance);
  if (!algorithm)
    return getOperation().emitError("option balance: got '")
           << balance.getValue() << "', expected none, swap, split or pre";
  return success();
}

/// A layer with a plan: the options must agree with it or be left out.
LogicalResult InsertPlanPass::keepPlan(PlaceOp place, AttendOp attend) {
  MeshAttr mesh = place.getMesh();
  if ((ulysses != 0 && ulysses != mesh.getUlysses()) ||
      (ring != 0 && ring != mesh.getRing()))
    return place.emitOpError("mesh of a layer that has a plan: got ulysses = ")
           << mesh.getUlysses() << ", ring = " << mesh.getRing()
           << ", expected ulysses = "
           << (ulysses ? ulysses.getValue() : mesh.getUlysses())
           << ", ring = " << (ring ? ring.getValue() : mesh.getRing())
           << " as the options say";
  BalanceOp written =
      attend.getPlan() ? findBalance(attend.getPlan()) : BalanceOp();
  if (algorithm && written && written.getAlgorithm() != *algorithm)
    return written.emitOpError("algorithm of a layer that has a plan: got ")
           << stringifyBalanceAlgorithm(written.getAlgorithm()) << ", expected "
           << stringifyBalanceAlgorithm(*algorithm) << " as the options say";
  if (repair && (!written || !written.getRepair()))
    return attend.emitOpError("balance of a layer that has a plan: got one "
                              "without repair, expected repair as the options "
                              "say");
  if (augment && !attend.getMask().getDefiningOp<AugmentOp>())
    return attend.emitOpError("mask of a layer that has a plan: got ")
           << describeSource(attend.getMask())
           << ", expected 'sparseattn.augment' as the options say";
  ++numKept;
  return success();
}

static LogicalResult checkArguments(AttendOp attend) {
  std::pair<StringRef, Value> operands[] = {
      {"q", attend.getQ()}, {"k", attend.getK()}, {"v", attend.getV()}};
  for (auto [name, value] : operands)
    if (!isa<BlockArgument>(value))
      return attend.emitOpError()
             << name << ": got a value made by " << describeSource(value)
             << ", expected an argument of the layer";
  return success();
}

LogicalResult InsertPlanPass::insertPlan(AttendOp attend) {
  if (failed(checkArguments(attend)))
    return failure();
  Operation *source = findMaskSource(attend.getMask());
  if (!isa_and_present<RouteOp, ExplicitMaskOp>(source))
    return attend.emitOpError("source of the mask: got ")
           << describeSource(attend.getMask())
           << ", expected 'sparseattn.route' or 'sparseattn.explicit_mask'";
  if (augment && !isa<RouteOp>(source))
    return attend.emitOpError("mask to augment: got one made by '")
           << source->getName()
           << "', expected 'sparseattn.route': extra tiles follow its scores";

  // Entry.
  MLIRContext *context = attend.getContext();
  MaskType mask = attend.getMask().getType();
  Value q = attend.getQ(), k = attend.getK(), v = attend.getV();
  OpBuilder builder(context);
  builder.setInsertionPointToStart(attend->getBlock());
  auto mesh = MeshAttr::get(context, std::max<int64_t>(ulysses, 1),
                            std::max<int64_t>(ring, 1));
  BalanceAlgorithm chosen = algorithm.value_or(
      mesh.getUlysses() > 1 ? BalanceAlgorithm::Swap : BalanceAlgorithm::None);
  // Balance before the exchange: shards are pooled and routed as they are, and
  // what the plan says decides where the tensors go.
  bool pre = chosen == BalanceAlgorithm::Pre;
  if (repair && !pre)
    return attend.emitOpError("options balance and repair: got ")
           << stringifyBalanceAlgorithm(chosen)
           << " with repair, expected balance pre";
  if (pre && augment)
    return attend.emitOpError("options balance and augment: got pre with "
                              "augment, expected another balance or none");
  auto placement = PlacementAttr::get(context, mesh, mask.getHeads(),
                                      attend.getK().getType().getDimSize(0),
                                      mask.getQBlocks(), mask.getKvBlocks(),
                                      /*blockShards=*/pre);
  auto place = PlaceOp::create(builder, attend.getLoc(), PlanType::get(context),
                               q, k, placement);
  Value plan = place;
  auto toHeads = [&](Value tensor) {
    return ReshardOp::create(builder, attend.getLoc(), tensor, plan,
                             Layout::Heads);
  };
  Value qHeads, kHeads;
  auto exchange = [&] {
    qHeads = toHeads(q);
    kHeads = k == q ? qHeads : toHeads(k);
  };
  if (!pre) {
    exchange();
    auto isPool = [](OpOperand &use) { return isa<PoolOp>(use.getOwner()); };
    q.replaceUsesWithIf(qHeads, isPool);
    k.replaceUsesWithIf(kHeads, isPool);
  }

  // After the mask.
  builder.setInsertionPointAfter(source);
  Value attended = attend.getMask();
  auto balanced =
      BalanceOp::create(builder, attend.getLoc(), place, attended, chosen);
  balanced.setRepair(repair);
  plan = balanced;
  if (augment)
    attended = AugmentOp::create(builder, attend.getLoc(), attended, plan);
  Value demanded = DemandOp::create(builder, attend.getLoc(),
                                    PlanType::get(context), attended, plan);
  plan = pre ? demanded : Value(place);
  if (pre)
    exchange();

  // Around attend.
  builder.setInsertionPoint(attend);
  Value vHeads = v == k ? kHeads : v == q ? qHeads : Value(toHeads(v));
  attend.getQMutable().assign(qHeads);
  attend.getKMutable().assign(kHeads);
  attend.getVMutable().assign(vHeads);
  attend.getMaskMutable().assign(attended);
  attend.getPlanMutable().assign(demanded);
  builder.setInsertionPointAfter(attend);
  for (Value result : attend.getResults()) {
    auto back = ReshardOp::create(builder, attend.getLoc(), result, demanded,
                                  Layout::Sequence);
    result.replaceAllUsesExcept(back, back);
  }
  ++numPlanned;
  return success();
}

LogicalResult InsertPlanPass::runOnLayer(func::FuncOp layer) {
  SmallVector<AttendOp> attends;
  layer.walk([&](AttendOp op) { attends.push_back(op); });
  if (attends.empty())
    return success();
  if (attends.size() > 1) {
    auto diag = attends[1].emitOpError("attend ops of a layer: got ")
                << attends.size() << ", expected 1";
    diag.attachNote(attends[0].getLoc()) << "the first is here";
    return diag;
  }
  AttendOp attend = attends.front();
  if (!layer.getBody().hasOneBlock() ||
      attend->getBlock() != &layer.getBody().front())
    return attend.emitOpError("block of attend: got one of several, expected "
                              "the only block of the layer");
  auto places = layer.getBody().front().getOps<PlaceOp>();
  if (!places.empty())
    return keepPlan(*places.begin(), attend);
  return insertPlan(attend);
}

void InsertPlanPass::runOnOperation() {
  if (failed(checkOptions()))
    return signalPassFailure();
  WalkResult result = getOperation()->walk([&](func::FuncOp layer) {
    return failed(runOnLayer(layer)) ? WalkResult::interrupt()
                                     : WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}

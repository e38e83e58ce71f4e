//===- EvaluatePlans.cpp - Placement, balance and augmentation ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Evaluate.h"

#include "sparseattn/Target/Plan/Plan.h"

using namespace mlir;
using namespace mlir::sparseattn;

PlanValue sparseattn::evaluate(PlaceOp op) {
  PlanValue plan;
  MeshAttr mesh = op.getMesh();
  plan.placement.mesh = {mesh.getUlysses(), mesh.getRing()};
  RankedTensorType q = op.getQ().getType(), k = op.getK().getType();
  sart::LayerShape &shape = plan.placement.shape;
  shape.heads = q.getDimSize(0);
  shape.kvHeads = k.getDimSize(0);
  shape.sq = q.getDimSize(1);
  shape.skv = k.getDimSize(1);
  shape.headDim = q.getDimSize(2);
  shape.dtype = *getValueDType(q.getElementType());
  plan.options.balance = sart::Balance::None;
  return plan;
}

PlanValue sparseattn::evaluate(BalanceOp op, const PlanValue &plan) {
  PlanValue result = plan;
  result.options = toPlannerOptions(op, /*augment=*/{});
  if (PlanAttr fixed = op.getFixedPlanAttr())
    result.fixedPlan = toPlan(fixed);
  return result;
}

/// The plan of `mask`: the written one, or what the planning library decides.
static FailureOr<sart::Plan> planFor(AugmentOp op, const sart::BlockMask &mask,
                                     const PlanValue &plan,
                                     const sart::Placement &placement) {
  if (plan.fixedPlan) {
    if (sart::Status status = plan.fixedPlan->verify(placement); !status.ok())
      return op.emitOpError("plan: ") << status.message();
    return *plan.fixedPlan;
  }
  sart::PlannerOptions options = plan.options;
  options.augment = true;
  options.n1Milli = op.getN1Milli();
  options.n2Milli = op.getN2Milli();
  sart::Expected<sart::Plan> made =
      sart::makePlan(sart::summarize(mask, placement), placement, options);
  if (!made)
    return op.emitOpError("plan: ") << made.message();
  return std::move(*made);
}

FailureOr<MaskValue> sparseattn::evaluate(AugmentOp op, const MaskValue &mask,
                                          const PlanValue &plan) {
  MaskType type = op.getMask().getType();
  sart::Placement placement = plan.placement;
  sart::LayerShape &shape = placement.shape;
  shape.blockQ = type.getBlockQ();
  shape.blockK = type.getBlockK();
  shape.causal = type.getCausal();
  if (type.getHeads() != shape.heads || type.getSq() != shape.sq ||
      type.getSkv() != shape.skv)
    return op.emitOpError("heads x tokens of mask must equal those of plan: "
                          "got ")
           << type.getHeads() << "x" << type.getSq() << "x" << type.getSkv()
           << ", expected " << shape.heads << "x" << shape.sq << "x"
           << shape.skv;
  if (sart::Status status = placement.verify(); !status.ok())
    return op.emitOpError("placement: ") << status.message();
  FailureOr<sart::Plan> decided = planFor(op, mask.mask, plan, placement);
  if (failed(decided))
    return failure();
  if (decided->extras.empty())
    return mask;
  if (mask.scores.empty())
    return op.emitOpError("mask of augment: got one without scores, expected "
                          "the result of route: extra tiles follow its scores");

  std::vector<std::vector<int32_t>> rows;
  for (int64_t head = 0; head < shape.heads; ++head)
    for (int64_t i = 0; i < shape.qBlocks(); ++i) {
      const int32_t *row = mask.mask.row(head, i);
      rows.emplace_back(row, row + mask.mask.count(head, i));
    }
  for (const sart::ExtraTiles &extra : decided->extras) {
    sart::Range segment = placement.qBlocksOf(extra.ringIndex);
    int64_t first = extra.head * shape.qBlocks() + segment.begin;
    int64_t last = first + segment.size();
    std::vector<std::vector<int32_t>> part(rows.begin() + first,
                                           rows.begin() + last);
    std::vector<float> scores(mask.scores.begin() + first * shape.kvBlocks(),
                              mask.scores.begin() + last * shape.kvBlocks());
    sart::addExtraTiles(part, scores, shape.kvBlocks(),
                        placement.kvBlocksOf(extra.ringIndex), extra.tiles);
    std::move(part.begin(), part.end(), rows.begin() + first);
  }
  sart::Expected<sart::BlockMask> result = sart::BlockMask::fromLists(
      shape.heads, shape.qBlocks(), shape.kvBlocks(), rows);
  if (!result)
    return op.emitOpError(result.message());
  return MaskValue{std::move(*result), mask.scores};
}

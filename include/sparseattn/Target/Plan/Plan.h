//===- Plan.h - Attributes and masks to the planning library ----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TARGET_PLAN_PLAN_H
#define SPARSEATTN_TARGET_PLAN_PLAN_H

#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"

#include "sparseattn-rt/Order.h"
#include "sparseattn-rt/Planner.h"

namespace mlir::sparseattn {

/// The struct of a plan attribute. Total; loads that the text leaves out become
/// zeros, one per rank. Whether the plan fits a placement is for
/// sart::Plan::verify to say.
sart::Plan toPlan(PlanAttr plan);

/// The attribute of a plan; `toPlan(fromPlan(context, p)) == p` for every plan
/// with one load per rank. Null, with a diagnostic, for one that breaks the
/// attribute's own rules.
PlanAttr fromPlan(MLIRContext *context, const sart::Plan &plan);

sart::Order toOrder(OrderAttr order);

/// The bits of a constant mask as sorted lists, and back. Linear in tiles.
sart::BlockMask toBlockMask(ExplicitMaskOp mask);
DenseIntElementsAttr fromBlockMask(MLIRContext *context,
                                   const sart::BlockMask &mask);

/// The layer that `place` puts on a mesh, for a mask of type `mask` (blocks and
/// causality). Refuses, at `place`, what sart::Placement::verify refuses.
FailureOr<sart::Placement> toPlacement(PlaceOp place, MaskType mask);

/// What `balance` and `augment` (null: none) ask of the planner.
sart::PlannerOptions toPlannerOptions(BalanceOp balance, AugmentOp augment);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_TARGET_PLAN_PLAN_H

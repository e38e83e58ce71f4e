//===- Canonicalize.cpp - Folders of the ops ------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Dialect/SparseAttn/IR/MaskBits.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::sparseattn;

// -- Masks ------------------------------------------------------------------

OpFoldResult ExplicitMaskOp::fold(FoldAdaptor) { return getBitsAttr(); }

OpFoldResult PolicyMaskOp::fold(FoldAdaptor) {
  // One splat, whatever the size. Other rules wait for sparseattn-fold-masks,
  // which bounds the size.
  MaskType mask = getMask().getType();
  if (!isa<DenseAttr>(getPolicy()) || mask.getCausal())
    return {};
  return makePolicyBits(getPolicy(), mask);
}

/// A static policy needs no scores.
LogicalResult RouteOp::canonicalize(RouteOp op, PatternRewriter &rewriter) {
  if (!op.getPolicy().isStatic())
    return rewriter.notifyMatchFailure(op, "the policy needs scores");
  rewriter.replaceOpWithNewOp<PolicyMaskOp>(op, op.getMask().getType(),
                                            op.getPolicy());
  return success();
}

OpFoldResult UnionOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return getLhs();
  auto lhs = dyn_cast_if_present<DenseIntElementsAttr>(adaptor.getLhs());
  auto rhs = dyn_cast_if_present<DenseIntElementsAttr>(adaptor.getRhs());
  if (lhs && rhs)
    return uniteBits(lhs, rhs);
  if (rhs && isEmptyMask(rhs))
    return getLhs();
  if (lhs && isEmptyMask(lhs))
    return getRhs();
  if (rhs && isDenseMask(rhs))
    return getRhs();
  if (lhs && isDenseMask(lhs))
    return getLhs();
  return {};
}

OpFoldResult IntersectOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return getLhs();
  auto lhs = dyn_cast_if_present<DenseIntElementsAttr>(adaptor.getLhs());
  auto rhs = dyn_cast_if_present<DenseIntElementsAttr>(adaptor.getRhs());
  if (lhs && rhs)
    return intersectBits(lhs, rhs);
  if (rhs && isDenseMask(rhs))
    return getLhs();
  if (lhs && isDenseMask(lhs))
    return getRhs();
  if (rhs && isEmptyMask(rhs))
    return getRhs();
  if (lhs && isEmptyMask(lhs))
    return getLhs();
  return {};
}

// -- Permutations and layouts -----------------------------------------------

OpFoldResult PermuteOp::fold(FoldAdaptor) {
  if (getOrder().isIdentity())
    return getInput();
  auto inner = getInput().getDefiningOp<PermuteOp>();
  if (inner && inner.getOrder() == getOrder() &&
      inner.getInverse() != getInverse())
    return inner.getInput();
  return {};
}

OpFoldResult ReshardOp::fold(FoldAdaptor) {
  auto inner = getInput().getDefiningOp<ReshardOp>();
  if (!inner)
    return {};
  // To where it is already.
  if (inner.getLayout() == getLayout() && inner.getPlan() == getPlan())
    return getInput();
  // To heads and back: before, it was in sequence layout.
  if (inner.getLayout() == Layout::Heads && getLayout() == Layout::Sequence &&
      inner.getPlan() == getPlan() &&
      !inner.getInput().getDefiningOp<ReshardOp>())
    return inner.getInput();
  return {};
}

// -- Merge ------------------------------------------------------------------

/// Whether a constant partial is empty everywhere: output 0, lse -inf.
static bool isEmptyPartial(Attribute o, Attribute lse) {
  auto oBits = dyn_cast_if_present<SplatElementsAttr>(o);
  auto lseBits = dyn_cast_if_present<SplatElementsAttr>(lse);
  if (!oBits || !lseBits)
    return false;
  APFloat value = lseBits.getSplatValue<APFloat>();
  return oBits.getSplatValue<APFloat>().isZero() && value.isInfinity() &&
         value.isNegative();
}

LogicalResult MergeOp::fold(FoldAdaptor adaptor,
                            SmallVectorImpl<OpFoldResult> &results) {
  if (isEmptyPartial(adaptor.getRhsO(), adaptor.getRhsLse())) {
    results.assign({getLhsO(), getLhsLse()});
    return success();
  }
  if (isEmptyPartial(adaptor.getLhsO(), adaptor.getLhsLse())) {
    results.assign({getRhsO(), getRhsLse()});
    return success();
  }
  return failure();
}

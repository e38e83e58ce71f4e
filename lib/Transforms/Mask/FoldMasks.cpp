//===- FoldMasks.cpp - Make every constant mask explicit ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk in the order of the ops: operands are folded before their users.
// Linear in the tiles of the masks touched.
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Transforms/Mask/Passes.h"

#include "sparseattn/Dialect/SparseAttn/IR/MaskBits.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::sparseattn;

namespace mlir::sparseattn {
#define GEN_PASS_DEF_FOLDMASKSPASS
#include "sparseattn/Transforms/Mask/Passes.h.inc"
} // namespace mlir::sparseattn

namespace {
struct FoldMasksPass
    : mlir::sparseattn::impl::FoldMasksPassBase<FoldMasksPass> {
  using FoldMasksPassBase::FoldMasksPassBase;
  void runOnOperation() override;

private:
  LogicalResult fold(Operation *op);
  LogicalResult foldPolicy(Operation *op, PolicyAttrInterface policy,
                           MaskType mask);
  LogicalResult foldSetOp(Operation *op, MaskType mask);
  LogicalResult dropTiles(ExplicitMaskOp op);
  static void replaceBy(Operation *op, MaskType mask,
                        DenseIntElementsAttr bits);
};
} // namespace

void FoldMasksPass::replaceBy(Operation *op, MaskType mask,
                              DenseIntElementsAttr bits) {
  OpBuilder builder(op);
  auto folded = ExplicitMaskOp::create(builder, op->getLoc(), mask, bits);
  op->getResult(0).replaceAllUsesWith(folded);
  op->erase();
}

LogicalResult FoldMasksPass::foldPolicy(Operation *op,
                                        PolicyAttrInterface policy,
                                        MaskType mask) {
  if (failed(checkListedTiles(op, mask, maxTiles)))
    return failure();
  replaceBy(op, mask, makePolicyBits(policy, mask));
  ++numPolicies;
  return success();
}

LogicalResult FoldMasksPass::foldSetOp(Operation *op, MaskType mask) {
  DenseIntElementsAttr lhs, rhs;
  if (matchPattern(op->getOperand(0), m_Constant(&lhs)) &&
      matchPattern(op->getOperand(1), m_Constant(&rhs))) {
    if (failed(checkListedTiles(op, mask, maxTiles)))
      return failure();
    replaceBy(op, mask,
              isa<UnionOp>(op) ? uniteBits(lhs, rhs) : intersectBits(lhs, rhs));
    ++numCombined;
    return success();
  }
  // With itself, an empty or a dense mask.
  SmallVector<OpFoldResult> results;
  if (succeeded(op->fold(results)) && !results.empty()) {
    op->getResult(0).replaceAllUsesWith(cast<Value>(results.front()));
    op->erase();
    ++numCombined;
    return success();
  }
  ++numRouted;
  return success();
}

LogicalResult FoldMasksPass::dropTiles(ExplicitMaskOp op) {
  MaskType mask = op.getMask().getType();
  if (failed(checkListedTiles(op, mask, maxTiles)))
    return failure();
  int64_t dropped = 0;
  DenseIntElementsAttr bits = dropInvisibleTiles(op.getBits(), mask, dropped);
  if (dropped)
    op.setBitsAttr(bits);
  numDropped += dropped;
  return success();
}

LogicalResult FoldMasksPass::fold(Operation *op) {
  if (auto explicitMask = dyn_cast<ExplicitMaskOp>(op))
    return dropTiles(explicitMask);
  if (auto policy = dyn_cast<PolicyMaskOp>(op))
    return foldPolicy(op, policy.getPolicy(), policy.getMask().getType());
  if (auto route = dyn_cast<RouteOp>(op); route && route.getPolicy().isStatic())
    return foldPolicy(op, route.getPolicy(), route.getMask().getType());
  if (isa<UnionOp, IntersectOp>(op))
    return foldSetOp(op, cast<MaskType>(op->getResult(0).getType()));
  return success();
}

void FoldMasksPass::runOnOperation() {
  SmallVector<Operation *> ops;
  getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa_and_present<SparseAttnDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(fold(op)))
      return signalPassFailure();
  // Users come after what they use: erase from the back.
  getOperation()->walk<WalkOrder::PostOrder, ReverseIterator>(
      [](Operation *op) {
        if (isa_and_present<SparseAttnDialect>(op->getDialect()) &&
            isOpTriviallyDead(op))
          op->erase();
      });
}

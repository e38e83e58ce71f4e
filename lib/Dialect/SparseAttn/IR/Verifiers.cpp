//===- Verifiers.cpp - Rules of the ops -----------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FieldList.h"
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"

using namespace mlir;
using namespace mlir::sparseattn;

namespace {
/// `<subject> must equal <object>: got X, expected Y`.
template <typename T>
LogicalResult expectEqual(Operation *op, const Twine &subject,
                          const Twine &object, T got, T expected) {
  if (got == expected)
    return success();
  return op->emitOpError() << subject << " must equal " << object << ": got "
                           << got << ", expected " << expected;
}

LogicalResult expectDivides(Operation *op, const Twine &subject,
                            const Twine &object, int64_t got, int64_t total) {
  if (got > 0 && total % got == 0)
    return success();
  return op->emitOpError() << subject << " must divide " << object << ": got "
                           << got << ", expected a divisor of " << total;
}

LogicalResult expectFinite(Operation *op, const APFloat &scale) {
  if (scale.isFinite())
    return success();
  return op->emitOpError() << "scale must be finite: got "
                           << shortestText(scale)
                           << ", expected a finite number";
}

const SupportLimits &getLimits(Operation *op) {
  return cast<SparseAttnDialect>(op->getDialect())->getLimits();
}

LogicalResult expectBlock(Operation *op, StringRef what, int64_t block) {
  const SupportLimits &limits = getLimits(op);
  if (limits.supportsBlock(block))
    return success();
  return op->emitOpError() << what << " is not supported: got " << block
                           << ", expected " << limits.minBlock << " to "
                           << limits.maxBlock << " in steps of "
                           << limits.blockStep;
}

/// The four rules of a mask made from or combined with another.
LogicalResult expectSameMask(Operation *op, StringRef what, MaskType got,
                             MaskType expected) {
  auto emitMismatch = [&](StringRef part, auto emit) -> LogicalResult {
    auto diag = op->emitOpError()
                << part << " of " << what << " must equal that of lhs: got ";
    emit(diag, got);
    diag << ", expected ";
    emit(diag, expected);
    return diag;
  };
  if (got.getHeads() != expected.getHeads() ||
      got.getSq() != expected.getSq() || got.getSkv() != expected.getSkv())
    return emitMismatch("heads x tokens", [](auto &diag, MaskType m) {
      diag << m.getHeads() << "x" << m.getSq() << "x" << m.getSkv();
    });
  if (got.getBlockQ() != expected.getBlockQ() ||
      got.getBlockK() != expected.getBlockK())
    return emitMismatch("block", [](auto &diag, MaskType m) {
      diag << m.getBlockQ() << "x" << m.getBlockK();
    });
  if (got.getOrder() != expected.getOrder())
    return emitMismatch("order", [](auto &diag, MaskType m) {
      if (m.getOrder())
        diag << m.getOrder();
      else
        diag << "none";
    });
  if (got.getCausal() != expected.getCausal())
    return emitMismatch("causality", [](auto &diag, MaskType m) {
      diag << (m.getCausal() ? "causal" : "not causal");
    });
  return success();
}

LogicalResult verifySetOp(Operation *op, MaskType lhs, MaskType rhs,
                          MaskType result) {
  return failure(failed(expectSameMask(op, "rhs", rhs, lhs)) ||
                 failed(expectSameMask(op, "the result", result, lhs)));
}

int64_t headsOf(RankedTensorType type) { return type.getDimSize(0); }
int64_t rowsOf(RankedTensorType type) { return type.getDimSize(1); }
int64_t headDimOf(RankedTensorType type) { return type.getDimSize(2); }
} // namespace

// -- Masks ------------------------------------------------------------------

LogicalResult PoolOp::verify() {
  RankedTensorType in = getInput().getType(), out = getOutput().getType();
  int64_t block = getBlock();
  if (failed(expectBlock(*this, "block size", block)))
    return failure();
  return failure(
      failed(
          expectEqual(*this, "block count of output",
                      "ceil(" + Twine(rowsOf(in)) + " / " + Twine(block) + ")",
                      rowsOf(out), MaskType::ceilBlocks(rowsOf(in), block))) ||
      failed(expectEqual(*this, "head count of output", "that of input",
                         headsOf(out), headsOf(in))) ||
      failed(expectEqual(*this, "head dimension of output", "that of input",
                         headDimOf(out), headDimOf(in))));
}

LogicalResult RouteOp::verify() {
  RankedTensorType pq = getPooledQ().getType(), pk = getPooledK().getType();
  MaskType mask = getMask().getType();
  if (failed(expectEqual(*this, "head count of mask", "heads of pooled q",
                         mask.getHeads(), headsOf(pq))) ||
      failed(expectDivides(*this, "heads of pooled k", "heads of pooled q",
                           headsOf(pk), headsOf(pq))) ||
      failed(expectEqual(*this, "head dimension of pooled k",
                         "that of pooled q", headDimOf(pk), headDimOf(pq))) ||
      failed(expectEqual(*this, "q-block count of mask", "pooled q rows",
                         mask.getQBlocks(), rowsOf(pq))) ||
      failed(expectEqual(*this, "kv-block count of mask", "pooled k rows",
                         mask.getKvBlocks(), rowsOf(pk))))
    return failure();
  int64_t keepEnd = getPolicy().getKeepEnd();
  if (keepEnd > mask.getKvBlocks())
    return emitOpError() << "keep ranges of the policy must end within the "
                            "kv-blocks: got "
                         << keepEnd << ", expected at most "
                         << mask.getKvBlocks();
  return expectFinite(*this, getScale());
}

LogicalResult ExplicitMaskOp::verify() {
  MaskType mask = getMask().getType();
  ArrayRef<int64_t> shape = getBits().getType().getShape();
  if (shape ==
      ArrayRef<int64_t>{mask.getHeads(), mask.getQBlocks(), mask.getKvBlocks()})
    return success();
  auto diag = emitOpError() << "shape of bits must equal that of mask: got ";
  llvm::interleave(shape, diag, "x");
  return diag << ", expected " << mask.getHeads() << "x" << mask.getQBlocks()
              << "x" << mask.getKvBlocks();
}

LogicalResult PolicyMaskOp::verify() {
  if (getPolicy().isStatic())
    return success();
  return emitOpError() << "policy must not need scores: got " << getPolicy()
                       << ", expected #sparseattn.dense or #sparseattn.window";
}

LogicalResult UnionOp::verify() {
  return verifySetOp(*this, getLhs().getType(), getRhs().getType(),
                     getMask().getType());
}

LogicalResult IntersectOp::verify() {
  return verifySetOp(*this, getLhs().getType(), getRhs().getType(),
                     getMask().getType());
}

// -- Plans ------------------------------------------------------------------

LogicalResult PlaceOp::verify() {
  RankedTensorType q = getQ().getType(), k = getK().getType();
  PlacementAttr placement = getPlacement();
  return failure(
      failed(expectEqual(*this, "heads of placement", "heads of q",
                         placement.getHeads(), headsOf(q))) ||
      failed(expectEqual(*this, "kv heads of placement", "heads of k",
                         placement.getKvHeads(), headsOf(k))) ||
      failed(expectEqual(*this, "head dimension of k", "that of q",
                         headDimOf(k), headDimOf(q))) ||
      failed(expectEqual(*this, "element type of k", "that of q",
                         k.getElementType(), q.getElementType())));
}

LogicalResult BalanceOp::verify() {
  int64_t k1 = getK1Milli(), k2 = getK2Milli();
  if (k1 < 1000 || k2 < k1)
    return emitOpError() << "thresholds: got " << k1 << ", " << k2
                         << ", expected 1000 <= k1 <= k2";
  if (getMaxPieces() < 0 || getMaxPieces() > 1024)
    return emitOpError() << "most row moves per rank: got " << getMaxPieces()
                         << ", expected 0 to 1024";
  PlanAttr plan = getFixedPlanAttr();
  if (!plan)
    return success();
  MaskType mask = getMask().getType();
  if (failed(expectEqual(*this, "heads of plan", "heads of mask",
                         plan.getHeads(), mask.getHeads())) ||
      failed(expectEqual(*this, "q-blocks of plan", "q-blocks of mask",
                         plan.getQBlocks(), mask.getQBlocks())) ||
      failed(expectEqual(*this, "kv-blocks of plan", "kv-blocks of mask",
                         plan.getKvBlocks(), mask.getKvBlocks())))
    return failure();
  size_t moves = plan.getMoves().size() + plan.getRowMoves().size();
  if (getAlgorithm() == BalanceAlgorithm::None && moves > 0)
    return emitOpError() << "moves of a plan under the algorithm none: got "
                         << moves << ", expected 0";
  return success();
}

LogicalResult AugmentOp::verify() {
  int64_t n1 = getN1Milli(), n2 = getN2Milli();
  if (n1 < 0 || n1 > 1000 || n2 < 0 || n2 > 1000)
    return emitOpError() << "slack: got " << n1 << ", " << n2
                         << ", expected two numbers from 0 to 1000";
  return expectEqual<Type>(*this, "type of the result", "type of mask",
                           getResult().getType(), getMask().getType());
}

LogicalResult ReshardOp::verify() {
  return expectEqual<Type>(*this, "type of output", "type of input",
                           getOutput().getType(), getInput().getType());
}

// -- Computation ------------------------------------------------------------

LogicalResult PermuteOp::verify() {
  if (failed(expectEqual(*this, "token count of input", "that of the order",
                         rowsOf(getInput().getType()), getOrder().getTokens())))
    return failure();
  return expectEqual<Type>(*this, "type of output", "type of input",
                           getOutput().getType(), getInput().getType());
}

LogicalResult AttendOp::verify() {
  RankedTensorType q = getQ().getType(), k = getK().getType(),
                   v = getV().getType(), lse = getLse().getType();
  MaskType mask = getMask().getType();
  const SupportLimits &limits = getLimits(*this);
  for (auto [name, type] : {std::pair<StringRef, RankedTensorType>{"k", k},
                            std::pair<StringRef, RankedTensorType>{"v", v}})
    if (failed(expectEqual(*this, "element type of " + name, "that of q",
                           type.getElementType(), q.getElementType())) ||
        failed(expectEqual(*this, "head dimension of " + name, "that of q",
                           headDimOf(type), headDimOf(q))))
      return failure();
  if (!limits.supportsHeadDim(headDimOf(q)))
    return emitOpError() << "head dimension is not supported: got "
                         << headDimOf(q) << ", expected " << limits.minHeadDim
                         << " to " << limits.maxHeadDim << " in steps of "
                         << limits.headDimStep;
  if (failed(expectEqual(*this, "head count of v", "that of k", headsOf(v),
                         headsOf(k))) ||
      failed(expectDivides(*this, "heads of k", "heads of q", headsOf(k),
                           headsOf(q))) ||
      failed(expectEqual(*this, "token count of v", "that of k", rowsOf(v),
                         rowsOf(k))) ||
      failed(expectEqual(*this, "head count of mask", "that of q",
                         mask.getHeads(), headsOf(q))) ||
      failed(expectEqual(*this, "query token count of mask", "tokens of q",
                         mask.getSq(), rowsOf(q))) ||
      failed(expectEqual(*this, "key token count of mask", "tokens of k",
                         mask.getSkv(), rowsOf(k))) ||
      failed(
          expectBlock(*this, "query block size of mask", mask.getBlockQ())) ||
      failed(expectBlock(*this, "key block size of mask", mask.getBlockK())) ||
      failed(expectEqual<Type>(*this, "type of o", "type of q",
                               getO().getType(), q)))
    return failure();
  if (headsOf(lse) != headsOf(q) || rowsOf(lse) != rowsOf(q))
    return emitOpError() << "shape of lse must equal heads x tokens of q: got "
                         << headsOf(lse) << "x" << rowsOf(lse) << ", expected "
                         << headsOf(q) << "x" << rowsOf(q);
  return expectFinite(*this, getScale());
}

LogicalResult MergeOp::verify() {
  RankedTensorType o = getLhsO().getType(), lse = getLhsLse().getType();
  if (failed(expectEqual<Type>(*this, "type of rhs_o", "type of lhs_o",
                               getRhsO().getType(), o)) ||
      failed(expectEqual<Type>(*this, "type of o", "type of lhs_o",
                               getO().getType(), o)) ||
      failed(expectEqual<Type>(*this, "type of rhs_lse", "type of lhs_lse",
                               getRhsLse().getType(), lse)) ||
      failed(expectEqual<Type>(*this, "type of lse", "type of lhs_lse",
                               getLse().getType(), lse)))
    return failure();
  if (headsOf(lse) != headsOf(o) || rowsOf(lse) != rowsOf(o))
    return emitOpError()
           << "shape of lhs_lse must equal heads x tokens of lhs_o: got "
           << headsOf(lse) << "x" << rowsOf(lse) << ", expected " << headsOf(o)
           << "x" << rowsOf(o);
  return success();
}

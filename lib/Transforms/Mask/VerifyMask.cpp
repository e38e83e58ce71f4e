//===- VerifyMask.cpp - Check what the mask phase guarantees --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules 1 to 4 of the pass's description, one function each. Linear in the ops
// and in the tiles of constant masks.
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Transforms/Mask/Passes.h"

#include "sparseattn/Dialect/SparseAttn/IR/MaskBits.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sparseattn;

namespace mlir::sparseattn {
#define GEN_PASS_DEF_VERIFYMASKPASS
#include "sparseattn/Transforms/Mask/Passes.h.inc"
} // namespace mlir::sparseattn

namespace {
struct VerifyMaskPass
    : mlir::sparseattn::impl::VerifyMaskPassBase<VerifyMaskPass> {
  void runOnOperation() override;

private:
  LogicalResult verifyAttend(AttendOp attend);
  LogicalResult verifySource(AttendOp attend, Operation *&source);
  LogicalResult verifyConstant(ExplicitMaskOp op);
};

/// The tensor before any change of layout.
Value withoutReshard(Value value) {
  while (auto reshard = value.getDefiningOp<ReshardOp>())
    value = reshard.getInput();
  return value;
}
} // namespace

/// Rule 1.
LogicalResult VerifyMaskPass::verifySource(AttendOp attend,
                                           Operation *&source) {
  Value mask = attend.getMask();
  while (auto augment = mask.getDefiningOp<AugmentOp>())
    mask = augment.getMask();
  source = mask.getDefiningOp();
  if (isa_and_present<RouteOp, ExplicitMaskOp>(source))
    return success();
  auto diag = attend.emitOpError("source of the mask: got ");
  if (source)
    diag << "'" << source->getName() << "'";
  else
    diag << "an argument";
  diag << ", expected 'sparseattn.route' or 'sparseattn.explicit_mask'";
  if (source)
    diag.attachNote(source->getLoc())
        << "sparseattn-fold-masks folds constant masks only";
  return diag;
}

/// Rule 2, for one of pooled q and pooled k.
static LogicalResult verifyPooled(RouteOp route, StringRef name, Value pooled,
                                  StringRef blockName, int64_t block,
                                  AttendOp attend, Value attended) {
  auto pool = pooled.getDefiningOp<PoolOp>();
  if (!pool) {
    auto diag = route.emitOpError("source of pooled ") << name << ": got ";
    if (Operation *op = pooled.getDefiningOp())
      diag << "'" << op->getName() << "'";
    else
      diag << "an argument";
    return diag << ", expected 'sparseattn.pool'";
  }
  if (static_cast<int64_t>(pool.getBlock()) != block) {
    auto diag = route.emitOpError("block of pooled ")
                << name << " must equal the " << blockName
                << " block of mask: got " << pool.getBlock() << ", expected "
                << block;
    diag.attachNote(pool.getLoc()) << "pooled here";
    return diag;
  }
  if (withoutReshard(pool.getInput()) != withoutReshard(attended)) {
    auto diag = route.emitOpError("tensor that is pooled for ")
                << name << " must be the " << name
                << " that is attended: got another value";
    diag.attachNote(pool.getLoc()) << "pooled here";
    diag.attachNote(attend.getLoc()) << "attended here";
    return diag;
  }
  return success();
}

/// Rule 3.
LogicalResult VerifyMaskPass::verifyConstant(ExplicitMaskOp op) {
  MaskType mask = op.getMask().getType();
  DenseIntElementsAttr bits = op.getBits();
  auto refuse = [&](int64_t h, int64_t i, int64_t j) {
    return op.emitOpError("tiles of a causal mask must have a visible key: got "
                          "head ")
           << h << ", q-block " << i << ", kv-block " << j
           << " selected (run sparseattn-fold-masks first)";
  };
  // A splat is checked without its tiles: visible kv-blocks are a prefix.
  if (isEmptyMask(bits)) {
    numEmptyRows += mask.getHeads() * mask.getQBlocks();
    return success();
  }
  if (isDenseMask(bits)) {
    int64_t last = mask.getKvBlocks() - 1;
    for (int64_t i = 0; mask.getCausal() && i < mask.getQBlocks(); ++i)
      if (!mask.isVisible(i, last))
        return refuse(0, i, last);
    return success();
  }
  auto bit = bits.value_begin<bool>();
  for (int64_t h = 0; h < mask.getHeads(); ++h)
    for (int64_t i = 0; i < mask.getQBlocks(); ++i) {
      bool any = false;
      for (int64_t j = 0; j < mask.getKvBlocks(); ++j, ++bit) {
        any |= *bit;
        if (*bit && !mask.isVisible(i, j))
          return refuse(h, i, j);
      }
      numEmptyRows += !any;
    }
  return success();
}

/// Rule 4.
static LogicalResult verifyOrder(AttendOp attend) {
  auto layer = attend->getParentOp();
  auto order = layer->getAttrOfType<OrderAttr>("sparseattn.boundary_order");
  if (auto permute = withoutReshard(attend.getQ()).getDefiningOp<PermuteOp>())
    order = permute.getOrder();
  OrderAttr got = attend.getMask().getType().getOrder();
  if (!order || !got || got == order)
    return success();
  return attend.emitOpError("order of the mask must equal that of the layer's "
                            "tokens: got ")
         << got << ", expected " << order;
}

LogicalResult VerifyMaskPass::verifyAttend(AttendOp attend) {
  Operation *source = nullptr;
  if (failed(verifySource(attend, source)) || failed(verifyOrder(attend)))
    return failure();
  if (auto constant = dyn_cast<ExplicitMaskOp>(source)) {
    ++numConstant;
    return verifyConstant(constant);
  }
  auto route = cast<RouteOp>(source);
  MaskType mask = route.getMask().getType();
  ++numRouted;
  return failure(
      failed(verifyPooled(route, "q", route.getPooledQ(), "query",
                          mask.getBlockQ(), attend, attend.getQ())) ||
      failed(verifyPooled(route, "k", route.getPooledK(), "key",
                          mask.getBlockK(), attend, attend.getK())));
}

void VerifyMaskPass::runOnOperation() {
  WalkResult result = getOperation()->walk([&](AttendOp attend) {
    return failed(verifyAttend(attend)) ? WalkResult::interrupt()
                                        : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return signalPassFailure();
  markAllAnalysesPreserved();
}

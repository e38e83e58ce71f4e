//===- HoistPermutes.cpp - Permutes at entry and exit to an attribute -----===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entry: every argument has permute ops as its only users. Exit: every returned
// value is an inverse permute. All by one order. Linear in the layer's ops.
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Transforms/Boundary/Passes.h"

#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::sparseattn;

namespace mlir::sparseattn {
#define GEN_PASS_DEF_HOISTPERMUTESPASS
#include "sparseattn/Transforms/Boundary/Passes.h.inc"
} // namespace mlir::sparseattn

namespace {
struct HoistPermutesPass
    : mlir::sparseattn::impl::HoistPermutesPassBase<HoistPermutesPass> {
  void runOnOperation() override;
};
} // namespace

/// The order that all permutes of the layer share.
static FailureOr<OrderAttr> commonOrder(ArrayRef<PermuteOp> permutes) {
  PermuteOp first = permutes.front();
  OrderAttr order = first.getOrder();
  for (PermuteOp permute : permutes)
    if (permute.getOrder() != order)
      return permute.emitOpError("order must equal that of the layer's other "
                                 "permutes: got ")
             << permute.getOrder() << ", expected " << order;
  return order;
}

static LogicalResult hoist(func::FuncOp layer, ArrayRef<PermuteOp> permutes) {
  FailureOr<OrderAttr> order = commonOrder(permutes);
  if (failed(order))
    return failure();
  Block &body = layer.getBody().front();
  for (BlockArgument argument : body.getArguments())
    for (Operation *user : argument.getUsers())
      if (auto permute = dyn_cast<PermuteOp>(user);
          !permute || permute.getInverse())
        return user->emitOpError("use of argument ")
               << argument.getArgNumber() << " of a layer with permutes: got '"
               << user->getName() << "'" << (permute ? " inverse" : "")
               << ", expected a permute by " << *order;
  auto terminator = cast<func::ReturnOp>(body.getTerminator());
  for (OpOperand &result : terminator->getOpOperands()) {
    auto permute = result.get().getDefiningOp<PermuteOp>();
    if (!permute || !permute.getInverse())
      return terminator.emitOpError("result ")
             << result.getOperandNumber()
             << " of a layer with permutes: got a value in the mask's order, "
                "expected an inverse permute by "
             << *order;
  }
  for (PermuteOp permute : permutes) {
    bool entry =
        !permute.getInverse() && isa<BlockArgument>(permute.getInput());
    bool exit =
        permute.getInverse() &&
        llvm::all_of(permute->getUsers(), llvm::IsaPred<func::ReturnOp>);
    if (!entry && !exit)
      return permute.emitOpError("place of a permute: got one between other "
                                 "ops, expected the layer's entry or exit");
  }
  // Only now: a permute after another one would look like one of an argument.
  for (PermuteOp permute : permutes) {
    permute.getOutput().replaceAllUsesWith(permute.getInput());
    permute.erase();
  }
  layer->setAttr(kBoundaryOrderAttr, *order);
  return success();
}

void HoistPermutesPass::runOnOperation() {
  for (auto layer : getOperation().getOps<func::FuncOp>()) {
    if (layer.isExternal() ||
        layer.getBody().front().getOps<AttendOp>().empty())
      continue;
    SmallVector<PermuteOp> permutes =
        llvm::to_vector(layer.getBody().front().getOps<PermuteOp>());
    if (permutes.empty())
      continue;
    if (failed(hoist(layer, permutes)))
      return signalPassFailure();
    numHoisted += permutes.size();
  }
}

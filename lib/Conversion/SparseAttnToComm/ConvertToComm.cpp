//===- ConvertToComm.cpp - Lower a planned layer to a schedule ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Conversion/SparseAttnToComm/Passes.h"

#include "LayerLowering.h"

#include "sparseattn/Target/Plan/Plan.h"
#include "sparseattn/Target/Program/Program.h"

#include "sparseattn-rt/Binder.h"

using namespace mlir;
using namespace mlir::sparseattn;

namespace mlir::sparseattn {
#define GEN_PASS_DEF_CONVERTTOCOMMPASS
#include "sparseattn/Conversion/SparseAttnToComm/Passes.h.inc"
} // namespace mlir::sparseattn

/// Binds `templateOp` for the layer's constant mask and plan, through the same
/// binder that binds templates at run time, and puts the program in its place.
static LogicalResult bindConstantMask(sa_comm::TemplateOp templateOp,
                                      LayerLowering &lowering) {
  BalanceOp balance = lowering.getBalance();
  if (!balance || !balance.getFixedPlanAttr())
    return lowering.getConstantMask().emitOpError(
        "plan of a constant mask: got none, expected one on the layer's "
        "balance op (run sparseattn-plan-constant-masks first)");
  FailureOr<sart::Program> exported = sa_comm::exportProgram(templateOp);
  if (failed(exported))
    return failure();
  sart::Plan plan = toPlan(*balance.getFixedPlan());
  sart::Expected<sart::Binding> binding = sart::bindPlan(*exported, plan);
  if (!binding)
    return balance.emitOpError("plan: ") << binding.message();
  sart::Expected<sart::Program> bound = sart::bindProgram(
      *exported, *binding, toBlockMask(lowering.getConstantMask()));
  if (!bound)
    return lowering.getConstantMask().emitOpError(bound.message());
  OpBuilder builder(templateOp);
  if (failed(sa_comm::importProgram(*bound, builder, templateOp.getLoc())))
    return failure();
  templateOp.erase();
  return success();
}

namespace {
struct ConvertToCommPass
    : mlir::sparseattn::impl::ConvertToCommPassBase<ConvertToCommPass> {
  void runOnOperation() override;
};
} // namespace

void ConvertToCommPass::runOnOperation() {
  SmallVector<func::FuncOp> layers;
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() &&
        !function.getBody().front().getOps<AttendOp>().empty())
      layers.push_back(function);
  OpBuilder builder(&getContext());
  for (func::FuncOp layer : layers) {
    LayerLowering lowering(layer, builder);
    FailureOr<sa_comm::TemplateOp> templateOp = lowering.run();
    if (failed(templateOp))
      return signalPassFailure();
    if (lowering.getConstantMask()) {
      if (failed(bindConstantMask(*templateOp, lowering)))
        return signalPassFailure();
      ++numPrograms;
    } else {
      ++numTemplates;
    }
    layer.erase();
  }
}

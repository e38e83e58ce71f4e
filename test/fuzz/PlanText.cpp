//===- PlanText.cpp - Fuzz target: layers with plans in them --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TextFuzzing.h"

#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"
#include "sparseattn/Pipelines/Pipelines.h"
#include "sparseattn/Target/Plan/Plan.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace sart;

/// The plans of a text as structs and back; then what they plan.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext &context = fuzz::textContext();
  OwningOpRef<ModuleOp> module =
      fuzz::parseText(fuzz::textOf(data, size), context);
  if (!module)
    return 0;
  fuzz::requireRoundTrip(*module);
  module->walk([&](BalanceOp balance) {
    if (!balance.getFixedPlanAttr())
      return;
    Plan plan = toPlan(*balance.getFixedPlan());
    PlanAttr attribute = fromPlan(&context, plan);
    fuzz::require(attribute && toPlan(attribute) == plan,
                  "a plan survives the way to its struct and back");
    (void)plan.hash();
    auto place = balance.getPlan().getDefiningOp<PlaceOp>();
    if (!place || !fuzz::isSmall(*module))
      return;
    FailureOr<Placement> placement =
        toPlacement(place, balance.getMask().getType());
    if (succeeded(placement) && plan.verify(*placement).ok())
      (void)countTraffic(plan, *placement);
  });
  if (!fuzz::isSmall(*module))
    return 0;
  PassManager manager(&context, ModuleOp::getOperationName());
  buildPlanPipeline(manager, {});
  buildCommPipeline(manager);
  if (failed(manager.run(*module)))
    return 0;
  fuzz::runSchedules(*module);
  return 0;
}

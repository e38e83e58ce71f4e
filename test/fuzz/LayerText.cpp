//===- LayerText.cpp - Fuzz target: text of layers and masks --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TextFuzzing.h"

#include "sparseattn/Pipelines/Pipelines.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace sart;

/// Reads text; what verifies and is small goes through the phases up to the
/// schedule, over meshes that the text's length chooses.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext &context = fuzz::textContext();
  OwningOpRef<ModuleOp> module =
      fuzz::parseText(fuzz::textOf(data, size), context);
  if (!module)
    return 0;
  fuzz::requireRoundTrip(*module);
  if (!fuzz::isSmall(*module))
    return 0;
  PlanPipelineOptions options;
  options.ulysses = static_cast<int64_t>(size % 4);
  options.ring = static_cast<int64_t>(size / 4 % 4);
  options.augment = size / 16 % 2 == 1;
  for (Phase phase : {Phase::Mask, Phase::Plan, Phase::Comm}) {
    PassManager manager(&context, ModuleOp::getOperationName());
    if (phase == Phase::Mask)
      buildMaskPipeline(manager);
    else if (phase == Phase::Plan)
      buildPlanPipeline(manager, options);
    else
      buildCommPipeline(manager);
    if (failed(manager.run(*module)))
      return 0;
    fuzz::requireRoundTrip(*module);
  }
  fuzz::runSchedules(*module);
  return 0;
}

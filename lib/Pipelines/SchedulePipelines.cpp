//===- SchedulePipelines.cpp - Pipelines from masks to schedules ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Pipelines/Pipelines.h"

#include "sparseattn/Conversion/SparseAttnToComm/Passes.h"
#include "sparseattn/Transforms/Boundary/Passes.h"
#include "sparseattn/Transforms/Comm/Passes.h"
#include "sparseattn/Transforms/Mask/Passes.h"
#include "sparseattn/Transforms/Plan/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::sparseattn;

void mlir::sparseattn::buildMaskPipeline(OpPassManager &manager) {
  manager.addPass(createHoistPermutesPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createFoldMasksPass());
  manager.addPass(createVerifyMaskPass());
}

void mlir::sparseattn::buildPlacePipeline(OpPassManager &manager,
                                          const PlanPipelineOptions &options) {
  InsertPlanPassOptions insert;
  insert.ulysses = options.ulysses;
  insert.ring = options.ring;
  insert.balance = options.balance;
  insert.augment = options.augment;
  insert.repair = options.repair;
  manager.addPass(createInsertPlanPass(insert));
}

void mlir::sparseattn::buildConstantPlanPipeline(OpPassManager &manager) {
  manager.addPass(createPlanConstantMasksPass());
  manager.addPass(createVerifyPlanPass());
}

void mlir::sparseattn::buildPlanPipeline(OpPassManager &manager,
                                         const PlanPipelineOptions &options) {
  buildPlacePipeline(manager, options);
  buildConstantPlanPipeline(manager);
}

void mlir::sparseattn::buildCommPipeline(OpPassManager &manager) {
  manager.addPass(createConvertToCommPass());
  manager.addPass(createVerifySchedulePass());
}

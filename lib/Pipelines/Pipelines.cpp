//===- Pipelines.cpp - Named pipelines, one per phase ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Pipelines/Pipelines.h"

#include "sparseattn/Jit/KernelPipeline.h"
#include "sparseattn/Transforms/Kernel/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::sparseattn;

std::optional<Phase> mlir::sparseattn::parsePhase(llvm::StringRef text) {
  return llvm::StringSwitch<std::optional<Phase>>(text)
      .Case("mask", Phase::Mask)
      .Case("plan", Phase::Plan)
      .Case("comm", Phase::Comm)
      .Case("kernel", Phase::Kernel)
      .Case("jit", Phase::Jit)
      .Default(std::nullopt);
}

void mlir::sparseattn::buildKernelPipeline(OpPassManager &manager) {
  manager.addPass(createEmitCpuKernelsPass());
}

void mlir::sparseattn::buildJitPipeline(OpPassManager &manager) {
  buildCpuKernelPipeline(manager.nest<ModuleOp>());
}

void mlir::sparseattn::buildPipelineTo(OpPassManager &manager, Phase last,
                                       const PlanPipelineOptions &options) {
  buildMaskPipeline(manager);
  if (last >= Phase::Plan)
    buildPlanPipeline(manager, options);
  if (last >= Phase::Comm)
    buildCommPipeline(manager);
  if (last >= Phase::Kernel)
    buildKernelPipeline(manager);
  if (last >= Phase::Jit)
    buildJitPipeline(manager);
}

void mlir::sparseattn::registerPipelines() {
  PassPipelineRegistration<>("sparseattn-mask-pipeline",
                             "canonical masks, permutes at the boundary",
                             buildMaskPipeline);
  PassPipelineRegistration<PlanPipelineOptions>(
      "sparseattn-plan-pipeline", "placement, balance, demand, constant plans",
      buildPlanPipeline);
  PassPipelineRegistration<>("sparseattn-comm-pipeline",
                             "the schedule, verified", buildCommPipeline);
  PassPipelineRegistration<>("sparseattn-kernel-pipeline",
                             "the CPU kernels that the schedule calls",
                             buildKernelPipeline);
  PassPipelineRegistration<>("sparseattn-jit-pipeline",
                             "kernels to the LLVM dialect", buildJitPipeline);
}

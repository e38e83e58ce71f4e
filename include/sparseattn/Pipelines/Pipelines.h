//===- Pipelines.h - Named pipelines, one per phase -------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_PIPELINES_PIPELINES_H
#define SPARSEATTN_PIPELINES_PIPELINES_H

#include "sparseattn/Support/PassStatistics.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mlir {
namespace sparseattn {

/// The phases of compilation, in order. Each one's pipeline is registered as
/// `sparseattn-<phase>-pipeline`.
enum class Phase { Mask, Plan, Comm, Kernel, Jit };

/// mask, plan, comm, kernel or jit.
std::optional<Phase> parsePhase(llvm::StringRef text);

/// Where and how the plan phase places the layer.
struct PlanPipelineOptions : PassPipelineOptions<PlanPipelineOptions> {
  Option<int64_t> ulysses{*this, "ulysses",
                          llvm::cl::desc("ranks that share a sequence segment "
                                         "(0: as the layer says, or 1)"),
                          llvm::cl::init(0)};
  Option<int64_t> ring{*this, "ring",
                       llvm::cl::desc("sequence segments (0: as the layer "
                                      "says, or 1)"),
                       llvm::cl::init(0)};
  Option<std::string> balance{
      *this, "balance",
      llvm::cl::desc("none, swap, split or pre (empty: swap when "
                     "there are several Ulysses ranks)"),
      llvm::cl::init("")};
  Option<bool> augment{*this, "augment",
                       llvm::cl::desc("fill slack with next-best blocks"),
                       llvm::cl::init(false)};
  Option<bool> repair{*this, "repair",
                      llvm::cl::desc("row moves after balance pre"),
                      llvm::cl::init(false)};
};

/// Canonical masks: permutes hoisted to the boundary, constant masks folded.
void buildMaskPipeline(OpPassManager &manager);
/// Placement, balance, demand; plans of constant masks.
void buildPlanPipeline(OpPassManager &manager,
                       const PlanPipelineOptions &options);
/// The two halves of it: placement, balance and demand as ops; plans of
/// constant masks, verified.
void buildPlacePipeline(OpPassManager &manager,
                        const PlanPipelineOptions &options);
void buildConstantPlanPipeline(OpPassManager &manager);
/// The schedule, verified.
void buildCommPipeline(OpPassManager &manager);
/// The kernels that the schedule calls.
void buildKernelPipeline(OpPassManager &manager);
/// Kernels to the LLVM dialect.
void buildJitPipeline(OpPassManager &manager);

/// All phases up to and including `last`.
void buildPipelineTo(OpPassManager &manager, Phase last,
                     const PlanPipelineOptions &options);

void registerPipelines();

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_PIPELINES_PIPELINES_H

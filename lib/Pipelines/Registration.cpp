//===- Registration.cpp - What the tools know -----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Pipelines/Registration.h"

#include "sparseattn/Conversion/Sm90ToNVVM/Passes.h"
#include "sparseattn/Conversion/SparseAttnToComm/Passes.h"
#include "sparseattn/Conversion/SparseAttnToVector/KernelBuilder.h"
#include "sparseattn/Dialect/Comm/IR/Comm.h"
#include "sparseattn/Dialect/Sm90/IR/Sm90.h"
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"
#include "sparseattn/Jit/GpuKernelPipeline.h"
#include "sparseattn/Jit/KernelPipeline.h"
#include "sparseattn/Pipelines/Pipelines.h"
#include "sparseattn/Transforms/Boundary/Passes.h"
#include "sparseattn/Transforms/Comm/Passes.h"
#include "sparseattn/Transforms/Kernel/Passes.h"
#include "sparseattn/Transforms/Mask/Passes.h"
#include "sparseattn/Transforms/Plan/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::sparseattn;

void mlir::sparseattn::registerAllDialects(DialectRegistry &registry) {
  registry.insert<cf::ControlFlowDialect, func::FuncDialect>();
  registerSparseAttnDialect(registry);
  sa_comm::registerCommDialect(registry);
  sa_sm90::registerSm90Dialect(registry);
  registerKernelDialects(registry);
  registerGpuKernelDialects(registry);
}

void mlir::sparseattn::registerAllPasses() {
  registerTransformsPasses();
  registerSparseAttnBoundaryPasses();
  registerSparseAttnMaskPasses();
  registerSparseAttnPlanPasses();
  registerSparseAttnToCommPasses();
  registerSparseAttnCommPasses();
  registerSm90ToNVVMPasses();
  registerSparseAttnKernelPasses();
  registerCpuKernelPipeline();
  registerGpuKernelPipeline();
  registerPipelines();
}

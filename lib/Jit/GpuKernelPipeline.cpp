//===- GpuKernelPipeline.cpp - Passes from GPU kernels to LLVM dialect ----===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Jit/GpuKernelPipeline.h"

#include "sparseattn/Conversion/Sm90ToNVVM/Passes.h"
#include "sparseattn/Dialect/Sm90/IR/Sm90.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

/// Canonicalization that leaves the blocks of the graph alone: merging two that
/// look the same joins paths of warps with different roles, and barriers on
/// them would then be met under divergence.
static std::unique_ptr<Pass> createCarefulCanonicalizer() {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return createCanonicalizerPass(config);
}

void sparseattn::registerGpuKernelDialects(DialectRegistry &registry) {
  registry
      .insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
              index::IndexDialect, LLVM::LLVMDialect, math::MathDialect,
              memref::MemRefDialect, sa_sm90::Sm90Dialect, scf::SCFDialect,
              ub::UBDialect, vector::VectorDialect>();
  // The header of the NVVM dialect takes seconds to compile; this one inserts
  // the dialect too.
  registerNVVMDialectTranslation(registry);
}

void sparseattn::buildGpuKernelPipeline(OpPassManager &passManager) {
  passManager.addPass(createLowerSm90Pass());
  passManager.addPass(createConvertVectorToLLVMPass());
  passManager.addPass(createFinalizeMemRefToLLVMConversionPass());
  passManager.addPass(createCarefulCanonicalizer());
  passManager.addPass(createCSEPass());
  passManager.addPass(createSCFToControlFlowPass());
  passManager.addPass(createConvertMathToLLVMPass());
  passManager.addPass(createConvertIndexToLLVMPass());
  passManager.addPass(createArithToLLVMConversionPass());
  passManager.addPass(createUBToLLVMConversionPass());
  passManager.addPass(createConvertControlFlowToLLVMPass());
  passManager.addPass(createConvertFuncToLLVMPass());
  passManager.addPass(createConvertNVVMToLLVMPass());
  passManager.addPass(createReconcileUnrealizedCastsPass());
  passManager.addPass(createCarefulCanonicalizer());
  passManager.addPass(createCSEPass());
}

void sparseattn::registerGpuKernelPipeline() {
  static PassPipelineRegistration<> registration(
      "sparseattn-gpu-kernel-pipeline",
      "Lower GPU kernel functions to the LLVM and NVVM dialects",
      buildGpuKernelPipeline);
}

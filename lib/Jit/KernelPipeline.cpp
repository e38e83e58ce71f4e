//===- KernelPipeline.cpp - Passes from kernels to the LLVM dialect -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Jit/KernelPipeline.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void sparseattn::buildCpuKernelPipeline(OpPassManager &passManager) {
  // Addresses become explicit while loops are still loops, so that invariant
  // parts can be moved out of them; the code generator alone leaves a
  // multiplication per row in the inner loop. After that the kernels have
  // nothing to gain from LLVM's own IR passes.
  //
  // Default options for vectors: loads of user memory must not claim alignment.
  passManager.addPass(createConvertVectorToLLVMPass());
  passManager.addPass(createFinalizeMemRefToLLVMConversionPass());
  passManager.addPass(createArithToLLVMConversionPass());
  passManager.addPass(createCSEPass());
  passManager.addPass(createLoopInvariantCodeMotionPass());
  passManager.addPass(createSCFToControlFlowPass());
  passManager.addPass(createArithToLLVMConversionPass());
  passManager.addPass(createConvertControlFlowToLLVMPass());
  passManager.addPass(createConvertFuncToLLVMPass());
  passManager.addPass(createReconcileUnrealizedCastsPass());
}

void sparseattn::registerCpuKernelPipeline() {
  static PassPipelineRegistration<> registration(
      "sparseattn-cpu-kernel-pipeline",
      "Lower CPU kernel functions to the LLVM dialect", buildCpuKernelPipeline);
}

//===- sparseattn-opt.cpp - Runs passes and pipelines over MLIR text ------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Conversion/SparseAttnToComm/Passes.h"
#include "sparseattn/Conversion/SparseAttnToVector/KernelBuilder.h"
#include "sparseattn/Dialect/Comm/IR/Comm.h"
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"
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
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mlir::sparseattn;

static llvm::cl::opt<std::string> compileTo(
    "compile-to",
    llvm::cl::desc("Run all phases up to this one: mask, plan, comm, kernel or "
                   "jit"),
    llvm::cl::value_desc("phase"));
static llvm::cl::opt<std::string> compileToOptions(
    "compile-to-options",
    llvm::cl::desc("Options of the plan phase under --compile-to, such as "
                   "\"ulysses=4 ring=2 balance=swap\""),
    llvm::cl::value_desc("options"));

static void registerEverything(DialectRegistry &registry) {
  registry.insert<cf::ControlFlowDialect, func::FuncDialect>();
  registerSparseAttnDialect(registry);
  sa_comm::registerCommDialect(registry);
  registerKernelDialects(registry);
  registerTransformsPasses();
  registerSparseAttnBoundaryPasses();
  registerSparseAttnMaskPasses();
  registerSparseAttnPlanPasses();
  registerSparseAttnToCommPasses();
  registerSparseAttnCommPasses();
  registerSparseAttnKernelPasses();
  registerCpuKernelPipeline();
  registerPipelines();
}

/// Puts the phases of --compile-to into `config`, before the passes that the
/// command line names.
static LogicalResult addCompileTo(MlirOptMainConfig &config) {
  if (compileTo.empty() && !compileToOptions.empty()) {
    llvm::errs() << "error: --compile-to-options: got '" << compileToOptions
                 << "' without --compile-to, expected both\n";
    return failure();
  }
  if (compileTo.empty())
    return success();
  std::optional<Phase> last = parsePhase(compileTo);
  if (!last) {
    llvm::errs() << "error: --compile-to: got '" << compileTo
                 << "', expected one of mask, plan, comm, kernel, jit\n";
    return failure();
  }
  std::shared_ptr<PlanPipelineOptions> options =
      PlanPipelineOptions::createFromString(compileToOptions);
  if (!options) {
    llvm::errs() << "error: --compile-to-options: got '" << compileToOptions
                 << "', expected options of sparseattn-plan-pipeline\n";
    return failure();
  }
  MlirOptMainConfig named = config;
  config.setPassPipelineSetupFn([=](PassManager &manager) {
    buildPipelineTo(manager, *last, *options);
    return named.setupPassPipeline(manager);
  });
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  DialectRegistry registry;
  registerEverything(registry);
  auto [inputName, outputName] = registerAndParseCLIOptions(
      argc, argv, "sparseattn compiler passes\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (failed(addCompileTo(config)))
    return EXIT_FAILURE;
  std::string message;
  auto input = openInputFile(inputName, &message);
  if (!input) {
    llvm::errs() << "error: input: got '" << inputName << "' (" << message
                 << "), expected a readable file\n";
    return EXIT_FAILURE;
  }
  auto output = openOutputFile(outputName, &message);
  if (!output) {
    llvm::errs() << "error: output: got '" << outputName << "' (" << message
                 << "), expected a writable path\n";
    return EXIT_FAILURE;
  }
  if (failed(MlirOptMain(output->os(), std::move(input), registry, config)))
    return EXIT_FAILURE;
  output->keep();
  return EXIT_SUCCESS;
}

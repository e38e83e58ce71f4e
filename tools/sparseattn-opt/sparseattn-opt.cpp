//===- sparseattn-opt.cpp - Runs passes and pipelines over MLIR text ------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Pipelines/Pipelines.h"
#include "sparseattn/Pipelines/Registration.h"
#include "sparseattn/Support/TextLimits.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

#include <csignal>

using namespace mlir;
using namespace mlir::sparseattn;

namespace {
/// Options of this command alone. They exist while it runs: libsparseattn may
/// hold several commands, and a host of it none.
struct CompileToOptions {
  llvm::cl::opt<std::string> phase{
      "compile-to",
      llvm::cl::desc("Run all phases up to this one: mask, plan, comm, kernel "
                     "or jit"),
      llvm::cl::value_desc("phase")};
  llvm::cl::opt<std::string> options{
      "compile-to-options",
      llvm::cl::desc("Options of the plan phase under --compile-to, such as "
                     "\"ulysses=4 ring=2 balance=swap\""),
      llvm::cl::value_desc("options")};
};
} // namespace

/// Puts the phases of --compile-to into `config`, before the passes that the
/// command line names.
static LogicalResult addCompileTo(const CompileToOptions &compileTo,
                                  MlirOptMainConfig &config) {
  StringRef phase = compileTo.phase, text = compileTo.options;
  if (phase.empty() && !text.empty()) {
    llvm::errs() << "error: --compile-to-options: got '" << text
                 << "' without --compile-to, expected both\n";
    return failure();
  }
  if (phase.empty())
    return success();
  std::optional<Phase> last = parsePhase(phase);
  if (!last) {
    llvm::errs() << "error: --compile-to: got '" << phase
                 << "', expected one of mask, plan, comm, kernel, jit\n";
    return failure();
  }
  std::shared_ptr<PlanPipelineOptions> options =
      PlanPipelineOptions::createFromString(text);
  if (!options) {
    llvm::errs() << "error: --compile-to-options: got '" << text
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
  // A write beyond the limit on file sizes is an error like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  CompileToOptions compileTo;
  auto [inputName, outputName] = registerAndParseCLIOptions(
      argc, argv, "sparseattn compiler passes\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (failed(addCompileTo(compileTo, config)))
    return EXIT_FAILURE;
  std::string message;
  auto input = openInputFile(inputName, &message);
  if (!input) {
    llvm::errs() << "error: input: got '" << inputName << "' (" << message
                 << "), expected a readable file\n";
    return EXIT_FAILURE;
  }
  if (!isBytecode(*input))
    if (sart::Status limits =
            checkTextLimits({input->getBufferStart(), input->getBufferSize()});
        !limits.ok()) {
      llvm::errs() << "error: " << inputName << ": " << limits.message()
                   << "\n";
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
  output->os().flush();
  if (std::error_code code = output->os().error()) {
    // The stream's own end would be a crash report.
    output->os().clear_error();
    llvm::errs() << "error: output: got '" << outputName << "' ("
                 << code.message() << "), expected room for the output\n";
    return EXIT_FAILURE;
  }
  output->keep();
  return EXIT_SUCCESS;
}

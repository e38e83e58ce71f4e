//===- sparseattn-opt.cpp - Runs passes and pipelines over MLIR text ------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommandLine.h"

#include "sparseattn/Pipelines/Pipelines.h"
#include "sparseattn/Pipelines/Registration.h"
#include "sparseattn/Support/ModuleText.h"

#include "sparseattn-rt/Npz.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <optional>

using namespace mlir;
using namespace mlir::sparseattn;
using sart::Status;

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
static Status addCompileTo(const CompileToOptions &compileTo,
                           MlirOptMainConfig &config) {
  std::string phase = compileTo.phase, text = compileTo.options;
  if (phase.empty() && !text.empty())
    return sart::makeError("--compile-to-options: got '", text,
                           "' without --compile-to, expected both");
  if (phase.empty())
    return Status::success();
  std::optional<Phase> last = parsePhase(phase);
  if (!last)
    return sart::makeError("--compile-to: got '", phase,
                           "', expected one of mask, plan, comm, kernel, jit");
  std::shared_ptr<PlanPipelineOptions> options =
      PlanPipelineOptions::createFromString(text);
  if (!options)
    return sart::makeError("--compile-to-options: got '", text,
                           "', expected options of sparseattn-plan-pipeline");
  MlirOptMainConfig named = config;
  config.setPassPipelineSetupFn([=](PassManager &manager) {
    buildPipelineTo(manager, *last, *options);
    return named.setupPassPipeline(manager);
  });
  return Status::success();
}

/// 0, or 1 after an error. The whole output is there before a byte of it is
/// written.
static int compile(int argc, char **argv) {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  CompileToOptions compileTo;
  auto [inputName, outputName] = registerAndParseCLIOptions(
      argc, argv, "sparseattn compiler passes\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (Status status = addCompileTo(compileTo, config); !status.ok())
    return sart::reportError(status);
  if (outputName != "-")
    if (Status status = sart::checkWritable("output", outputName); !status.ok())
      return sart::reportError(status);
  std::string message;
  auto input = openInputFile(inputName, &message);
  if (!input)
    return sart::reportError(sart::makeError("input: got '", inputName, "' (",
                                             message,
                                             "), expected a readable file"));
  if (Status limits =
          checkModuleLimits({input->getBufferStart(), input->getBufferSize()});
      !limits.ok())
    return sart::reportError(
        sart::makeError(inputName, ": ", limits.message()));
  std::string text;
  llvm::raw_string_ostream stream(text);
  LogicalResult result =
      MlirOptMain(stream, std::move(input), registry, config);
  if (outputName == "-") {
    // What passes printed before one failed is worth reading.
    std::fwrite(text.data(), 1, text.size(), stdout);
    int written = sart::finishOutput();
    return failed(result) ? EXIT_FAILURE : written;
  }
  if (failed(result))
    return EXIT_FAILURE;
  if (Status status =
          sart::writeFileAtomically(outputName, text.data(), text.size());
      !status.ok())
    return sart::reportError(status);
  return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  return sart::runTool([&] { return compile(argc, argv); });
}

//===- sparseattn-bench.cpp - Measures parts against baselines ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Calibration.h"
#include "CudaKernelBench.h"
#include "CudaRoutingBench.h"
#include "KernelBench.h"
#include "PlacementBench.h"
#include "PlanBench.h"

#include "CommandLine.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <string>
#include <string_view>

using namespace sart;

static constexpr const char *kHelp =
    "usage: sparseattn-bench kernels|routing|plan|placement|calibrate "
    "[options]\n"
    "\n"
    "Measures a part of sparseattn against the baselines present, in turn in "
    "one\nprocess; prints medians and their spread.\n"
    "\n"
    "  kernels  attend kernels against OpenBLAS's sgemm; on a GPU against "
    "cuBLAS,\n           cuDNN and FlexAttention\n"
    "  routing  routing kernels of a GPU against plain PyTorch\n"
    "  calibrate  what a machine file says: kernels, launches, copies\n"
    "  plan     planners over recorded masks: balance, transfers, time\n"
    "  placement  kv-blocks that recorded masks send over a ring; meshes\n"
    "\n"
    "`sparseattn-bench kernels --help` lists the options of one.\n";

static int printAll(const std::string &text) {
  std::fputs(text.c_str(), stdout);
  return finishOutput();
}

/// Prints what a benchmark found, or why it found nothing.
template <typename Options, typename Results>
static int print(const Options &options, const Expected<Results> &results) {
  if (!results)
    return reportError(results.status());
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (options.json)
    printJson(options, *results, stream);
  else
    printTable(options, *results, stream);
  return printAll(text);
}

static int runKernels(int argc, char **argv) {
  KernelOptions options;
  std::string helpText;
  if (Status status = parseKernelOptions(argc, argv, options, helpText);
      !status.ok())
    return reportError(status);
  if (options.help)
    return printAll(helpText);
  return options.onGpu() ? print(options, runCudaKernelBench(options))
                         : print(options, runKernelBench(options));
}

static int runRouting(int argc, char **argv) {
  RoutingOptions options;
  std::string helpText;
  if (Status status = parseRoutingOptions(argc, argv, options, helpText);
      !status.ok())
    return reportError(status);
  if (options.help)
    return printAll(helpText);
  return print(options, runCudaRoutingBench(options));
}

static int runPlan(int argc, char **argv) {
  PlanOptions options;
  std::string helpText;
  if (Status status = parsePlanOptions(argc, argv, options, helpText);
      !status.ok())
    return reportError(status);
  if (options.help)
    return printAll(helpText);
  return print(options, runPlanBench(options));
}

static int runPlacement(int argc, char **argv) {
  PlacementOptions options;
  std::string helpText;
  if (Status status = parsePlacementOptions(argc, argv, options, helpText);
      !status.ok())
    return reportError(status);
  if (options.help)
    return printAll(helpText);
  return options.hybrid ? print(options, runHybridBench(options))
                        : print(options, runPlacementBench(options));
}

static int runCalibrate(int argc, char **argv) {
  CalibrateOptions options;
  std::string helpText;
  if (Status status = parseCalibrateOptions(argc, argv, options, helpText);
      !status.ok())
    return reportError(status);
  if (options.help)
    return printAll(helpText);
  return print(options, runCalibration(options));
}

static int runBench(int argc, char **argv) {
  std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "--help" || command == "-h")
    return printAll(kHelp);
  if (command == "kernels")
    return runKernels(argc - 1, argv + 1);
  if (command == "routing")
    return runRouting(argc - 1, argv + 1);
  if (command == "calibrate")
    return runCalibrate(argc - 1, argv + 1);
  if (command == "plan")
    return runPlan(argc - 1, argv + 1);
  if (command == "placement")
    return runPlacement(argc - 1, argv + 1);
  constexpr const char *names =
      "kernels, routing, plan, placement or calibrate";
  if (command == "transport")
    return reportError(makeError("benchmark: got 'transport' (not in this "
                                 "version), expected ",
                                 names));
  if (command.empty())
    return reportError(makeError("benchmark: got none, expected ", names));
  return reportError(makeError("benchmark: got '", std::string(command),
                               "', expected ", names));
}

int main(int argc, char **argv) {
  return runTool([&] { return runBench(argc, argv); });
}

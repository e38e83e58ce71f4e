//===- sparseattn-bench.cpp - Measures parts against baselines ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelBench.h"

#include "CommandLine.h"

#include "llvm/Support/raw_ostream.h"

#include <string_view>

using namespace sart;

static constexpr const char *kHelp =
    "usage: sparseattn-bench kernels [options]\n"
    "\n"
    "Measures a part of sparseattn against the baselines present, in turn in "
    "one\nprocess; prints medians and their spread.\n"
    "\n"
    "  kernels  attend kernels against OpenBLAS's sgemm\n"
    "\n"
    "`sparseattn-bench kernels --help` lists its options.\n";

static int runKernels(int argc, char **argv) {
  KernelOptions options;
  std::string helpText;
  if (Status status = parseKernelOptions(argc, argv, options, helpText);
      !status.ok())
    return reportError(status);
  if (options.help) {
    llvm::outs() << helpText;
  } else {
    Expected<KernelResults> results = runKernelBench(options);
    if (!results)
      return reportError(results.status());
    (options.json ? printJson : printTable)(options, *results);
  }
  llvm::outs().flush();
  return finishOutput();
}

int main(int argc, char **argv) {
  std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "--help" || command == "-h") {
    llvm::outs() << kHelp;
    llvm::outs().flush();
    return finishOutput();
  }
  if (command == "kernels")
    return runKernels(argc - 1, argv + 1);
  for (const char *later :
       {"routing", "plan", "placement", "transport", "calibrate"})
    if (command == later)
      return reportError(
          makeError("benchmark: got '", later,
                    "' (not in this version), expected kernels"));
  if (command.empty())
    return reportError(makeError("benchmark: got none, expected kernels"));
  return reportError(makeError("benchmark: got '", std::string(command),
                               "', expected kernels"));
}

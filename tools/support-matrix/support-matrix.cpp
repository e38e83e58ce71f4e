//===- support-matrix.cpp - Prints the support matrix ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommandLine.h"
#include "SupportMatrix.h"

#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdio>
#include <cstring>

using namespace mlir;
using namespace mlir::sparseattn;

static int printMatrix(int argc, char **argv) {
  if (argc > 1) {
    bool help = argc == 2 && std::strcmp(argv[1], "--help") == 0;
    if (!help) {
      return sart::reportError(
          sart::makeError("arguments: got '", argv[1], "', expected none"));
    }
    std::puts(
        "usage: sparseattn-support-matrix\n\n"
        "Prints, as a Markdown table, which layers the verifiers accept.");
    return sart::finishOutput();
  }
  DialectRegistry registry;
  registry.insert<func::FuncDialect>();
  registerSparseAttnDialect(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::fputs(printSupportMatrix(buildSupportMatrix(context)).c_str(), stdout);
  return sart::finishOutput();
}

int main(int argc, char **argv) {
  return sart::runTool([&] { return printMatrix(argc, argv); });
}

//===- support-matrix.cpp - Prints the support matrix ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SupportMatrix.h"

#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdio>
#include <cstring>

using namespace mlir;
using namespace mlir::sparseattn;

int main(int argc, char **argv) {
  if (argc > 1) {
    bool help = argc == 2 && std::strcmp(argv[1], "--help") == 0;
    if (!help) {
      std::fprintf(stderr, "error: arguments: got '%s', expected none\n",
                   argv[1]);
      return 1;
    }
    std::puts(
        "usage: sparseattn-support-matrix\n\n"
        "Prints, as a Markdown table, which layers the verifiers accept.");
    return 0;
  }
  DialectRegistry registry;
  registry.insert<func::FuncDialect>();
  registerSparseAttnDialect(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::fputs(printSupportMatrix(buildSupportMatrix(context)).c_str(), stdout);
  return 0;
}

//===- sparseattn-reduce.cpp - Makes a failing module small ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Pipelines/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::sparseattn::registerAllDialects(registry);
  mlir::sparseattn::registerAllPasses();
  mlir::MLIRContext context(registry);
  if (succeeded(mlir::mlirReduceMain(argc, argv, context)))
    return 0;
  // The library is silent about a module that its script finds of no interest.
  llvm::errs() << "error: reduction: got no result, expected a module that can "
                  "be read and for which the script of -reduction-tree ends "
                  "with a status other than 0\n";
  return 1;
}

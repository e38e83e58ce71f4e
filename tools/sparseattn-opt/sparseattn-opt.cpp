//===- sparseattn-opt.cpp - Runs passes and pipelines over MLIR text ------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Dialect/Comm/IR/Comm.h"
#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"
#include "sparseattn/Transforms/Comm/Passes.h"
#include "sparseattn/Transforms/Mask/Passes.h"
#include "sparseattn/Transforms/Plan/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::sparseattn::SparseAttnDialect>();
  mlir::sa_comm::registerCommDialect(registry);
  mlir::sparseattn::registerSparseAttnCommPasses();
  mlir::registerTransformsPasses();
  mlir::sparseattn::registerSparseAttnMaskPasses();
  mlir::sparseattn::registerSparseAttnPlanPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "sparseattn compiler passes\n", registry));
}

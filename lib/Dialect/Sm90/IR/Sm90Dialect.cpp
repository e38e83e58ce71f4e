//===- Sm90Dialect.cpp - Registration of the sa_sm90 dialect --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Dialect/Sm90/IR/Sm90.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sa_sm90;

#include "sparseattn/Dialect/Sm90/IR/Sm90Dialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "sparseattn/Dialect/Sm90/IR/Sm90Types.cpp.inc"

void Sm90Dialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "sparseattn/Dialect/Sm90/IR/Sm90Types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "sparseattn/Dialect/Sm90/IR/Sm90Ops.cpp.inc"
      >();
}

void mlir::sa_sm90::registerSm90Dialect(DialectRegistry &registry) {
  registry.insert<Sm90Dialect>();
}

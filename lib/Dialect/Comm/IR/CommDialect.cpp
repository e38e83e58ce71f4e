//===- CommDialect.cpp - Registration of the sa_comm dialect --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Dialect/Comm/IR/Comm.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sa_comm;

#include "sparseattn/Dialect/Comm/IR/CommDialect.cpp.inc"
#include "sparseattn/Dialect/Comm/IR/CommEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "sparseattn/Dialect/Comm/IR/CommAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "sparseattn/Dialect/Comm/IR/CommTypes.cpp.inc"

#include "sparseattn/Dialect/Comm/IR/CommOpInterfaces.cpp.inc"

void CommDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "sparseattn/Dialect/Comm/IR/CommAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "sparseattn/Dialect/Comm/IR/CommTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "sparseattn/Dialect/Comm/IR/CommOps.cpp.inc"
      >();
}

void mlir::sa_comm::registerCommDialect(DialectRegistry &registry) {
  registry.insert<CommDialect>();
}

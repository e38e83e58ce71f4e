//===- Sm90.h - The sa_sm90 dialect -----------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SM90_IR_SM90_H
#define SPARSEATTN_DIALECT_SM90_IR_SM90_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "sparseattn/Dialect/Sm90/IR/Sm90Dialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "sparseattn/Dialect/Sm90/IR/Sm90Types.h.inc"

#define GET_OP_CLASSES
#include "sparseattn/Dialect/Sm90/IR/Sm90Ops.h.inc"

namespace mlir::sa_sm90 {
/// Makes the dialect available to a context built from `registry`.
void registerSm90Dialect(DialectRegistry &registry);
} // namespace mlir::sa_sm90

#endif // SPARSEATTN_DIALECT_SM90_IR_SM90_H

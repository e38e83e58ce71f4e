//===- Comm.h - The sa_comm dialect -----------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_COMM_IR_COMM_H
#define SPARSEATTN_DIALECT_COMM_IR_COMM_H

#include "sparseattn-rt/Program.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

namespace mlir::sa_comm {

/// What the integers of a list mean.
enum class ListKind { Chunks, Counts, Work, Slots, Side };

/// One list of an instruction: a FlatSymbolRefAttr (template), or the literal
/// attribute of its kind (ChunksAttr, WorkListAttr, SideAttr, or a
/// DenseI64ArrayAttr of counts or slots).
struct ListOperand {
  StringRef name;
  ListKind kind = ListKind::Chunks;
  Attribute value;
};

/// Element types of windows, both ways; null and nullopt for the others.
Type toType(MLIRContext *context, sart::DType dtype);
std::optional<sart::DType> toDType(Type type);

/// The flat integers of a literal list as the program format stores them.
/// Null attributes and symbols give an empty list.
SmallVector<int64_t> flattenList(Attribute literal);

/// Literal operands for builders.
/// `values` holds three integers per chunk, eight per entry of work.
Attribute chunkList(MLIRContext *context, ArrayRef<int64_t> values);
Attribute workList(MLIRContext *context, ArrayRef<int64_t> values);
/// Counts, slots, or a peer (none or one rank).
Attribute intList(MLIRContext *context, ArrayRef<int64_t> values);
/// An operand of a template: the value of symbol `name`.
Attribute symbolList(MLIRContext *context, StringRef name);

} // namespace mlir::sa_comm

#include "sparseattn/Dialect/Comm/IR/CommDialect.h.inc"
#include "sparseattn/Dialect/Comm/IR/CommEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "sparseattn/Dialect/Comm/IR/CommAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "sparseattn/Dialect/Comm/IR/CommTypes.h.inc"

#include "sparseattn/Dialect/Comm/IR/CommOpInterfaces.h.inc"

namespace mlir::sa_comm::detail {
/// Hooks that the generated operation classes share.
LogicalResult verifyInstruction(InstructionOpInterface op);
LogicalResult verifyNames(InstructionOpInterface op,
                          SymbolTableCollection &tables);
void buildSchedule(OpBuilder &builder, OperationState &state, StringRef name,
                   const sart::Placement &placement, float scale,
                   const sart::RoutingPolicy &policy,
                   const sart::PlannerOptions &planner);
} // namespace mlir::sa_comm::detail

#define GET_OP_CLASSES
#include "sparseattn/Dialect/Comm/IR/CommOps.h.inc"

namespace mlir::sa_comm {
/// Makes the dialect available to a context built from `registry`.
void registerCommDialect(DialectRegistry &registry);
} // namespace mlir::sa_comm

#endif // SPARSEATTN_DIALECT_COMM_IR_COMM_H

//===- InstructionImporter.h - One instruction to its operation -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_TARGET_PROGRAM_INSTRUCTIONIMPORTER_H
#define SPARSEATTN_LIB_TARGET_PROGRAM_INSTRUCTIONIMPORTER_H

#include "sparseattn/Dialect/Comm/IR/Comm.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <string>

namespace mlir::sa_comm {

/// Imports the instructions of one list. Errors are reported at `loc`, after
/// `place`.
class InstructionImporter {
public:
  InstructionImporter(const sart::Program &program, OpBuilder &builder,
                      Location loc)
      : program(program), builder(builder), loc(loc) {}

  /// Adds the operation of `instruction`, the one that `place` names.
  LogicalResult add(const sart::Instruction &instruction, std::string place);

private:
  InFlightDiagnostic error() { return emitError(loc) << place; }
  LogicalResult checkForm(const sart::Instruction &instruction);
  /// The attribute of one operand; null after an error.
  Attribute toAttribute(const sart::Operand &operand, ListKind kind);
  /// Operands have been checked.
  Operation *createOp(const sart::Instruction &instruction,
                      ArrayRef<StringRef> w, ArrayRef<Attribute> l,
                      Attribute peer, ArrayRef<Value> waits);

  const sart::Program &program;
  OpBuilder &builder;
  Location loc;
  std::string place; ///< prefix of errors
  llvm::DenseMap<int32_t, Value> tokens;
};

} // namespace mlir::sa_comm

#endif // SPARSEATTN_LIB_TARGET_PROGRAM_INSTRUCTIONIMPORTER_H

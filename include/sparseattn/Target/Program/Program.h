//===- Program.h - Programs as sa_comm text, both ways ----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sa_comm dialect and sart::Program are the same thing: every program that
// is well formed has a text, and exporting the text gives the program back.
// What the text does not carry is normalised: tokens are numbered in order of
// definition from 0, a template's static symbols are bound, phases without
// instructions vanish, and labels of phases belong to the text alone.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TARGET_PROGRAM_PROGRAM_H
#define SPARSEATTN_TARGET_PROGRAM_PROGRAM_H

#include "sparseattn-rt/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace mlir::sa_comm {

/// A module that holds `program` as one sa_comm.template or sa_comm.program.
/// Null after an error was reported through `context`: unknown windows,
/// symbols or tokens, operand counts that differ from the opcode's, malformed
/// lists, names that are not distinct.
OwningOpRef<ModuleOp> importProgram(const sart::Program &program,
                                    MLIRContext *context);

/// The same, inserted at the builder's place; errors are reported at `loc`.
FailureOr<Operation *> importProgram(const sart::Program &program,
                                     OpBuilder &builder, Location loc);

/// A program and the operations that its instructions came from.
struct ExportedProgram {
  sart::Program program;
  Operation *schedule = nullptr; ///< the sa_comm.template or sa_comm.program
  /// operations[list][instruction]; list 0 of a template, the rank otherwise.
  std::vector<std::vector<Operation *>> operations;

  /// The operation of a place that a diagnostic of the program names; the
  /// rank's list or the whole schedule when there is no such instruction.
  Operation *find(int64_t rank, int64_t instruction) const;
};

/// The program that a verified sa_comm.template or sa_comm.program stands for.
/// Reports an error on the operation when the binder refuses the placement or a
/// static symbol.
FailureOr<sart::Program> exportProgram(Operation *schedule);

/// The same, with the operation of every instruction.
FailureOr<ExportedProgram> exportWithOperations(Operation *schedule);

/// The only schedule of `module`, or the one named `name`. Null after an error
/// on the module.
Operation *findSchedule(ModuleOp module, StringRef name = "");

/// Numbers tokens in order of definition from 0 in every list, as exported
/// programs have them. Leaves lists alone that define a token twice or wait for
/// one that is not defined.
void renumberTokens(sart::Program &program);

} // namespace mlir::sa_comm

#endif // SPARSEATTN_TARGET_PROGRAM_PROGRAM_H

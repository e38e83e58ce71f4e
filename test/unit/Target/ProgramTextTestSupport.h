//===- ProgramTextTestSupport.h - Programs through text ---------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_TARGET_PROGRAMTEXTTESTSUPPORT_H
#define SPARSEATTN_TEST_TARGET_PROGRAMTEXTTESTSUPPORT_H

#include "Program/ProgramTestSupport.h"
#include "sparseattn/Dialect/Comm/IR/Comm.h"
#include "sparseattn/Target/Program/Program.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <string>

namespace sart::test {

/// A context with the dialect that keeps the text of errors.
class TextContext {
public:
  TextContext() {
    context.disableMultithreading();
    context.loadDialect<mlir::sa_comm::CommDialect>();
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &d) {
      errors += d.str() + "\n";
      return mlir::success();
    });
  }

  /// The program as text; empty after an error.
  std::string print(const Program &program) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::sa_comm::importProgram(program, &context);
    std::string text;
    if (module) {
      llvm::raw_string_ostream stream(text);
      module->print(stream);
    }
    return text;
  }

  /// The program of a text; nullopt after an error.
  std::optional<Program> parse(const std::string &text) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return std::nullopt;
    mlir::Operation *schedule = mlir::sa_comm::findSchedule(*module);
    if (!schedule)
      return std::nullopt;
    mlir::FailureOr<Program> program = mlir::sa_comm::exportProgram(schedule);
    if (mlir::failed(program))
      return std::nullopt;
    return std::move(*program);
  }

  mlir::MLIRContext context;
  std::string errors;
};

/// Bytes of the program in the form that text keeps.
inline std::vector<uint8_t> normalBytes(Program program) {
  mlir::sa_comm::renumberTokens(program);
  return serialize(program);
}

} // namespace sart::test

#endif // SPARSEATTN_TEST_TARGET_PROGRAMTEXTTESTSUPPORT_H

//===- ModuleText.h - Modules from text or bytecode -------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_SUPPORT_MODULETEXT_H
#define SPARSEATTN_SUPPORT_MODULETEXT_H

#include "sparseattn-rt/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string_view>

namespace mlir {
class AsmParserState;
}

namespace mlir::sparseattn {

/// checkTextLimits, unless `input` is bytecode, whose reader has limits of its
/// own.
sart::Status checkModuleLimits(std::string_view input);

/// Reads a module from text or bytecode, which need not end in a zero byte.
/// `name` stands for the file in locations; `state` takes what the parser knows
/// of a text, nothing of bytecode. Errors go to the context.
OwningOpRef<ModuleOp> parseModule(std::string_view input, MLIRContext &context,
                                  StringRef name,
                                  AsmParserState *state = nullptr);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_SUPPORT_MODULETEXT_H

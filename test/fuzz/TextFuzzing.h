//===- TextFuzzing.h - Parsing and printing of fuzzed text ---- -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_FUZZ_TEXTFUZZING_H
#define SPARSEATTN_TEST_FUZZ_TEXTFUZZING_H

#include "FuzzSupport.h"

#include "sparseattn-rt/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace sart::fuzz {

/// A context with our dialects and func, errors swallowed. Made anew after some
/// hundred inputs: what inputs intern stays in it.
mlir::MLIRContext &textContext();

/// The verified module of a text; null after an error.
mlir::OwningOpRef<mlir::ModuleOp> parseText(std::string_view text,
                                            mlir::MLIRContext &context);
std::string print(mlir::ModuleOp module);

/// What is printed can be parsed, and is printed the same again.
void requireRoundTrip(mlir::ModuleOp module);

/// Whether masks and meshes of the module are so small that planning and
/// lowering it is quick.
bool isSmall(mlir::ModuleOp module);

/// Carries out the program of every schedule in the module that is small, by
/// the rules of fuzz target program-run.
void runSchedules(mlir::ModuleOp module);

} // namespace sart::fuzz

#endif // SPARSEATTN_TEST_FUZZ_TEXTFUZZING_H

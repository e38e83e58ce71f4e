//===- Registration.h - What the tools know ---------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_PIPELINES_REGISTRATION_H
#define SPARSEATTN_PIPELINES_REGISTRATION_H

namespace mlir {
class DialectRegistry;

namespace sparseattn {

/// Every dialect that text of this project may hold: the project's own, and
/// those that kernels lower through.
void registerAllDialects(DialectRegistry &registry);

/// Every pass and named pipeline, by its name on a command line.
void registerAllPasses();

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_PIPELINES_REGISTRATION_H

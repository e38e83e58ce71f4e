//===- Passes.h - A layer's entry and exit ----------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TRANSFORMS_BOUNDARY_PASSES_H
#define SPARSEATTN_TRANSFORMS_BOUNDARY_PASSES_H

#include "sparseattn/Support/PassStatistics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir {
namespace sparseattn {

/// Attribute of a layer function: the order in which whoever calls it stores
/// the tokens before, and undoes after.
inline constexpr llvm::StringLiteral kBoundaryOrderAttr =
    "sparseattn.boundary_order";

#define GEN_PASS_DECL
#include "sparseattn/Transforms/Boundary/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "sparseattn/Transforms/Boundary/Passes.h.inc"

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_TRANSFORMS_BOUNDARY_PASSES_H

//===- Passes.h - Canonical masks -------------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TRANSFORMS_MASK_PASSES_H
#define SPARSEATTN_TRANSFORMS_MASK_PASSES_H

#include "sparseattn/Support/PassStatistics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir::sparseattn {

#define GEN_PASS_DECL
#include "sparseattn/Transforms/Mask/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "sparseattn/Transforms/Mask/Passes.h.inc"

} // namespace mlir::sparseattn

#endif // SPARSEATTN_TRANSFORMS_MASK_PASSES_H

//===- LayerOverrides.h - What a caller sets over the text ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_JIT_LAYEROVERRIDES_H
#define SPARSEATTN_LIB_JIT_LAYEROVERRIDES_H

#include "sparseattn-rt/DType.h"
#include "sparseattn-rt/Machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir {
namespace sparseattn {

/// The module's only function with an attend op; an error on the module, or on
/// the second one, otherwise.
FailureOr<func::FuncOp> findLayer(ModuleOp module);

/// Element type of the attend op's q.
Type elementTypeOf(func::FuncOp layer);

/// Gives q, k, v, o and everything between them the element type `dtype`.
/// Pooled tensors and LSE stay fp32.
void overrideElementType(func::FuncOp layer, sart::DType dtype);

/// Puts an explicit mask in place of what makes the attend op's mask: `bits`,
/// one byte per (head, q-block, kv-block). Refuses a wrong size.
LogicalResult overrideMask(func::FuncOp layer, ArrayRef<uint8_t> bits);

/// Puts the machine's costs on every balance op that has none.
LogicalResult setCosts(ModuleOp module, const sart::Machine &machine);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_JIT_LAYEROVERRIDES_H

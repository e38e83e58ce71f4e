//===- Sm90Checks.h - What verifiers of sa_sm90 share -----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_DIALECT_SM90_IR_SM90CHECKS_H
#define SPARSEATTN_LIB_DIALECT_SM90_IR_SM90CHECKS_H

#include "sparseattn/Dialect/Sm90/IR/Sm90.h"

#include <optional>

namespace mlir {
namespace sa_sm90 {
namespace detail {

/// Who runs an operation together.
enum class Place { Warpgroups, Warps, Threads };

/// Checks that `op` stands in a role of this kind.
LogicalResult verifyPlace(Operation *op, Place place);

/// Checks that `value` lies between `least` and `most`.
LogicalResult verifyRange(Operation *op, StringRef what, int64_t value,
                          int64_t least, int64_t most);

/// Checks that `value` is a multiple of `of` and not negative.
LogicalResult verifyMultiple(Operation *op, StringRef what, int64_t value,
                             int64_t of);

/// The value of an integer that is a constant.
std::optional<int64_t> constantOf(Value value);

/// Checks the id of a named barrier where it is a constant.
LogicalResult verifyBarrierId(Operation *op, Value id);

/// Checks that `cursor` points into something of `stages` stages.
LogicalResult verifyCursor(Operation *op, CursorType cursor, int64_t stages);

} // namespace detail
} // namespace sa_sm90
} // namespace mlir

#endif // SPARSEATTN_LIB_DIALECT_SM90_IR_SM90CHECKS_H

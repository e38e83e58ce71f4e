//===- TextLimits.h - Text that the parser can take -------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsers of MLIR and of JSON call themselves for everything that nests, and
// MLIR's for operands of affine expressions too, without a limit: some
// kilobytes of brackets end the process. Text from outside is judged here
// first.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_SUPPORT_TEXTLIMITS_H
#define SPARSEATTN_SUPPORT_TEXTLIMITS_H

#include "sparseattn-rt/Status.h"

#include <cstdint>
#include <string_view>

namespace mlir::sparseattn {

/// Far more than any module needs, far less than a stack holds.
constexpr int64_t maxTextNesting = 256;

/// Refuses MLIR or JSON text that nests deeper than maxTextNesting, by brackets
/// and by aliases of types and attributes together, or with more operators than
/// that in one expression, naming the line.
sart::Status checkTextLimits(std::string_view text);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_SUPPORT_TEXTLIMITS_H

//===- SupportMatrix.h - Which layers the verifiers accept ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_SUPPORT_MATRIX_SUPPORTMATRIX_H
#define SPARSEATTN_TOOLS_SUPPORT_MATRIX_SUPPORTMATRIX_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace mlir::sparseattn {

/// One value of one axis, together with every combination of the values of the
/// other axes that are meant to work.
struct SupportRow {
  std::string axis, value;
  int64_t accepted = 0, total = 0; ///< layers that the verifiers took
  std::string reason;              ///< the first refusal, without its position
};

/// Builds the layer of every combination (element type, head dimension, blocks,
/// tokens, heads, causal or not, source of the mask) in `context`, which needs
/// the func and sparseattn dialects, and asks the verifiers. Nothing in the
/// result is written down by hand.
std::vector<SupportRow> buildSupportMatrix(MLIRContext &context);

/// A Markdown table with one line per row.
std::string printSupportMatrix(const std::vector<SupportRow> &rows);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_TOOLS_SUPPORT_MATRIX_SUPPORTMATRIX_H

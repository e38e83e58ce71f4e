//===- ValueText.h - Values as lines of text --------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_SIM_VALUETEXT_H
#define SPARSEATTN_TOOLS_SIM_VALUETEXT_H

#include "sparseattn/Interpreter/Values.h"

#include <string>

namespace sart {

/// `H x Q x K, N of M tiles (density d) {` and the rows in the syntax of
/// `sa_comm.mask`: half-open ranges, equal neighbouring rows on one line.
std::string maskText(const BlockMask &mask);

/// Element type, shape, range, mean; how many elements are NaN or infinite.
std::string tensorText(const mlir::sparseattn::TensorValue &tensor);

/// One of the two, or `plan`.
std::string valueText(const mlir::sparseattn::InterpreterValue &value);

/// `label` padded to the width of the tools' first column.
std::string column(const std::string &label);

} // namespace sart

#endif // SPARSEATTN_TOOLS_SIM_VALUETEXT_H

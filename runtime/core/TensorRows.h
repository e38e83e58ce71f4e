//===- TensorRows.h - Rows of a tensor as bytes -----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_CORE_TENSORROWS_H
#define SPARSEATTN_RUNTIME_CORE_TENSORROWS_H

#include "sparseattn-rt/Executor.h"

namespace sart {

/// The rows of a tensor in host memory, one after another, without its strides.
std::string packRows(const Tensor &tensor);
/// Takes a tensor's rows from `bytes`, behind the first `taken`.
Status unpackRows(const std::string &bytes, size_t &taken,
                  const Tensor &tensor);

} // namespace sart

#endif // SPARSEATTN_RUNTIME_CORE_TENSORROWS_H

//===- Passes.h - From sparseattn to sa_comm --------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SPARSEATTNTOCOMM_PASSES_H
#define SPARSEATTN_CONVERSION_SPARSEATTNTOCOMM_PASSES_H

#include "sparseattn/Support/PassStatistics.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir {
namespace sparseattn {

#define GEN_PASS_DECL
#include "sparseattn/Conversion/SparseAttnToComm/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "sparseattn/Conversion/SparseAttnToComm/Passes.h.inc"

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOCOMM_PASSES_H

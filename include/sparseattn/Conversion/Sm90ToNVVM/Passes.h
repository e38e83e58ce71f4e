//===- Passes.h - From sa_sm90 to NVVM --------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SM90TONVVM_PASSES_H
#define SPARSEATTN_CONVERSION_SM90TONVVM_PASSES_H

#include "sparseattn/Support/PassStatistics.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir {
namespace sparseattn {

/// Name of the symbol at which a kernel's dynamic shared memory begins.
inline constexpr llvm::StringLiteral kSharedMemoryName = "smem";

#define GEN_PASS_DECL
#include "sparseattn/Conversion/Sm90ToNVVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "sparseattn/Conversion/Sm90ToNVVM/Passes.h.inc"

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_CONVERSION_SM90TONVVM_PASSES_H

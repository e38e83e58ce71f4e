//===- SparseAttnOps.td - Every op of the dialect ----------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNOPS_TD
#define SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNOPS_TD

include "sparseattn/Dialect/SparseAttn/IR/SparseAttnComputeOps.td"
include "sparseattn/Dialect/SparseAttn/IR/SparseAttnMaskOps.td"
include "sparseattn/Dialect/SparseAttn/IR/SparseAttnPlanOps.td"

#endif // SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNOPS_TD

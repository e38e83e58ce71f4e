//===- Sm90Ops.td - The operations of sa_sm90 ----------------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SM90_IR_SM90OPS
#define SPARSEATTN_DIALECT_SM90_IR_SM90OPS

include "sparseattn/Dialect/Sm90/IR/Sm90FragmentOps.td"
include "sparseattn/Dialect/Sm90/IR/Sm90KernelOps.td"
include "sparseattn/Dialect/Sm90/IR/Sm90ProductOps.td"
include "sparseattn/Dialect/Sm90/IR/Sm90RingOps.td"

#endif // SPARSEATTN_DIALECT_SM90_IR_SM90OPS

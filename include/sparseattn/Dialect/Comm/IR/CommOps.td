//===- CommOps.td - All operations of the sa_comm dialect --*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_COMM_IR_COMMOPS
#define SPARSEATTN_DIALECT_COMM_IR_COMMOPS

include "sparseattn/Dialect/Comm/IR/CommStructureOps.td"
include "sparseattn/Dialect/Comm/IR/CommTransferOps.td"
include "sparseattn/Dialect/Comm/IR/CommLocalOps.td"
include "sparseattn/Dialect/Comm/IR/CommComputeOps.td"

#endif // SPARSEATTN_DIALECT_COMM_IR_COMMOPS

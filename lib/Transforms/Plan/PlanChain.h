//===- PlanChain.h - From attend back to place ------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_TRANSFORMS_PLAN_PLANCHAIN_H
#define SPARSEATTN_LIB_TRANSFORMS_PLAN_PLANCHAIN_H

#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"

namespace mlir::sparseattn {

/// The op that placed the layer of `plan`: through balance and demand. Null
/// when that is not in the function.
PlaceOp findPlace(Value plan);

/// The last balance before `plan`; null when there is none.
BalanceOp findBalance(Value plan);

/// The op that made the mask, before augmentation; null for an argument.
Operation *findMaskSource(Value mask);

/// `'<name of op>'`, or `an argument`.
std::string describeSource(Value value);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_LIB_TRANSFORMS_PLAN_PLANCHAIN_H

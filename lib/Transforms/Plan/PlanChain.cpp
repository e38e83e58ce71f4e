//===- PlanChain.cpp - From attend back to place --------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PlanChain.h"

using namespace mlir;
using namespace mlir::sparseattn;

PlaceOp sparseattn::findPlace(Value plan) {
  while (plan) {
    if (auto demand = plan.getDefiningOp<DemandOp>())
      plan = demand.getPlan();
    else if (auto balance = plan.getDefiningOp<BalanceOp>())
      plan = balance.getPlan();
    else
      return plan.getDefiningOp<PlaceOp>();
  }
  return {};
}

BalanceOp sparseattn::findBalance(Value plan) {
  while (auto demand = plan.getDefiningOp<DemandOp>())
    plan = demand.getPlan();
  return plan.getDefiningOp<BalanceOp>();
}

Operation *sparseattn::findMaskSource(Value mask) {
  while (auto augment = mask.getDefiningOp<AugmentOp>())
    mask = augment.getMask();
  return mask.getDefiningOp();
}

std::string sparseattn::describeSource(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? "'" + op->getName().getStringRef().str() + "'" : "an argument";
}

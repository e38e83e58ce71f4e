//===- RandomPlan.h - Arbitrary legal plans ---------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_SUPPORT_RANDOMPLAN_H
#define SPARSEATTN_TEST_UNIT_SUPPORT_RANDOMPLAN_H

#include "sparseattn-rt/Planner.h"

namespace sart::test {

/// Arbitrary legal decisions that a template of these options has room for:
/// whole heads where shards end with blocks, and rows under the balances that
/// move them. Loads and transfers follow.
Plan randomPlan(const Placement &placement, const PlannerOptions &planner,
                const MaskSummary &summary, uint64_t seed);

} // namespace sart::test

#endif // SPARSEATTN_TEST_UNIT_SUPPORT_RANDOMPLAN_H

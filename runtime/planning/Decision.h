//===- Decision.h - What a plan decides -------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_PLANNING_DECISION_H
#define SPARSEATTN_RT_PLANNING_DECISION_H

#include "sparseattn-rt/Planner.h"

#include <cstdint>
#include <vector>

namespace sart {

/// Which heads and rows move. Everything else of a plan follows.
struct Decision {
  std::vector<HeadMove> moves;   ///< ascending by head
  std::vector<RowMove> rowMoves; ///< ascending by (head, first q-block)
};

/// What makePlan refuses.
Status verifyPlanInputs(const MaskSummary &summary, const Placement &placement,
                        const PlannerOptions &options);

/// Decides by `options.balance`.
Decision decide(const MaskSummary &summary, const Placement &placement,
                const PlannerOptions &options);

/// The plan that follows: loads, extra tiles, demand.
Plan completePlan(Decision decision, const MaskSummary &summary,
                  const Placement &placement, const PlannerOptions &options);

/// rho >= milli / 1000, without rounding.
bool reaches(const std::vector<int64_t> &loads, int64_t milli);

} // namespace sart

#endif // SPARSEATTN_RT_PLANNING_DECISION_H

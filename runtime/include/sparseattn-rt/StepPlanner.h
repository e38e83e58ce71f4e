//===- StepPlanner.h - Plans of one layer, step after step ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_STEPPLANNER_H
#define SPARSEATTN_RT_STEPPLANNER_H

#include "sparseattn-rt/Planner.h"

#include <cstdint>

namespace sart {

/// Plans the masks of one layer, step after step. Moves of the last step are
/// kept while they balance the new mask: rho, the largest over the mean load,
/// stays below `reuseMilli` thousandths. Everything else of a plan (loads,
/// demand, extra tiles) always follows the new mask. The same masks give the
/// same plans on every rank.
class StepPlanner {
public:
  /// reuseMilli 0: every mask is planned anew.
  StepPlanner(const Placement &placement, const PlannerOptions &options,
              int64_t reuseMilli)
      : placement(placement), options(options), reuseMilli(reuseMilli) {}

  /// Refuses what makePlan refuses. `planNs` receives the planning time when
  /// not null.
  Expected<Plan> plan(const MaskSummary &summary, int64_t *planNs = nullptr);
  /// Masks whose moves were decided anew.
  int64_t decided() const { return numDecided; }

private:
  Placement placement;
  PlannerOptions options;
  int64_t reuseMilli;
  int64_t numDecided = 0;
  std::vector<HeadMove> moves;
  std::vector<RowMove> rowMoves;
};

} // namespace sart

#endif // SPARSEATTN_RT_STEPPLANNER_H

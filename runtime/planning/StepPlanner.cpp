//===- StepPlanner.cpp - Plans of one layer, step after step --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/StepPlanner.h"

#include "Decision.h"

#include <chrono>

using namespace sart;

Expected<Plan> StepPlanner::plan(const MaskSummary &summary, int64_t *planNs) {
  auto start = std::chrono::steady_clock::now();
  SART_RETURN_IF_ERROR(verifyPlanInputs(summary, placement, options));
  Decision last{moves, rowMoves};
  bool keeps = false;
  if (numDecided > 0 && reuseMilli > 0) {
    Plan plan;
    plan.moves = moves;
    std::vector<int64_t> loads =
        rankLoads(summary.loads, plan.owners(placement), placement.mesh);
    applyRowMoves(summary, rowMoves, loads);
    keeps = !reaches(loads, reuseMilli);
  }
  if (!keeps) {
    last = decide(summary, placement, options);
    moves = last.moves;
    rowMoves = last.rowMoves;
    ++numDecided;
  }
  Plan plan = completePlan(std::move(last), summary, placement, options);
  if (planNs)
    *planNs = std::chrono::duration_cast<std::chrono::nanoseconds>(
                  std::chrono::steady_clock::now() - start)
                  .count();
  return plan;
}

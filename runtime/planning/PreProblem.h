//===- PreProblem.h - Owners before the exchange ----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_PLANNING_PREPROBLEM_H
#define SPARSEATTN_RT_PLANNING_PREPROBLEM_H

#include "SplitProblem.h"

#include <cstdint>
#include <vector>

namespace sart {

/// Costs of whole heads: costs[head * ring + r], and heads by descending total,
/// equal ones by ascending number.
struct HeadCosts {
  HeadCosts(const HeadLoads &loads, const Placement &placement,
            const RowCosts &rows);
  const int64_t *of(int64_t head) const { return costs.data() + head * ring; }

  int64_t heads, ring;
  std::vector<int64_t> costs;
  std::vector<int32_t> order;
};

/// Renumbers the bins of `owners` so that many heads stay with the index that
/// the placement gives them: as many as possible up to 16 indices.
/// `names[bin]` receives the index.
void nameBins(std::vector<int64_t> &owners, const Placement &placement,
              std::vector<int64_t> &names);

} // namespace sart

#endif // SPARSEATTN_RT_PLANNING_PREPROBLEM_H

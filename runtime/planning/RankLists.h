//===- RankLists.h - Values of one rank's symbols ---------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_PLANNING_RANKLISTS_H
#define SPARSEATTN_RT_PLANNING_RANKLISTS_H

#include "sparseattn-rt/Binder.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sart {

/// Symbol names and their values, in the order of standardSymbols().
using NamedLists = std::vector<std::pair<std::string, std::vector<int64_t>>>;

/// Appends the static symbols of `rank`.
void appendStaticLists(const Placement &placement,
                       const PlannerOptions &planner, int64_t rank,
                       NamedLists &lists);
/// Appends xq_*, xkv_* and, with block shards, xm_*: what brings every rank the
/// rows that it attends under `plan`, and the keys of its heads.
void appendExchangeLists(const Placement &placement,
                         const PlannerOptions &planner, const Plan &plan,
                         int64_t rank, NamedLists &lists);
/// Appends the dynamic symbols of `rank`. `plan` verifies against `placement`.
void appendDynamicLists(const Placement &placement,
                        const PlannerOptions &planner, const Plan &plan,
                        int64_t rank, NamedLists &lists);

/// Members of the exchange group of `rank`, in group order.
std::vector<int64_t> exchangeMembers(const Placement &placement,
                                     const PlannerOptions &planner,
                                     int64_t rank);
/// Tokens of q-blocks (global), the last one cut at the end.
inline Range queryTokens(const LayerShape &shape, Range qBlocks) {
  return {std::min(qBlocks.begin * shape.blockQ, shape.sq),
          std::min(qBlocks.end * shape.blockQ, shape.sq)};
}
/// What two ranges share; empty if nothing.
inline Range intersection(Range a, Range b) {
  Range both{std::max(a.begin, b.begin), std::min(a.end, b.end)};
  return both.empty() ? Range{both.begin, both.begin} : both;
}
inline Range shifted(Range range, int64_t by) {
  return {range.begin - by, range.end - by};
}

/// One list under construction: chunks or work, stored flat.
class ListBuilder {
public:
  /// Nothing for an empty range.
  void addChunk(int64_t slot, Range rows) {
    if (rows.empty())
      return;
    list.insert(list.end(), {slot, rows.begin, rows.end});
    ++entries;
  }
  void addWork(const Work &work) {
    list.insert(list.end(),
                {work.head, work.qSlot, work.kvSlot, work.qBegin, work.qEnd,
                 work.kvBegin, work.kvEnd, work.budget, work.origin});
    ++entries;
  }
  /// Ends the part of one member of a collective.
  void endMember() {
    counts.push_back(entries);
    entries = 0;
  }

  std::vector<int64_t> list;
  std::vector<int64_t> counts; ///< entries per member

private:
  int64_t entries = 0;
};

} // namespace sart

#endif // SPARSEATTN_RT_PLANNING_RANKLISTS_H

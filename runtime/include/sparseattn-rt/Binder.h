//===- Binder.h - From a plan to a template's symbol values -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_BINDER_H
#define SPARSEATTN_RT_BINDER_H

#include "sparseattn-rt/Program.h"

#include <string>
#include <string_view>
#include <vector>

namespace sart {

/// Slots of one rank: which head's rows of which segment stand in which slot.
/// Initial heads take slots 0.. in ascending order, what comes in the next free
/// ones; kv heads likewise, an incoming kv head that is present already shares
/// its slot. Rows that move share the slot of their head and segment. With
/// block shards nothing stands anywhere before the moves.
struct SlotTable {
  std::vector<int64_t> qHeads;  ///< head in each q slot
  std::vector<int64_t> qRings;  ///< segment of its rows
  std::vector<int64_t> kvHeads; ///< kv head in each kv slot
  int64_t qSlotOf(int64_t head, int64_t ringIndex) const; ///< -1: none
  int64_t kvSlotOf(int64_t kvHead) const;                 ///< -1: none
};
/// Slots before moves (an empty plan), and after them (a head that left keeps
/// its slot index, so that slots never shift).
SlotTable slotsOf(const Placement &placement, int64_t rank, const Plan &plan);
/// Row moves into one rank, and out of one, that a template is ready for.
int64_t pieceCapacity(const Placement &placement,
                      const PlannerOptions &planner);
/// Capacities over all ranks and plans: largest initial count + 1 (no + 1 when
/// there is one Ulysses index; at least 1), and one for each piece.
int64_t qSlotCapacity(const Placement &placement,
                      const PlannerOptions &planner = {});
int64_t kvSlotCapacity(const Placement &placement,
                       const PlannerOptions &planner = {});
/// The ranks among which queries and outputs travel: with row moves between
/// segments all, else the Ulysses group.
Group exchangeGroup(const Placement &placement, const PlannerOptions &planner);

/// Symbols the binder knows, in the order of the template. For ring > 1 the
/// names ending in `_<d>` exist for every distance d = 1 .. ring - 1.
///
/// Binder.cpp has the full table: what each list holds, in which order and in
/// which coordinates. A program may leave symbols out. Lists of chunks without
/// rows are empty, on both ends of a transfer alike.
///
/// Static: xq_*, xkv_* (exchange of q; of k and v), pool_q, pool_k, gk_*
/// (pooled keys over the ring group), route, gs_* (summaries over all ranks).
/// With block shards xq_* and xkv_* are dynamic, and so is xm_* (exchange of
/// mask rows), which exists only then.
///
/// Dynamic: augment; rm_*_<i>, attend_rows_<i> (row moves, i = 0 ..
/// pieceCapacity - 1, balance split only); mv_* (heads that move: peers, rows
/// of q, of k and v, of the mask); free_q, free_kv (slots that a moved head
/// leaves); attend_local, attend_moved; kv_*_<d>, attend_remote_<d>, merge_<d>
/// (ring distance d); final_o; ro_* (outputs on their way home); live_q,
/// live_kv (slots to release at the end).
std::vector<Symbol> standardSymbols(const Placement &placement,
                                    const PlannerOptions &planner = {});

/// Values of the static symbols of all ranks; dynamic ones stay empty. Refuses
/// symbols that are not standardSymbols() of the program, or declared twice.
Expected<Binding> bindStatics(const Program &program);
/// Adds the dynamic symbols' values of all ranks for `plan` to the statics
/// (program.statics if bound, else computed).
/// Refuses a plan that does not verify against the program's placement, or
/// needs more slots or row moves than the program has.
Expected<Binding> bindPlan(const Program &program, const Plan &plan);
/// The same for one rank: values[symbol].
Expected<std::vector<std::vector<int64_t>>>
bindPlanForRank(const Program &program, const Plan &plan, int64_t rank);

} // namespace sart

#endif // SPARSEATTN_RT_BINDER_H

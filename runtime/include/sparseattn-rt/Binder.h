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

/// Slots of one rank: which head stands in which slot. Initial heads take
/// slots 0.. in ascending order, an incoming head the next free one; kv heads
/// likewise, an incoming kv head that is present already shares its slot.
struct SlotTable {
  std::vector<int64_t> qHeads;            ///< head in each q slot
  std::vector<int64_t> kvHeads;           ///< kv head in each kv slot
  int64_t qSlotOf(int64_t head) const;    ///< -1: none
  int64_t kvSlotOf(int64_t kvHead) const; ///< -1: none
};
/// Slots before moves, and after them (a head that left keeps its slot index,
/// so that slots never shift).
SlotTable slotsOf(const Placement &placement, int64_t rank,
                  const std::vector<HeadMove> &moves);
/// Capacities over all ranks and plans: largest initial count + 1 (no + 1 when
/// there is one Ulysses index; at least 1).
int64_t qSlotCapacity(const Placement &placement);
int64_t kvSlotCapacity(const Placement &placement);

/// Symbols the binder knows, in the order of the template. For ring > 1 the
/// names ending in `_<d>` exist for every distance d = 1 .. ring - 1.
///
/// Binder.cpp has the full table: what each list holds, in which order and in
/// which coordinates. A program may leave symbols out. Lists of chunks without
/// rows are empty, on both ends of a transfer alike.
/// static:
///   xq_send xq_send_n xq_recv xq_recv_n       q_shard -> q (also of o's shape)
///   xkv_send xkv_send_n xkv_recv xkv_recv_n   k_shard -> k, v_shard -> v
///   pool_q pool_k                             work
///   gk_send gk_recv gk_recv_n                 pooled_k over the ring group
///   route                                     work
///   gs_send gs_recv gs_recv_n                 summary -> summary_all, all
///   ranks
/// dynamic:
///   augment                                   work with budgets
///   mv_peer_out mv_peer_in                    {} or {rank}
///   mv_q_out mv_q_in                          chunks of q
///   mv_kv_out mv_kv_in                        chunks of k and v ({} if
///   present) mv_mask_out mv_mask_in                    chunks of mask free_q
///   free_kv                            slots of heads that left attend_local
///   work: heads that stayed, own kv-blocks attend_moved work: heads that came,
///   own kv-blocks kv_peer_out_d kv_peer_in_d                {} or {rank}: ring
///   distance d kv_out_d kv_in_d                          chunks of k and v
///   attend_remote_d                           work against segment (r - d) mod
///   ring merge_d                                   chunks of o ro_send
///   ro_send_n ro_recv ro_recv_n       o -> o_shard, lse -> lse_shard final_o
///   chunks of o (conversion to dtype) live_q live_kv slots to release at the
///   end
std::vector<Symbol> standardSymbols(const Mesh &mesh);

/// Values of the static symbols of all ranks; dynamic ones stay empty. Refuses
/// symbols that are not standardSymbols() of the mesh, or declared twice.
Expected<Binding> bindStatics(const Program &program);
/// Adds the dynamic symbols' values of all ranks for `plan` to the statics
/// (program.statics if bound, else computed).
/// Refuses a plan that does not verify against the program's placement.
Expected<Binding> bindPlan(const Program &program, const Plan &plan);
/// The same for one rank: values[symbol].
Expected<std::vector<std::vector<int64_t>>>
bindPlanForRank(const Program &program, const Plan &plan, int64_t rank);

} // namespace sart

#endif // SPARSEATTN_RT_BINDER_H

//===- Binder.cpp - From a plan to a template's symbol values -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The symbols. Rank (u, r); "my" heads are those of u. Chunks are (slot, rows).
// A shard window has the rows of the rank's shard from 0 on and one slot per
// global head; q, mask, o, lse rows count from the segment's first token or
// q-block; k, v and pooled_k rows are global. Lists of two partners name the
// same rows in the same order. Chunks without rows are left out, at both ends.
//
// static
//  xq_send      chunks of q_shard: member by member of the Ulysses group, that
//               member's heads ascending, all my shard's rows
//  xq_recv      chunks of q: member by member, my heads ascending (slot = place
//               among my heads), the rows of that member's shard
//  xkv_send     chunks of k_shard, v_shard: the same for kv heads; a kv head
//               goes to every member that has one of its query heads
//  xkv_recv     chunks of k, v: my kv heads ascending, global rows
//  *_n          number of chunks per member
//  pool_q       work: my heads, q-blocks of the segment (kv range empty)
//  pool_k       work: my kv heads, kv-blocks of the segment (q range empty);
//               head is the kv head's first query head here
//  gk_send      chunks of pooled_k: my kv heads, kv-blocks of the segment
//  gk_recv      chunks of pooled_k: member by member of the ring group
//  route        work: my heads, all q-blocks of the segment against all
//               kv-blocks; an entry also without q-blocks, for its summary
//  gs_send      chunks of summary: slot = my heads, row 0
//  gs_recv      chunks of summary_all: member by member of all ranks, slot =
//               member * heads + head
// dynamic
//  augment      work: heads that stayed and have a budget, own kv-blocks
//  mv_peer_out  {rank} that gets my outgoing head, {} if there is none or it
//               has no rows here; mv_peer_in: the rank it comes from
//  mv_q_*       chunk of q: the head, all rows of the segment
//  mv_kv_*      chunk of k, v: its kv head, all rows of the segment; {} if the
//               receiver had this kv head before the moves
//  mv_mask_*    chunk of mask: the head, all q-blocks of the segment
//  free_q       slots of q and mask whose head left (if the segment has rows)
//  free_kv      slots of k and v whose kv head no head here uses any more
//  attend_local work: heads that stayed, all q-blocks, own kv-blocks; entries
//               also without a tile, so that o and lse are written
//  attend_moved the same for heads that came
//  kv_peer_out_d {rank (u, r + d)} or {}; kv_peer_in_d {rank (u, r - d)} or {}
//  kv_out_d     chunks of k, v: the plan's transfers from r to r + d by kv
//  head,
//               one chunk per range of blocks, cut at the last token
//  kv_in_d      the same from r - d to r
//  attend_remote_d work: heads here whose kv head has a transfer from r - d,
//               all q-blocks, all kv-blocks of segment r - d
//  merge_d      chunks of o: the heads of attend_remote_d, all rows
//  ro_send      chunks of o: member by member, heads here after the moves
//               ascending, the rows of that member's shard
//  ro_recv      chunks of o_shard: member by member, the heads that member has
//               after the moves, slot = head, all rows of my shard
//  final_o      chunks of o: heads here after the moves ascending, all rows
//  live_q       slots of q, mask, o, lse that hold rows at the end, ascending
//  live_kv      slots of k and v that hold rows at the end, ascending
//
//===----------------------------------------------------------------------===//
#include "RankLists.h"

#include <algorithm>

using namespace sart;

namespace {

/// All names of a placement, with what a plan without content binds.
NamedLists namesOf(const Mesh &mesh, size_t &statics) {
  Placement placement;
  placement.mesh = mesh;
  NamedLists lists;
  appendStaticLists(placement, 0, lists);
  statics = lists.size();
  appendDynamicLists(placement, Plan(), 0, lists);
  return lists;
}

/// Index of `name` among the symbols, or -1; looks at `hint` first, because a
/// template lists its symbols in the standard order.
int64_t findSymbol(const std::vector<Symbol> &symbols, std::string_view name,
                   size_t hint) {
  for (size_t i = 0; i < symbols.size(); ++i) {
    size_t at = (hint + i) % symbols.size();
    if (symbols[at].name == name)
      return static_cast<int64_t>(at);
  }
  return -1;
}

/// Puts named values where the program's symbols want them.
void assign(const Program &program, NamedLists lists,
            std::vector<std::vector<int64_t>> &values) {
  size_t next = 0;
  for (auto &[name, list] : lists) {
    int64_t at = findSymbol(program.symbols, name, next);
    if (at < 0)
      continue;
    values[static_cast<size_t>(at)] = std::move(list);
    next = static_cast<size_t>(at) + 1;
  }
}

Status verifySymbols(const Program &program) {
  SART_RETURN_IF_ERROR(program.placement.verify());
  std::vector<Symbol> known = standardSymbols(program.placement.mesh);
  std::vector<bool> seen(known.size(), false);
  size_t next = 0;
  for (const Symbol &symbol : program.symbols) {
    int64_t at = findSymbol(known, symbol.name, next);
    if (at < 0)
      return makeError("symbol not known to the binder: got ", symbol.name,
                       ", expected one of the ", known.size(),
                       " names for ulysses ", program.placement.mesh.ulysses,
                       " ring ", program.placement.mesh.ring);
    size_t index = static_cast<size_t>(at);
    if (seen[index])
      return makeError("symbol declared twice: got ", symbol.name,
                       ", expected distinct names");
    if (symbol.isStatic != known[index].isStatic)
      return makeError("symbol ", symbol.name, " declared wrongly: got ",
                       symbol.isStatic ? "static" : "dynamic", ", expected ",
                       symbol.isStatic ? "dynamic" : "static");
    seen[index] = true;
    next = index + 1;
  }
  return Status::success();
}

using RankValues = std::vector<std::vector<int64_t>>;

RankValues staticsOf(const Program &program, int64_t rank) {
  // The template may carry its statics already.
  const auto &bound = program.statics.values;
  if (static_cast<int64_t>(bound.size()) == program.placement.mesh.ranks() &&
      bound[static_cast<size_t>(rank)].size() == program.symbols.size())
    return bound[static_cast<size_t>(rank)];
  RankValues values(program.symbols.size());
  NamedLists lists;
  appendStaticLists(program.placement, rank, lists);
  assign(program, std::move(lists), values);
  return values;
}

RankValues bindVerified(const Program &program, const Plan &plan,
                        int64_t rank) {
  RankValues values = staticsOf(program, rank);
  NamedLists lists;
  appendDynamicLists(program.placement, plan, rank, lists);
  assign(program, std::move(lists), values);
  return values;
}

int64_t indexOf(const std::vector<int64_t> &list, int64_t value) {
  auto it = std::find(list.begin(), list.end(), value);
  return it == list.end() ? -1 : it - list.begin();
}

} // namespace

int64_t SlotTable::qSlotOf(int64_t head) const { return indexOf(qHeads, head); }
int64_t SlotTable::kvSlotOf(int64_t kvHead) const {
  return indexOf(kvHeads, kvHead);
}

SlotTable sart::slotsOf(const Placement &placement, int64_t rank,
                        const std::vector<HeadMove> &moves) {
  int64_t u = placement.mesh.ulyssesIndex(rank);
  Range heads = placement.headsOf(u), kvHeads = placement.kvHeadsOf(u);
  SlotTable slots;
  slots.qHeads.reserve(static_cast<size_t>(heads.size()) + 1);
  slots.kvHeads.reserve(static_cast<size_t>(kvHeads.size()) + 1);
  for (int64_t head = heads.begin; head < heads.end; ++head)
    slots.qHeads.push_back(head);
  for (int64_t kvHead = kvHeads.begin; kvHead < kvHeads.end; ++kvHead)
    slots.kvHeads.push_back(kvHead);
  for (const HeadMove &move : moves) {
    if (move.to != u)
      continue;
    slots.qHeads.push_back(move.head);
    int64_t kvHead = placement.shape.kvHeadOf(move.head);
    if (slots.kvSlotOf(kvHead) < 0)
      slots.kvHeads.push_back(kvHead);
  }
  return slots;
}

int64_t sart::qSlotCapacity(const Placement &placement) {
  int64_t most = 0;
  for (int64_t u = 0; u < placement.mesh.ulysses; ++u)
    most = std::max(most, placement.headsOf(u).size());
  return std::max<int64_t>(most + (placement.mesh.ulysses > 1), 1);
}

int64_t sart::kvSlotCapacity(const Placement &placement) {
  int64_t most = 0;
  for (int64_t u = 0; u < placement.mesh.ulysses; ++u)
    most = std::max(most, placement.kvHeadsOf(u).size());
  return std::max<int64_t>(most + (placement.mesh.ulysses > 1), 1);
}

std::vector<Symbol> sart::standardSymbols(const Mesh &mesh) {
  if (!mesh.verify().ok())
    return {};
  size_t statics = 0;
  NamedLists lists = namesOf(mesh, statics);
  std::vector<Symbol> symbols;
  symbols.reserve(lists.size());
  for (size_t i = 0; i < lists.size(); ++i)
    symbols.push_back({std::move(lists[i].first), i < statics});
  return symbols;
}

Expected<Binding> sart::bindStatics(const Program &program) {
  SART_RETURN_IF_ERROR(verifySymbols(program));
  Binding binding;
  for (int64_t rank = 0; rank < program.placement.mesh.ranks(); ++rank) {
    RankValues values(program.symbols.size());
    NamedLists lists;
    appendStaticLists(program.placement, rank, lists);
    assign(program, std::move(lists), values);
    binding.values.push_back(std::move(values));
  }
  return binding;
}

Expected<Binding> sart::bindPlan(const Program &program, const Plan &plan) {
  SART_RETURN_IF_ERROR(verifySymbols(program));
  SART_RETURN_IF_ERROR(plan.verify(program.placement));
  Binding binding;
  binding.values.reserve(static_cast<size_t>(program.placement.mesh.ranks()));
  for (int64_t rank = 0; rank < program.placement.mesh.ranks(); ++rank)
    binding.values.push_back(bindVerified(program, plan, rank));
  return binding;
}

Expected<std::vector<std::vector<int64_t>>>
sart::bindPlanForRank(const Program &program, const Plan &plan, int64_t rank) {
  SART_RETURN_IF_ERROR(verifySymbols(program));
  SART_RETURN_IF_ERROR(plan.verify(program.placement));
  if (rank < 0 || rank >= program.placement.mesh.ranks())
    return makeError("rank out of range: got ", rank, ", expected 0 to ",
                     program.placement.mesh.ranks() - 1);
  return bindVerified(program, plan, rank);
}

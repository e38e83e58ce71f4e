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
// With block shards: pool_q, pool_k and route list all heads and the blocks of
// the shard (origin: its first block), gk_* goes over all ranks, and xq_*,
// xkv_* are bound by the plan, as is xm_* (mask rows, like xq_* in q-blocks):
// every rank gets the rows that it attends.
// dynamic
//  augment      work: heads that stayed and have a budget, own kv-blocks
//  mv_peer_out  {rank} that gets my outgoing head, {} if there is none or it
//               has no rows here; mv_peer_in: the rank it comes from
//  mv_q_*       chunk of q: the head, all rows of the segment
//  mv_kv_*      chunk of k, v: its kv head, all rows of the segment; {} if the
//               receiver had this kv head before the moves
//  mv_mask_*    chunk of mask: the head, all q-blocks of the segment
//  rm_peer_out_i {rank} that gets my i-th row move, in the plan's order, or {};
//               rm_peer_in_i the rank my i-th incoming one comes from
//  rm_q_*_i     chunk of q: its rows; rm_mask_*_i: its q-blocks of mask
//  rm_kv_*_i    chunk of k, v: its kv head, all rows; {} with several segments,
//               or if the receiver has the kv head, by an earlier row move too
//  attend_rows_i work: my i-th incoming row move, own kv-blocks
//  free_q       slots of q and mask none of whose rows stay (if the segment has
//               rows)
//  free_kv      slots of k and v whose kv head no head here uses any more
//  attend_local work: rows that stayed, own kv-blocks; entries also without a
//               tile, so that o and lse are written; with block shards all rows
//  attend_moved the same for heads that came
//  kv_peer_out_d {rank (u, r + d)} or {}; kv_peer_in_d {rank (u, r - d)} or {}
//  kv_out_d     chunks of k, v: the plan's transfers from r to r + d by kv
//  head,
//               one chunk per range of blocks, cut at the last token
//  kv_in_d      the same from r - d to r
//  attend_remote_d work: rows here whose kv head has a transfer from r - d, all
//               kv-blocks of segment r - d
//  merge_d      chunks of o: the rows of attend_remote_d
//  ro_send      chunks of o: member by member of the exchange group, what I
//               attend (rowsHeldBy) of that member's shard
//  ro_recv      chunks of o_shard: member by member, what that member attends
//               of my shard, slot = head
//  final_o      chunks of o: everything I attend
//  live_q       slots of q, mask, o, lse that hold rows at the end, ascending
//  live_kv      slots of k and v that hold rows at the end, ascending
//
//===----------------------------------------------------------------------===//
#include "RankLists.h"

#include <algorithm>

using namespace sart;

namespace {

/// All names of a layer, with what a plan without content binds.
NamedLists namesOf(const Placement &layer, const PlannerOptions &planner,
                   size_t &statics) {
  Placement placement;
  placement.mesh = layer.mesh;
  placement.blockShards = layer.blockShards;
  NamedLists lists;
  appendStaticLists(placement, planner, 0, lists);
  statics = lists.size();
  appendDynamicLists(placement, planner, Plan(), 0, lists);
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
  std::vector<Symbol> known =
      standardSymbols(program.placement, program.planner);
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
  appendStaticLists(program.placement, program.planner, rank, lists);
  assign(program, std::move(lists), values);
  return values;
}

RankValues bindVerified(const Program &program, const Plan &plan,
                        int64_t rank) {
  RankValues values = staticsOf(program, rank);
  NamedLists lists;
  appendDynamicLists(program.placement, program.planner, plan, rank, lists);
  assign(program, std::move(lists), values);
  return values;
}

/// What the template has room for.
Status verifyCapacity(const Program &program, const Plan &plan) {
  const Placement &placement = program.placement;
  int64_t pieces = pieceCapacity(placement, program.planner);
  int64_t qSlots = qSlotCapacity(placement, program.planner);
  int64_t kvSlots = kvSlotCapacity(placement, program.planner);
  for (int64_t rank = 0; rank < placement.mesh.ranks(); ++rank) {
    int64_t out = 0, in = 0;
    for (const RowMove &move : plan.rowMoves) {
      out += move.from == rank;
      in += move.to == rank;
    }
    if (std::max(out, in) > pieces)
      return makeError("row moves of rank ", rank,
                       " exceed the template's: got ", out, " out and ", in,
                       " in, expected at most ", pieces, " each");
    SlotTable slots = slotsOf(placement, rank, plan);
    auto q = static_cast<int64_t>(slots.qHeads.size());
    auto kv = static_cast<int64_t>(slots.kvHeads.size());
    if (q > qSlots || kv > kvSlots)
      return makeError("heads of rank ", rank,
                       " exceed the template's slots: "
                       "got ",
                       q, " and ", kv, " kv heads, expected at most ", qSlots,
                       " and ", kvSlots);
  }
  return Status::success();
}

} // namespace

int64_t SlotTable::qSlotOf(int64_t head, int64_t ringIndex) const {
  for (size_t slot = 0; slot < qHeads.size(); ++slot)
    if (qHeads[slot] == head && qRings[slot] == ringIndex)
      return static_cast<int64_t>(slot);
  return -1;
}

int64_t SlotTable::kvSlotOf(int64_t kvHead) const {
  auto it = std::find(kvHeads.begin(), kvHeads.end(), kvHead);
  return it == kvHeads.end() ? -1 : it - kvHeads.begin();
}

SlotTable sart::slotsOf(const Placement &placement, int64_t rank,
                        const Plan &plan) {
  int64_t u = placement.mesh.ulyssesIndex(rank);
  int64_t r = placement.mesh.ringIndex(rank);
  SlotTable slots;
  auto add = [&](int64_t head, int64_t ringIndex) {
    if (slots.qSlotOf(head, ringIndex) < 0) {
      slots.qHeads.push_back(head);
      slots.qRings.push_back(ringIndex);
    }
    int64_t kvHead = placement.shape.kvHeadOf(head);
    if (slots.kvSlotOf(kvHead) < 0)
      slots.kvHeads.push_back(kvHead);
  };
  if (placement.blockShards) {
    std::vector<int64_t> owners = plan.owners(placement);
    for (int64_t head = 0; head < placement.shape.heads; ++head)
      if (owners[static_cast<size_t>(head)] == u)
        add(head, r);
  } else {
    Range heads = placement.headsOf(u);
    for (int64_t head = heads.begin; head < heads.end; ++head)
      add(head, r);
    for (const HeadMove &move : plan.moves)
      if (move.to == u)
        add(move.head, r);
  }
  for (const RowMove &move : plan.rowMoves)
    if (move.to == rank)
      add(move.head, placement.mesh.ringIndex(move.from));
  return slots;
}

int64_t sart::pieceCapacity(const Placement &placement,
                            const PlannerOptions &planner) {
  bool moves = planner.balance == Balance::Split ||
               (planner.balance == Balance::Pre && planner.repair);
  return moves ? std::min(planner.maxPieces, placement.mesh.ranks() - 1) : 0;
}

/// Heads beside the largest initial count that one Ulysses index may get.
static int64_t incomingCapacity(const Placement &placement,
                                const PlannerOptions &planner) {
  int64_t whole =
      placement.mesh.ulysses > 1 && planner.balance != Balance::Split;
  return whole + pieceCapacity(placement, planner);
}

int64_t sart::qSlotCapacity(const Placement &placement,
                            const PlannerOptions &planner) {
  int64_t most = 0;
  for (int64_t u = 0; u < placement.mesh.ulysses; ++u)
    most = std::max(most, placement.headsOf(u).size());
  return std::max<int64_t>(most + incomingCapacity(placement, planner), 1);
}

int64_t sart::kvSlotCapacity(const Placement &placement,
                             const PlannerOptions &planner) {
  // Heads that go anywhere may each need a kv head of their own.
  if (placement.blockShards)
    return std::min(qSlotCapacity(placement, planner), placement.shape.kvHeads);
  int64_t most = 0;
  for (int64_t u = 0; u < placement.mesh.ulysses; ++u)
    most = std::max(most, placement.kvHeadsOf(u).size());
  return std::max<int64_t>(most + incomingCapacity(placement, planner), 1);
}

Group sart::exchangeGroup(const Placement &placement,
                          const PlannerOptions &planner) {
  return placement.mesh.ring > 1 && pieceCapacity(placement, planner) > 0
             ? Group::All
             : Group::Ulysses;
}

std::vector<Symbol> sart::standardSymbols(const Placement &placement,
                                          const PlannerOptions &planner) {
  if (!placement.mesh.verify().ok())
    return {};
  size_t statics = 0;
  NamedLists lists = namesOf(placement, planner, statics);
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
    appendStaticLists(program.placement, program.planner, rank, lists);
    assign(program, std::move(lists), values);
    binding.values.push_back(std::move(values));
  }
  return binding;
}

Expected<Binding> sart::bindPlan(const Program &program, const Plan &plan) {
  SART_RETURN_IF_ERROR(verifySymbols(program));
  SART_RETURN_IF_ERROR(plan.verify(program.placement));
  SART_RETURN_IF_ERROR(verifyCapacity(program, plan));
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
  SART_RETURN_IF_ERROR(verifyCapacity(program, plan));
  if (rank < 0 || rank >= program.placement.mesh.ranks())
    return makeError("rank out of range: got ", rank, ", expected 0 to ",
                     program.placement.mesh.ranks() - 1);
  return bindVerified(program, plan, rank);
}

//===- ExchangeLists.cpp - Between shards of the sequence and heads -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Before routing nothing has moved yet, and the exchange is that of an empty
// plan; with block shards the plan is known first, and the exchange is the only
// journey of a head.
//
//===----------------------------------------------------------------------===//
#include "RankLists.h"

using namespace sart;

std::vector<int64_t> sart::exchangeMembers(const Placement &placement,
                                           const PlannerOptions &planner,
                                           int64_t rank) {
  const Mesh &mesh = placement.mesh;
  bool all = exchangeGroup(placement, planner) == Group::All;
  int64_t count = all ? mesh.ranks() : mesh.ulysses;
  std::vector<int64_t> members;
  members.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    members.push_back(all ? i : mesh.rankOf(i, mesh.ringIndex(rank)));
  return members;
}

namespace {

class ExchangeLists {
public:
  ExchangeLists(const Placement &placement, const PlannerOptions &planner,
                const Plan &plan, int64_t rank, NamedLists &lists)
      : placement(placement), shape(placement.shape), plan(plan), rank(rank),
        segment(placement.mesh.ringIndex(rank)),
        slots(slotsOf(placement, rank, plan)),
        // Before the plan everything stays in its segment.
        members(exchangeMembers(
            placement, placement.blockShards ? planner : PlannerOptions(),
            rank)),
        lists(lists) {}

  void append() {
    for (int64_t member : members) {
      appendQueries(member);
      appendKeys(member);
    }
    add("xq", qSend, qRecv);
    add("xkv", kvSend, kvRecv);
    if (placement.blockShards)
      add("xm", maskSend, maskRecv);
  }

private:
  void add(const std::string &stem, ListBuilder &send, ListBuilder &recv) {
    lists.emplace_back(stem + "_send", std::move(send.list));
    lists.emplace_back(stem + "_send_n", std::move(send.counts));
    lists.emplace_back(stem + "_recv", std::move(recv.list));
    lists.emplace_back(stem + "_recv_n", std::move(recv.counts));
  }

  /// Rows of `source`'s shard that `target` attends.
  template <typename Visit>
  void forEachRows(int64_t source, int64_t target, Visit visit) {
    Range shard = placement.qShardOf(source);
    for (const HeldRows &held : rowsHeldBy(plan, placement, target)) {
      Range rows = intersection(queryTokens(shape, held.qBlocks), shard);
      if (!rows.empty())
        visit(held, rows);
    }
  }

  Range blocksOf(Range tokens) const {
    return {tokens.begin / shape.blockQ,
            (tokens.end + shape.blockQ - 1) / shape.blockQ};
  }

  void appendQueries(int64_t member) {
    Range mine = placement.qShardOf(rank);
    forEachRows(rank, member, [&](const HeldRows &held, Range rows) {
      qSend.addChunk(held.head, shifted(rows, mine.begin));
      if (placement.blockShards)
        maskSend.addChunk(held.head,
                          shifted(blocksOf(rows), blocksOf(mine).begin));
    });
    forEachRows(member, rank, [&](const HeldRows &held, Range rows) {
      int64_t slot = slots.qSlotOf(held.head, held.ringIndex);
      qRecv.addChunk(slot,
                     shifted(rows, placement.qTokensOf(held.ringIndex).begin));
      if (placement.blockShards)
        maskRecv.addChunk(
            slot,
            shifted(blocksOf(rows), placement.qBlocksOf(held.ringIndex).begin));
    });
    for (ListBuilder *list : {&qSend, &qRecv, &maskSend, &maskRecv})
      list->endMember();
  }

  /// A kv head goes to every member of the Ulysses group that uses it; here K
  /// and V never leave the segment.
  void appendKeys(int64_t member) {
    if (placement.mesh.ringIndex(member) != segment)
      return;
    Range mine = placement.kvShardOf(rank);
    for (int64_t kvHead : slotsOf(placement, member, plan).kvHeads)
      kvSend.addChunk(kvHead, shifted(mine, mine.begin));
    for (int64_t kvHead : slots.kvHeads)
      kvRecv.addChunk(slots.kvSlotOf(kvHead), placement.kvShardOf(member));
    kvSend.endMember();
    kvRecv.endMember();
  }

  const Placement &placement;
  const LayerShape &shape;
  const Plan &plan;
  int64_t rank, segment;
  SlotTable slots;
  std::vector<int64_t> members;
  NamedLists &lists;
  ListBuilder qSend, qRecv, kvSend, kvRecv, maskSend, maskRecv;
};

} // namespace

void sart::appendExchangeLists(const Placement &placement,
                               const PlannerOptions &planner, const Plan &plan,
                               int64_t rank, NamedLists &lists) {
  ExchangeLists(placement, planner, plan, rank, lists).append();
}

//===- DynamicLists.cpp - Symbols that a plan decides ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RankLists.h"

#include <algorithm>

using namespace sart;

namespace {

class DynamicLists {
public:
  DynamicLists(const Placement &placement, const PlannerOptions &planner,
               const Plan &plan, int64_t rank, NamedLists &lists)
      : placement(placement), planner(planner), mesh(placement.mesh),
        shape(placement.shape), plan(plan), rank(rank),
        u(mesh.ulyssesIndex(rank)), r(mesh.ringIndex(rank)),
        slots(slotsOf(placement, rank, plan)), owners(plan.owners(placement)),
        held(rowsHeldBy(plan, placement, rank)),
        qTokens(placement.qTokensOf(r)), kvTokens(placement.kvTokensOf(r)),
        rows(placement.qBlocksOf(r).size()), ownBlocks(placement.kvBlocksOf(r)),
        lists(lists) {}

  void append() {
    if (placement.blockShards)
      appendExchangeLists(placement, planner, plan, rank, lists);
    appendAugment();
    appendMoves();
    appendRowMoves();
    appendFreed();
    appendLocal();
    for (int64_t distance = 1; distance < mesh.ring; ++distance)
      appendRing(distance);
    appendReturn();
    appendEnd();
  }

private:
  void add(std::string name, std::vector<int64_t> values) {
    lists.emplace_back(std::move(name), std::move(values));
  }

  bool stayed(int64_t head) const {
    return placement.ownerOfHead(head) == u &&
           owners[static_cast<size_t>(head)] == u;
  }
  int64_t kvSlotOfHead(int64_t head) const {
    return slots.kvSlotOf(shape.kvHeadOf(head));
  }
  int64_t slotOf(const HeldRows &rowsHere) const {
    return slots.qSlotOf(rowsHere.head, rowsHere.ringIndex);
  }
  Range qRows() const { return {0, qTokens.size()}; }
  /// Rows in a window of queries: those of a segment count from its begin.
  Range qRows(const HeldRows &rowsHere) const {
    return shifted(queryTokens(shape, rowsHere.qBlocks),
                   placement.qTokensOf(rowsHere.ringIndex).begin);
  }
  /// Tokens of kv-blocks, the last one cut at the end.
  Range kvRows(Range blocks) const {
    return {std::min(blocks.begin * shape.blockK, shape.skv),
            std::min(blocks.end * shape.blockK, shape.skv)};
  }
  Work workOn(const HeldRows &rowsHere, Range kvBlocks) const {
    int64_t first = placement.qBlocksOf(rowsHere.ringIndex).begin;
    return {rowsHere.head,
            slotOf(rowsHere),
            kvSlotOfHead(rowsHere.head),
            rowsHere.qBlocks.begin - first,
            rowsHere.qBlocks.end - first,
            kvBlocks.begin,
            kvBlocks.end,
            0,
            rowsHere.ringIndex == r ? -1 : first};
  }

  void appendAugment() {
    ListBuilder work;
    for (const ExtraTiles &extra : plan.extras)
      if (extra.ringIndex == r && stayed(extra.head))
        work.addWork({extra.head, slots.qSlotOf(extra.head, r),
                      kvSlotOfHead(extra.head), 0, rows, ownBlocks.begin,
                      ownBlocks.end, extra.tiles});
    add("augment", std::move(work.list));
  }

  /// One head or part of it in one direction, seen from this rank.
  struct Move {
    std::vector<int64_t> peer;
    ListBuilder q, kv, mask;
  };

  void append(const std::string &stem, const std::string &suffix, Move out,
              Move in) {
    add(stem + "_peer_out" + suffix, std::move(out.peer));
    add(stem + "_peer_in" + suffix, std::move(in.peer));
    add(stem + "_q_out" + suffix, std::move(out.q.list));
    add(stem + "_q_in" + suffix, std::move(in.q.list));
    add(stem + "_kv_out" + suffix, std::move(out.kv.list));
    add(stem + "_kv_in" + suffix, std::move(in.kv.list));
    add(stem + "_mask_out" + suffix, std::move(out.mask.list));
    add(stem + "_mask_in" + suffix, std::move(in.mask.list));
  }

  bool hadKvHead(int64_t ulyssesIndex, int64_t kvHead) const {
    Range present = placement.kvHeadsOf(ulyssesIndex);
    return kvHead >= present.begin && kvHead < present.end;
  }

  /// Both ends list the same rows: of q, and of the mask, those of the
  /// segment; of k and v those of the segment unless the receiver has the kv
  /// head already.
  Move describe(const HeadMove &move, int64_t peerIndex) const {
    Move result;
    int64_t qSlot = slots.qSlotOf(move.head, r);
    result.q.addChunk(qSlot, qRows());
    result.mask.addChunk(qSlot, {0, rows});
    int64_t kvHead = shape.kvHeadOf(move.head);
    if (!hadKvHead(move.to, kvHead))
      result.kv.addChunk(slots.kvSlotOf(kvHead), kvTokens);
    if (!result.q.list.empty() || !result.kv.list.empty())
      result.peer.push_back(mesh.rankOf(peerIndex, r));
    return result;
  }

  void appendMoves() {
    Move out, in;
    // With block shards heads went where they are in the exchange.
    for (const HeadMove &move : plan.moves) {
      if (placement.blockShards)
        break;
      if (move.from == u)
        out = describe(move, move.to);
      if (move.to == u)
        in = describe(move, move.from);
    }
    append("mv", "", std::move(out), std::move(in));
  }

  /// Row move number `index` of the plan.
  Move describe(size_t index, int64_t peer) const {
    const RowMove &move = plan.rowMoves[index];
    int64_t segment = mesh.ringIndex(move.from);
    HeldRows part{move.head, segment, move.qBlocks, true};
    Move result;
    result.peer.push_back(peer);
    result.q.addChunk(slotOf(part), qRows(part));
    result.mask.addChunk(
        slotOf(part),
        shifted(move.qBlocks, placement.qBlocksOf(segment).begin));
    int64_t kvHead = shape.kvHeadOf(move.head);
    bool present =
        mesh.ring > 1 || hadKvHead(mesh.ulyssesIndex(move.to), kvHead);
    for (size_t i = 0; i < index && !present; ++i)
      present = plan.rowMoves[i].to == move.to &&
                shape.kvHeadOf(plan.rowMoves[i].head) == kvHead;
    if (!present)
      result.kv.addChunk(slots.kvSlotOf(kvHead), kvTokens);
    return result;
  }

  void appendRowMoves() {
    if (planner.balance != Balance::Split)
      return;
    std::vector<size_t> outgoing, incoming;
    for (size_t i = 0; i < plan.rowMoves.size(); ++i) {
      if (plan.rowMoves[i].from == rank)
        outgoing.push_back(i);
      if (plan.rowMoves[i].to == rank)
        incoming.push_back(i);
    }
    auto pieces = static_cast<size_t>(pieceCapacity(placement, planner));
    for (size_t i = 0; i < pieces; ++i) {
      std::string suffix = "_" + std::to_string(i);
      Move out, in;
      ListBuilder attend;
      if (i < outgoing.size())
        out = describe(outgoing[i], plan.rowMoves[outgoing[i]].to);
      if (i < incoming.size()) {
        const RowMove &move = plan.rowMoves[incoming[i]];
        in = describe(incoming[i], move.from);
        attend.addWork(
            workOn({move.head, mesh.ringIndex(move.from), move.qBlocks, true},
                   ownBlocks));
      }
      append("rm", suffix, std::move(out), std::move(in));
      add("attend_rows" + suffix, std::move(attend.list));
    }
  }

  bool holdsRows(int64_t head) const {
    return std::any_of(held.begin(), held.end(), [&](const HeldRows &part) {
      return part.head == head && part.ringIndex == r;
    });
  }
  /// K and V serve the whole ring group, also where no row stayed.
  bool usesKvHead(int64_t kvHead) const {
    for (int64_t head = 0; head < shape.heads; ++head)
      if (owners[static_cast<size_t>(head)] == u &&
          shape.kvHeadOf(head) == kvHead)
        return true;
    return std::any_of(held.begin(), held.end(), [&](const HeldRows &part) {
      return shape.kvHeadOf(part.head) == kvHead;
    });
  }
  bool receivesKvHead(int64_t kvHead) const {
    return std::any_of(
        plan.transfers.begin(), plan.transfers.end(), [&](const KvTransfer &t) {
          return t.to == r && t.ulysses == u && t.kvHead == kvHead;
        });
  }

  /// Slots of heads that left. Only slots with rows are worth a release.
  void appendFreed() {
    std::vector<int64_t> freeQ, freeKv;
    for (size_t slot = 0; slot < slots.qHeads.size(); ++slot)
      if (rows > 0 && !placement.blockShards && slots.qRings[slot] == r &&
          !holdsRows(slots.qHeads[slot]))
        freeQ.push_back(static_cast<int64_t>(slot));
    for (size_t slot = 0; slot < slots.kvHeads.size(); ++slot)
      if (!kvTokens.empty() && !usesKvHead(slots.kvHeads[slot]))
        freeKv.push_back(static_cast<int64_t>(slot));
    add("free_q", std::move(freeQ));
    add("free_kv", std::move(freeKv));
  }

  void appendLocal() {
    ListBuilder local, moved;
    for (const HeldRows &part : held) {
      if (placement.blockShards || (!part.moved && stayed(part.head)))
        local.addWork(workOn(part, ownBlocks));
      else if (!part.moved)
        moved.addWork(workOn(part, ownBlocks));
    }
    add("attend_local", std::move(local.list));
    add("attend_moved", std::move(moved.list));
  }

  /// Blocks that go `distance` segments on, and come from as far back.
  void appendRing(int64_t distance) {
    int64_t to = (r + distance) % mesh.ring;
    int64_t from = (r - distance + mesh.ring) % mesh.ring;
    ListBuilder out, in, attend, merge;
    for (const KvTransfer &t : plan.transfers) {
      if (t.ulysses != u)
        continue;
      int64_t slot = slots.kvSlotOf(t.kvHead);
      for (const Range &blocks : t.blocks) {
        if (t.from == r && t.to == to)
          out.addChunk(slot, kvRows(blocks));
        if (t.from == from && t.to == r)
          in.addChunk(slot, kvRows(blocks));
      }
      if (t.from != from || t.to != r)
        continue;
      for (const HeldRows &part : held) {
        if (shape.kvHeadOf(part.head) != t.kvHead)
          continue;
        attend.addWork(workOn(part, placement.kvBlocksOf(from)));
        merge.addChunk(slotOf(part), qRows(part));
      }
    }
    auto peer = [&](const ListBuilder &chunks, int64_t ringIndex) {
      return chunks.list.empty()
                 ? std::vector<int64_t>{}
                 : std::vector<int64_t>{mesh.rankOf(u, ringIndex)};
    };
    std::string suffix = "_" + std::to_string(distance);
    add("kv_peer_out" + suffix, peer(out, to));
    add("kv_peer_in" + suffix, peer(in, from));
    add("kv_out" + suffix, std::move(out.list));
    add("kv_in" + suffix, std::move(in.list));
    add("attend_remote" + suffix, std::move(attend.list));
    add("merge" + suffix, std::move(merge.list));
  }

  /// o -> o_shard inside the exchange group: everybody's rows of every shard.
  void appendReturn() {
    Range mine = placement.qShardOf(rank);
    ListBuilder send, recv;
    for (int64_t member : exchangeMembers(placement, planner, rank)) {
      Range shard = placement.qShardOf(member);
      for (const HeldRows &part : held) {
        Range tokens = intersection(queryTokens(shape, part.qBlocks), shard);
        send.addChunk(
            slotOf(part),
            shifted(tokens, placement.qTokensOf(part.ringIndex).begin));
      }
      send.endMember();
      for (const HeldRows &part : rowsHeldBy(plan, placement, member)) {
        Range tokens = intersection(queryTokens(shape, part.qBlocks), mine);
        recv.addChunk(part.head, shifted(tokens, mine.begin));
      }
      recv.endMember();
    }
    add("ro_send", std::move(send.list));
    add("ro_send_n", std::move(send.counts));
    add("ro_recv", std::move(recv.list));
    add("ro_recv_n", std::move(recv.counts));
  }

  void appendEnd() {
    ListBuilder finalO;
    std::vector<int64_t> liveQ, liveKv;
    for (const HeldRows &part : held) {
      finalO.addChunk(slotOf(part), qRows(part));
      liveQ.push_back(slotOf(part));
    }
    std::sort(liveQ.begin(), liveQ.end());
    liveQ.erase(std::unique(liveQ.begin(), liveQ.end()), liveQ.end());
    for (size_t slot = 0; slot < slots.kvHeads.size(); ++slot) {
      int64_t kvHead = slots.kvHeads[slot];
      if (usesKvHead(kvHead) && (!kvTokens.empty() || receivesKvHead(kvHead)))
        liveKv.push_back(static_cast<int64_t>(slot));
    }
    add("final_o", std::move(finalO.list));
    add("live_q", std::move(liveQ));
    add("live_kv", std::move(liveKv));
  }

  const Placement &placement;
  const PlannerOptions &planner;
  const Mesh &mesh;
  const LayerShape &shape;
  const Plan &plan;
  int64_t rank, u, r;
  SlotTable slots;
  std::vector<int64_t> owners;
  std::vector<HeldRows> held; ///< what this rank attends
  Range qTokens, kvTokens;    ///< of the segment, global
  int64_t rows;               ///< q-blocks of the segment
  Range ownBlocks;            ///< kv-blocks of the segment, global
  NamedLists &lists;
};

} // namespace

void sart::appendDynamicLists(const Placement &placement,
                              const PlannerOptions &planner, const Plan &plan,
                              int64_t rank, NamedLists &lists) {
  DynamicLists(placement, planner, plan, rank, lists).append();
}

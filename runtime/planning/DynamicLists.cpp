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
  DynamicLists(const Placement &placement, const Plan &plan, int64_t rank,
               NamedLists &lists)
      : placement(placement), mesh(placement.mesh), shape(placement.shape),
        plan(plan), rank(rank), u(mesh.ulyssesIndex(rank)),
        r(mesh.ringIndex(rank)), slots(slotsOf(placement, rank, plan.moves)),
        owners(plan.owners(placement)), qTokens(placement.qTokensOf(r)),
        kvTokens(placement.kvTokensOf(r)), rows(placement.qBlocksOf(r).size()),
        ownBlocks(placement.kvBlocksOf(r)), lists(lists) {
    for (int64_t head = 0; head < shape.heads; ++head)
      if (owners[static_cast<size_t>(head)] == u)
        owned.push_back(head);
  }

  void append() {
    appendAugment();
    appendMoves();
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
  Range qRows() const { return {0, qTokens.size()}; }
  /// Tokens of kv-blocks, the last one cut at the end.
  Range kvRows(Range blocks) const {
    return {std::min(blocks.begin * shape.blockK, shape.skv),
            std::min(blocks.end * shape.blockK, shape.skv)};
  }

  void appendAugment() {
    ListBuilder work;
    for (const ExtraTiles &extra : plan.extras)
      if (extra.ringIndex == r && stayed(extra.head))
        work.addWork({extra.head, slots.qSlotOf(extra.head),
                      kvSlotOfHead(extra.head), 0, rows, ownBlocks.begin,
                      ownBlocks.end, extra.tiles});
    add("augment", std::move(work.list));
  }

  /// One head in one direction, seen from this rank.
  struct Move {
    std::vector<int64_t> peer;
    ListBuilder q, kv, mask;
  };

  /// Both ends list the same rows: of q, and of the mask, those of the
  /// segment; of k and v those of the segment unless the receiver has the kv
  /// head already.
  Move describe(const HeadMove &move, int64_t peerIndex) const {
    Move result;
    int64_t qSlot = slots.qSlotOf(move.head);
    result.q.addChunk(qSlot, qRows());
    result.mask.addChunk(qSlot, {0, rows});
    Range present = placement.kvHeadsOf(move.to);
    int64_t kvHead = shape.kvHeadOf(move.head);
    if (kvHead < present.begin || kvHead >= present.end)
      result.kv.addChunk(slots.kvSlotOf(kvHead), kvTokens);
    if (!result.q.list.empty() || !result.kv.list.empty())
      result.peer.push_back(mesh.rankOf(peerIndex, r));
    return result;
  }

  void appendMoves() {
    Move out, in;
    for (const HeadMove &move : plan.moves) {
      if (move.from == u)
        out = describe(move, move.to);
      if (move.to == u)
        in = describe(move, move.from);
    }
    add("mv_peer_out", std::move(out.peer));
    add("mv_peer_in", std::move(in.peer));
    add("mv_q_out", std::move(out.q.list));
    add("mv_q_in", std::move(in.q.list));
    add("mv_kv_out", std::move(out.kv.list));
    add("mv_kv_in", std::move(in.kv.list));
    add("mv_mask_out", std::move(out.mask.list));
    add("mv_mask_in", std::move(in.mask.list));
  }

  bool usesKvHead(int64_t kvHead) const {
    return std::any_of(owned.begin(), owned.end(), [&](int64_t head) {
      return shape.kvHeadOf(head) == kvHead;
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
      if (rows > 0 && owners[static_cast<size_t>(slots.qHeads[slot])] != u)
        freeQ.push_back(static_cast<int64_t>(slot));
    for (size_t slot = 0; slot < slots.kvHeads.size(); ++slot)
      if (!kvTokens.empty() && !usesKvHead(slots.kvHeads[slot]))
        freeKv.push_back(static_cast<int64_t>(slot));
    add("free_q", std::move(freeQ));
    add("free_kv", std::move(freeKv));
  }

  void appendLocal() {
    ListBuilder local, moved;
    for (int64_t head : owned)
      if (rows > 0)
        (stayed(head) ? local : moved)
            .addWork({head, slots.qSlotOf(head), kvSlotOfHead(head), 0, rows,
                      ownBlocks.begin, ownBlocks.end, 0});
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
      Range blocks = placement.kvBlocksOf(from);
      for (int64_t head : owned) {
        if (shape.kvHeadOf(head) != t.kvHead || rows == 0)
          continue;
        int64_t qSlot = slots.qSlotOf(head);
        attend.addWork(
            {head, qSlot, slot, 0, rows, blocks.begin, blocks.end, 0});
        merge.addChunk(qSlot, qRows());
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

  /// o -> o_shard inside the Ulysses group, by owner after the moves.
  void appendReturn() {
    int64_t shardRows = placement.qShardOf(rank).size();
    ListBuilder send, recv;
    for (int64_t member = 0; member < mesh.ulysses; ++member) {
      Range shard = placement.qShardOf(mesh.rankOf(member, r));
      for (int64_t head : owned)
        send.addChunk(slots.qSlotOf(head),
                      {shard.begin - qTokens.begin, shard.end - qTokens.begin});
      send.endMember();
      for (int64_t head = 0; head < shape.heads; ++head)
        if (owners[static_cast<size_t>(head)] == member)
          recv.addChunk(head, {0, shardRows});
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
    for (int64_t head : owned) {
      finalO.addChunk(slots.qSlotOf(head), qRows());
      if (rows > 0)
        liveQ.push_back(slots.qSlotOf(head));
    }
    std::sort(liveQ.begin(), liveQ.end());
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
  const Mesh &mesh;
  const LayerShape &shape;
  const Plan &plan;
  int64_t rank, u, r;
  SlotTable slots;
  std::vector<int64_t> owners;
  std::vector<int64_t> owned; ///< heads after the moves, ascending
  Range qTokens, kvTokens;    ///< of the segment, global
  int64_t rows;               ///< q-blocks of the segment
  Range ownBlocks;            ///< kv-blocks of the segment, global
  NamedLists &lists;
};

} // namespace

void sart::appendDynamicLists(const Placement &placement, const Plan &plan,
                              int64_t rank, NamedLists &lists) {
  DynamicLists(placement, plan, rank, lists).append();
}

//===- StaticLists.cpp - Symbols that depend on the placement alone -------===//
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

/// q_shard -> q inside the Ulysses group: every member gets its heads' rows of
/// my shard.
void appendQueryExchange(const Placement &placement, int64_t rank,
                         NamedLists &lists) {
  int64_t u = placement.mesh.ulyssesIndex(rank);
  int64_t r = placement.mesh.ringIndex(rank);
  int64_t segment = placement.qTokensOf(r).begin;
  int64_t shardRows = placement.qShardOf(rank).size();
  Range mine = placement.headsOf(u);
  ListBuilder send, recv;
  for (int64_t member = 0; member < placement.mesh.ulysses; ++member) {
    Range theirs = placement.headsOf(member);
    for (int64_t head = theirs.begin; head < theirs.end; ++head)
      send.addChunk(head, {0, shardRows});
    send.endMember();
    Range shard = placement.qShardOf(placement.mesh.rankOf(member, r));
    for (int64_t head = mine.begin; head < mine.end; ++head)
      recv.addChunk(head - mine.begin,
                    {shard.begin - segment, shard.end - segment});
    recv.endMember();
  }
  lists.emplace_back("xq_send", std::move(send.list));
  lists.emplace_back("xq_send_n", std::move(send.counts));
  lists.emplace_back("xq_recv", std::move(recv.list));
  lists.emplace_back("xq_recv_n", std::move(recv.counts));
}

/// k_shard -> k and v_shard -> v: a kv head goes to every member that has one
/// of its query heads.
void appendKeyExchange(const Placement &placement, int64_t rank,
                       NamedLists &lists) {
  int64_t u = placement.mesh.ulyssesIndex(rank);
  int64_t r = placement.mesh.ringIndex(rank);
  int64_t shardRows = placement.kvShardOf(rank).size();
  Range mine = placement.kvHeadsOf(u);
  ListBuilder send, recv;
  for (int64_t member = 0; member < placement.mesh.ulysses; ++member) {
    Range theirs = placement.kvHeadsOf(member);
    for (int64_t kvHead = theirs.begin; kvHead < theirs.end; ++kvHead)
      send.addChunk(kvHead, {0, shardRows});
    send.endMember();
    Range shard = placement.kvShardOf(placement.mesh.rankOf(member, r));
    for (int64_t kvHead = mine.begin; kvHead < mine.end; ++kvHead)
      recv.addChunk(kvHead - mine.begin, shard);
    recv.endMember();
  }
  lists.emplace_back("xkv_send", std::move(send.list));
  lists.emplace_back("xkv_send_n", std::move(send.counts));
  lists.emplace_back("xkv_recv", std::move(recv.list));
  lists.emplace_back("xkv_recv_n", std::move(recv.counts));
}

void appendPooling(const Placement &placement, int64_t rank,
                   NamedLists &lists) {
  const LayerShape &shape = placement.shape;
  int64_t u = placement.mesh.ulyssesIndex(rank);
  int64_t r = placement.mesh.ringIndex(rank);
  Range heads = placement.headsOf(u), kvHeads = placement.kvHeadsOf(u);
  int64_t rows = placement.qBlocksOf(r).size();
  Range own = placement.kvBlocksOf(r);

  ListBuilder poolQ, poolK;
  for (int64_t head = heads.begin; head < heads.end && rows > 0; ++head)
    poolQ.addWork({head, head - heads.begin,
                   shape.kvHeadOf(head) - kvHeads.begin, 0, rows, 0, 0, 0});
  for (int64_t kvHead = kvHeads.begin; kvHead < kvHeads.end && !own.empty();
       ++kvHead) {
    // The first query head of the kv head on this rank stands for it.
    int64_t head = std::max(heads.begin, kvHead * shape.headsPerKvHead());
    poolK.addWork({head, head - heads.begin, kvHead - kvHeads.begin, 0, 0,
                   own.begin, own.end, 0});
  }
  lists.emplace_back("pool_q", std::move(poolQ.list));
  lists.emplace_back("pool_k", std::move(poolK.list));

  ListBuilder send, recv;
  for (int64_t slot = 0; slot < kvHeads.size(); ++slot)
    send.addChunk(slot, own);
  for (int64_t member = 0; member < placement.mesh.ring; ++member) {
    for (int64_t slot = 0; slot < kvHeads.size(); ++slot)
      recv.addChunk(slot, placement.kvBlocksOf(member));
    recv.endMember();
  }
  lists.emplace_back("gk_send", std::move(send.list));
  lists.emplace_back("gk_recv", std::move(recv.list));
  lists.emplace_back("gk_recv_n", std::move(recv.counts));
}

void appendRouting(const Placement &placement, int64_t rank,
                   NamedLists &lists) {
  const LayerShape &shape = placement.shape;
  int64_t u = placement.mesh.ulyssesIndex(rank);
  int64_t r = placement.mesh.ringIndex(rank);
  Range heads = placement.headsOf(u), kvHeads = placement.kvHeadsOf(u);
  // Every head has an entry, also without rows: its summary is due.
  ListBuilder route, send, recv;
  for (int64_t head = heads.begin; head < heads.end; ++head) {
    route.addWork({head, head - heads.begin,
                   shape.kvHeadOf(head) - kvHeads.begin, 0,
                   placement.qBlocksOf(r).size(), 0, shape.kvBlocks(), 0});
    send.addChunk(head, {0, 1});
  }
  for (int64_t member = 0; member < placement.mesh.ranks(); ++member) {
    Range theirs = placement.headsOf(placement.mesh.ulyssesIndex(member));
    for (int64_t head = theirs.begin; head < theirs.end; ++head)
      recv.addChunk(member * shape.heads + head, {0, 1});
    recv.endMember();
  }
  lists.emplace_back("route", std::move(route.list));
  lists.emplace_back("gs_send", std::move(send.list));
  lists.emplace_back("gs_recv", std::move(recv.list));
  lists.emplace_back("gs_recv_n", std::move(recv.counts));
}

} // namespace

void sart::appendStaticLists(const Placement &placement, int64_t rank,
                             NamedLists &lists) {
  appendQueryExchange(placement, rank, lists);
  appendKeyExchange(placement, rank, lists);
  appendPooling(placement, rank, lists);
  appendRouting(placement, rank, lists);
}

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

/// What a rank routes, and pools for it: heads and blocks of its segment, or
/// all heads and the blocks of its shard.
struct Routed {
  Routed(const Placement &placement, int64_t rank)
      : heads(placement.routedHeadsOf(rank)),
        kvHeads(placement.blockShards
                    ? Range{0, placement.shape.kvHeads}
                    : placement.kvHeadsOf(placement.mesh.ulyssesIndex(rank))),
        qBlocks(placement.routedBlocksOf(rank)),
        kvBlocks(placement.kvBlocksOf(placement.mesh.ringIndex(rank))) {
    if (!placement.blockShards)
      return;
    const LayerShape &shape = placement.shape;
    Range shard = placement.kvShardOf(rank);
    kvBlocks = {(shard.begin + shape.blockK - 1) / shape.blockK,
                (shard.end + shape.blockK - 1) / shape.blockK};
    qOrigin = qBlocks.begin;
    kvOrigin = kvBlocks.begin;
  }
  Range heads, kvHeads, qBlocks, kvBlocks;
  int64_t qOrigin = -1, kvOrigin = -1;
};

void appendPooling(const Placement &placement, int64_t rank,
                   NamedLists &lists) {
  const LayerShape &shape = placement.shape;
  Routed mine(placement, rank);
  int64_t rows = mine.qBlocks.size();
  // Rows of k and pooled_k are global; those of a shard begin with it.
  Range own =
      mine.kvOrigin < 0 ? mine.kvBlocks : Range{0, mine.kvBlocks.size()};

  ListBuilder poolQ, poolK;
  for (int64_t head = mine.heads.begin; head < mine.heads.end && rows > 0;
       ++head)
    poolQ.addWork({head, head - mine.heads.begin,
                   shape.kvHeadOf(head) - mine.kvHeads.begin, 0, rows, 0, 0, 0,
                   mine.qOrigin});
  for (int64_t kvHead = mine.kvHeads.begin;
       kvHead < mine.kvHeads.end && !own.empty(); ++kvHead) {
    // The first query head of the kv head on this rank stands for it.
    int64_t head = std::max(mine.heads.begin, kvHead * shape.headsPerKvHead());
    poolK.addWork({head, head - mine.heads.begin, kvHead - mine.kvHeads.begin,
                   0, 0, own.begin, own.end, 0, mine.kvOrigin});
  }
  lists.emplace_back("pool_q", std::move(poolQ.list));
  lists.emplace_back("pool_k", std::move(poolK.list));

  const Mesh &mesh = placement.mesh;
  ListBuilder send, recv;
  for (int64_t slot = 0; slot < mine.kvHeads.size(); ++slot)
    send.addChunk(slot, own);
  int64_t members = placement.blockShards ? mesh.ranks() : mesh.ring;
  for (int64_t i = 0; i < members; ++i) {
    int64_t member =
        placement.blockShards ? i : mesh.rankOf(mesh.ulyssesIndex(rank), i);
    Range blocks = Routed(placement, member).kvBlocks;
    for (int64_t slot = 0; slot < mine.kvHeads.size(); ++slot)
      recv.addChunk(slot, blocks);
    recv.endMember();
  }
  lists.emplace_back("gk_send", std::move(send.list));
  lists.emplace_back("gk_recv", std::move(recv.list));
  lists.emplace_back("gk_recv_n", std::move(recv.counts));
}

void appendRouting(const Placement &placement, int64_t rank,
                   NamedLists &lists) {
  const LayerShape &shape = placement.shape;
  Routed mine(placement, rank);
  // Every head has an entry, also without rows: its summary is due.
  ListBuilder route, send, recv;
  for (int64_t head = mine.heads.begin; head < mine.heads.end; ++head) {
    route.addWork({head, head - mine.heads.begin,
                   shape.kvHeadOf(head) - mine.kvHeads.begin, 0,
                   mine.qBlocks.size(), 0, shape.kvBlocks(), 0, mine.qOrigin});
    send.addChunk(head, {0, 1});
  }
  for (int64_t member = 0; member < placement.mesh.ranks(); ++member) {
    Range theirs = placement.routedHeadsOf(member);
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

void sart::appendStaticLists(const Placement &placement,
                             const PlannerOptions &planner, int64_t rank,
                             NamedLists &lists) {
  if (!placement.blockShards)
    appendExchangeLists(placement, planner, Plan(), rank, lists);
  appendPooling(placement, rank, lists);
  appendRouting(placement, rank, lists);
}

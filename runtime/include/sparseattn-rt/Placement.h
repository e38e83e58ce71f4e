//===- Placement.h - Who owns which head, q-block and kv-block --*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_PLACEMENT_H
#define SPARSEATTN_RT_PLACEMENT_H

#include "sparseattn-rt/DType.h"

#include <cstdint>
#include <vector>

namespace sart {

/// Half-open range.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  bool operator==(const Range &o) const {
    return begin == o.begin && end == o.end;
  }
};

/// `index`-th of `parts` contiguous parts of [0, total), sizes differing by at
/// most one: [total * index / parts, total * (index + 1) / parts).
Range evenPart(int64_t total, int64_t parts, int64_t index);

/// Largest number of ranks of a mesh.
constexpr int64_t maxRanks = 1024;

/// Mesh of ranks. rank = ring * ulysses + u, with u the position inside the
/// Ulysses group (ranks that share a sequence segment and split the heads).
struct Mesh {
  int64_t ulysses = 1;
  int64_t ring = 1;
  int64_t ranks() const { return ulysses * ring; }
  int64_t ulyssesIndex(int64_t rank) const { return rank % ulysses; }
  int64_t ringIndex(int64_t rank) const { return rank / ulysses; }
  int64_t rankOf(int64_t u, int64_t r) const { return r * ulysses + u; }
  /// Refuses axes below 1 and more than maxRanks ranks.
  Status verify() const;
};

/// Shape of one attention layer. Tokens are numbered in the mask's order.
struct LayerShape {
  int64_t heads = 1;   ///< query heads
  int64_t kvHeads = 1; ///< key/value heads, divides heads
  int64_t sq = 0;      ///< query tokens
  int64_t skv = 0;     ///< key/value tokens
  int64_t headDim = 0;
  int64_t blockQ = 128; ///< query tokens per block
  int64_t blockK = 128; ///< key tokens per block
  bool causal = false;  ///< query i sees key j iff j <= i + skv - sq
  DType dtype = DType::F32;

  int64_t qBlocks() const { return (sq + blockQ - 1) / blockQ; }
  int64_t kvBlocks() const { return (skv + blockK - 1) / blockK; }
  int64_t headsPerKvHead() const { return heads / kvHeads; }
  int64_t kvHeadOf(int64_t head) const { return head / headsPerKvHead(); }
  /// kv-blocks that some query of `qBlock` may see, a prefix: all of them
  /// unless causal.
  int64_t visibleKvBlocks(int64_t qBlock) const;
  /// Refuses negative or zero sizes, kvHeads that do not divide heads, block
  /// sizes outside 16..128 or not a multiple of 8, headDim outside 32..256 or
  /// not a multiple of 8, a dtype that is not floating point. sq and skv may
  /// be 0.
  Status verify() const;
};

/// Initial owner of everything. Contiguous in heads (Ulysses) and in blocks
/// of the mask's order (ring); spatial stripes are an order, not a placement.
/// Any counts work: a rank may own no head, no q-block, no kv-block, no token.
struct Placement {
  Mesh mesh;
  LayerShape shape;
  /// Shards end where blocks end, so that every rank can pool its shard alone:
  /// blocks of q and k that end together if sq == skv, else each its own. The
  /// default cuts evenly by tokens.
  bool blockShards = false;

  /// Refuses what Mesh::verify and LayerShape::verify refuse.
  Status verify() const;
  /// Ulysses index that owns `head` before balancing:
  /// floor(head * ulysses / heads).
  int64_t ownerOfHead(int64_t head) const;
  /// Heads of Ulysses index `u`, those with ownerOfHead(head) == u. May be
  /// empty.
  Range headsOf(int64_t u) const;
  /// kv heads that the heads of Ulysses index `u` use. One kv head may belong
  /// to several indices; each has a copy.
  Range kvHeadsOf(int64_t u) const;
  /// q-blocks and kv-blocks of ring segment `r`.
  Range qBlocksOf(int64_t r) const;
  Range kvBlocksOf(int64_t r) const;
  /// Ring segment that owns a kv-block.
  int64_t ownerOfKvBlock(int64_t block) const;
  /// Tokens of ring segment `r` (global token numbers).
  Range qTokensOf(int64_t r) const;
  Range kvTokensOf(int64_t r) const;
  /// Tokens of the shard that `rank` holds at the layer's entry and exit.
  Range qShardOf(int64_t rank) const;
  Range kvShardOf(int64_t rank) const;
  /// q-blocks that `rank` routes, for the heads it routes: with blockShards
  /// those of its shard, of all heads; else those of its segment, of its heads.
  Range routedBlocksOf(int64_t rank) const;
  Range routedHeadsOf(int64_t rank) const;
};

} // namespace sart

#endif // SPARSEATTN_RT_PLACEMENT_H

//===- Plan.h - Decisions for one mask --------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_PLAN_H
#define SPARSEATTN_RT_PLAN_H

#include "sparseattn-rt/BlockMask.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sart {

/// A whole head that changes its owner along the Ulysses axis. The move is
/// the same in every ring segment, so that the K/V exchange stays inside the
/// ring groups.
struct HeadMove {
  int64_t head = 0;
  int64_t from = 0; ///< Ulysses index
  int64_t to = 0;   ///< Ulysses index
  bool operator==(const HeadMove &o) const {
    return head == o.head && from == o.from && to == o.to;
  }
};

/// Query rows of one head that leave the rank which owns the head after the
/// whole-head moves, with their mask rows; their outputs go home from `to`. On
/// a mesh with one ring segment the head's K/V go with them; with several, rows
/// stay in the ring group, whose K/V exchange brings what they need.
struct RowMove {
  int64_t head = 0;
  Range qBlocks;    ///< global, inside one ring segment
  int64_t from = 0; ///< rank
  int64_t to = 0;   ///< rank: of the same Ulysses index if ring > 1
  bool operator==(const RowMove &o) const {
    return head == o.head && qBlocks == o.qBlocks && from == o.from &&
           to == o.to;
  }
};

/// kv-blocks of one kv head that travel from ring segment `from` to ring
/// segment `to` of the ranks that own the head after the moves.
struct KvTransfer {
  int64_t kvHead = 0;
  int64_t ulysses = 0;       ///< Ulysses index of both ends
  int64_t from = 0;          ///< ring index
  int64_t to = 0;            ///< ring index
  std::vector<Range> blocks; ///< ascending, disjoint
  bool operator==(const KvTransfer &o) const {
    return kvHead == o.kvHead && ulysses == o.ulysses && from == o.from &&
           to == o.to && blocks == o.blocks;
  }
};

/// Extra tiles that augmentation may add to one head's rows in one ring
/// segment. Which tiles they are follows from the routing scores.
struct ExtraTiles {
  int64_t head = 0, ringIndex = 0, tiles = 0;
  bool operator==(const ExtraTiles &o) const {
    return head == o.head && ringIndex == o.ringIndex && tiles == o.tiles;
  }
};

/// Everything that was decided for one mask. Loads count tiles.
struct Plan {
  Mesh mesh;
  int64_t heads = 0, kvHeads = 0;
  int64_t qBlocks = 0, kvBlocks = 0;
  std::vector<HeadMove> moves;   ///< ascending by head
  std::vector<RowMove> rowMoves; ///< ascending by (head, first q-block)
  std::vector<KvTransfer>
      transfers;                  ///< ascending by (to, from, ulysses, kvHead)
  std::vector<ExtraTiles> extras; ///< ascending by (head, ringIndex)
  std::vector<int64_t> loadsBefore; ///< per rank
  std::vector<int64_t> loadsAfter;  ///< per rank, extras included

  /// Ulysses index that owns each head after the moves.
  std::vector<int64_t> owners(const Placement &placement) const;
  /// Structure: sizes equal the placement's, head and rank ranges, `from` is
  /// the owner, no head moves twice, at most one head out of and into each
  /// Ulysses index (any number where shards end with blocks: heads then travel
  /// once, to where they stay), row moves of rows that `from` owns, disjoint,
  /// inside one segment and, if ring > 1, inside a ring group, every transfer
  /// between
  /// different segments and to ranks that hold rows of the kv head after the
  /// moves, blocks owned by `from`, sorted and disjoint, extra tiles for heads
  /// that stay whole; every list in its order; loads have one entry per rank.
  Status verify(const Placement &placement) const;
  /// Content hash that the ranks compare before the first send: FNV-1a (64
  /// bits) over every field in order of declaration, integers zigzag-coded as
  /// LEB128, lists preceded by their length.
  uint64_t hash() const;
  bool operator==(const Plan &other) const;
};

/// Rows of one head that one rank attends.
struct HeldRows {
  int64_t head = 0;
  int64_t ringIndex = 0; ///< segment of the rows
  Range qBlocks;         ///< global
  bool moved = false;    ///< by a row move
};
/// Everything that `rank` attends, by (own segment first, then ringIndex;
/// head; first q-block), and no empty range. `plan` verifies.
std::vector<HeldRows> rowsHeldBy(const Plan &plan, const Placement &placement,
                                 int64_t rank);

/// max / mean; 1 when all are zero.
double imbalance(const std::vector<int64_t> &loads);

} // namespace sart

#endif // SPARSEATTN_RT_PLAN_H

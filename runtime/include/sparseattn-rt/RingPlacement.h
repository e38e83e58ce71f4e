//===- RingPlacement.h - Blocks and rows on the ranks of a ring -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_RINGPLACEMENT_H
#define SPARSEATTN_RT_RINGPLACEMENT_H

#include "sparseattn-rt/BlockMask.h"
#include "sparseattn-rt/Order.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sart {

/// A rule that gives the blocks of a grid to the ranks of a ring, counts
/// differing by at most one.
///
/// Contiguous: in the order of the mask; block i of n on rank floor(i R / n).
/// Tiles: `h` runs of equal count by the mean of h * W + w over a block's
/// tokens, each cut into `t` runs of equal count by the mean frame; t * h
/// ranks. Stripes are tiles with t = 1. Equal means keep the mask's order. Text
/// tokens before the grid count as its first token, those after it as its last.
struct BlockRule {
  enum class Kind : uint8_t { Contiguous, Stripes, Tiles };
  Kind kind = Kind::Contiguous;
  int64_t t = 1; ///< of tiles: parts in time
  int64_t h = 1; ///< of tiles: stripes
  bool operator==(const BlockRule &o) const {
    return kind == o.kind && t == o.t && h == o.h;
  }
};
/// contiguous, stripes, tiles<t=2,h=4>; any t and h from 1 to 1024.
std::string toString(const BlockRule &rule);
Expected<BlockRule> parseBlockRule(std::string_view text);
/// All rules for `ranks` ranks: contiguous, stripes, and every way to write
/// `ranks` as t * h with both above 1, t ascending.
std::vector<BlockRule> blockRules(int64_t ranks);

/// Blocks over the tokens of an order; the last ones may be ragged.
struct BlockGrid {
  Order order;
  int64_t blockQ = 128, blockK = 64; ///< tokens per block
  int64_t qBlocks() const { return (order.tokens() + blockQ - 1) / blockQ; }
  int64_t kvBlocks() const { return (order.tokens() + blockK - 1) / blockK; }
  /// Refuses what Order::verify refuses and blocks below 1 token.
  Status verify() const;
};

/// Rank of each block.
struct BlockOwners {
  int64_t ranks = 1;
  std::vector<int32_t> q;  ///< [qBlocks]
  std::vector<int32_t> kv; ///< [kvBlocks]
  /// q-blocks of each rank, in the order in which the rule visits them.
  std::vector<std::vector<int32_t>> rowsOf;
};
/// A kv-block belongs to the rank of the q-block that holds its first token.
/// Refuses tiles whose t * h is not `ranks`, ranks outside 1..maxRanks and
/// grids that do not verify.
Expected<BlockOwners> placeBlocks(const BlockRule &rule, const BlockGrid &grid,
                                  int64_t ranks);

/// The rows of a mask as bits, for unions of many rows.
class MaskBits {
public:
  explicit MaskBits(const BlockMask &mask);
  int64_t heads() const { return numHeads; }
  int64_t qBlocks() const { return numQBlocks; }
  int64_t kvBlocks() const { return numKvBlocks; }
  int64_t words() const { return (numKvBlocks + 63) / 64; }
  /// Bit b of word w: kv-block 64 w + b.
  const uint64_t *row(int64_t head, int64_t qBlock) const {
    return bits.data() + (head * numQBlocks + qBlock) * words();
  }
  /// Selected tiles of a row, of the whole mask.
  int64_t count(int64_t head, int64_t qBlock) const {
    return counts[static_cast<size_t>(head * numQBlocks + qBlock)];
  }
  int64_t tiles() const { return total; }

private:
  int64_t numHeads, numQBlocks, numKvBlocks, total;
  std::vector<uint64_t> bits;
  std::vector<int32_t> counts;
};

/// Who sends how many kv-blocks to whom. Every (head, receiving rank, remote
/// kv-block) is one block, whatever the number of rows that need it.
struct RingDemand {
  int64_t ranks = 1, heads = 0, kvBlocks = 0;
  std::vector<int64_t> blocks; ///< [from * ranks + to]
  std::vector<int64_t> loads;  ///< tiles per rank
  /// Blocks by the number of ranks that receive them: [0 .. ranks).
  std::vector<int64_t> receivers;

  int64_t total() const;
  /// total() over (ranks - 1) * kvBlocks * heads; 0 on one rank.
  double shareOfRing() const;
  /// The busiest send or receive port over that of a dense ring.
  double maxPort() const;
  /// Blocks that leave their rank when each travels once, to all its receivers,
  /// over total(): what a multicast leaves of the senders' work. 1 when nothing
  /// travels.
  double multicastShare() const;
};
/// `rowOwners`: rank of each row, [heads * qBlocks].
RingDemand countRingDemand(const MaskBits &mask, const BlockOwners &owners,
                           const std::vector<int32_t> &rowOwners);
/// The same with every row where its q-block is.
RingDemand countRingDemand(const MaskBits &mask, const BlockOwners &owners);

/// kv-blocks of one rank that the same other ranks need: the unit of a
/// multicast. A transport without one sends a copy to every receiver, which is
/// what RingDemand counts.
struct MulticastSet {
  int64_t from = 0;
  std::vector<int32_t> to; ///< ascending, not empty
  int64_t blocks = 0;      ///< over all heads
};
/// Ascending by from, then by receivers.
std::vector<MulticastSet> countMulticast(const MaskBits &mask,
                                         const BlockOwners &owners,
                                         const std::vector<int32_t> &rowOwners);

/// Rows of one head that leave the rank of their q-blocks.
struct RowShift {
  int64_t head = 0;
  Range rows; ///< positions in rowsOf[from]
  int64_t from = 0, to = 0;
};

/// What repairRows may do. Costs are in tokens of two tensors: a kv-block
/// travels as K and V, a moved row as Q there and O back.
struct RepairOptions {
  /// Largest rank load over the mean, thousandths.
  int64_t rhoMilli = 1020;
  /// Rows that may move so that fewer bytes travel, beyond those that balance:
  /// thousandths of all rows, those included.
  int64_t movedMilli = 100;
  int64_t rowTokens = 128; ///< cost of a moved row
  int64_t kvTokens = 64;   ///< cost of a kv-block
  /// Cost of a shift by itself, in the same unit.
  int64_t shiftTokens = 0;
  /// Refuses negative values, rhoMilli below 1000 and movedMilli above 1000.
  Status verify() const;
};

struct RowRepair {
  std::vector<RowShift> shifts;   ///< in the order of their choice
  std::vector<int32_t> rowOwners; ///< [heads * qBlocks]
  int64_t movedRows = 0;
};

/// Balances a ring by moving rows, with the least extra bytes, which may be
/// negative. Shifts are heads or tails of the rows that a head still has on a
/// rank, so that they are few and each is a range.
/// First, while the largest load is above rhoMilli: of all shifts away from
/// that rank that leave no other one above, the one with the least cost per
/// tile of excess. Then, up to movedMilli: shifts that lower the cost, alone or
/// two between the same ranks, the best first. Cost: kv-blocks that the
/// receiving rank has to get, less those that the sending one no longer needs,
/// and the moved rows. Integer, deterministic; a result above rhoMilli means
/// that no shift fits.
Expected<RowRepair> repairRows(const MaskBits &mask, const BlockOwners &owners,
                               const RepairOptions &options);

} // namespace sart

#endif // SPARSEATTN_RT_RINGPLACEMENT_H

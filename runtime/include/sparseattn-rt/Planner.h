//===- Planner.h - Loads, demand, balance, augmentation, gates --*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_PLANNER_H
#define SPARSEATTN_RT_PLANNER_H

#include "sparseattn-rt/Plan.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace sart {

/// How ranks are balanced. Swap: whole heads change places after routing
/// (FVAttn). Split: rows of heads move after routing. Pre: pooled q and k are
/// exchanged first, so that heads go straight to their final rank.
enum class Balance : uint8_t { None = 0, Swap = 1, Split = 2, Pre = 3 };
Expected<Balance> parseBalance(std::string_view text);
std::string_view toString(Balance balance);

/// Affine costs in integer picoseconds, so that every rank decides alike.
/// Defaults are neutral: tiles cost, transfers do not. Heads move when that
/// shortens the slowest rank by more than scheduling and the largest transfer
/// cost; with the defaults, whenever it shortens it.
struct CostModel {
  int64_t tilePs = 1000;  ///< one (bq x bk) tile of one head
  int64_t rowPs = 0;      ///< fixed work of one q-block row
  int64_t transferPs = 0; ///< latency of one transfer
  int64_t bytePs = 0;     ///< one byte over a link
  int64_t scheduleNs = 0; ///< planning itself
};

/// FVAttn's thresholds and their published values (arXiv 2607.16190): k1, k2 on
/// rho, n1, n2 of augmentation. Thousandths, so that comparisons are integer.
struct PlannerOptions {
  Balance balance = Balance::Swap;
  bool augment = false;
  int64_t k1Milli = 1050; ///< below: do nothing
  int64_t k2Milli = 1100; ///< from here on: balance; between: augment only
  int64_t n1Milli = 800;  ///< share of the slack that augmentation spends
  int64_t n2Milli = 70;   ///< least slack, share of the largest load
  /// Split, and Pre with repair: most row moves into one rank, and most out of
  /// one; slots are kept for them.
  int64_t maxPieces = 6;
  bool repair = false; ///< Pre: row moves even out what whole heads leave
  CostModel cost;
  /// Refuses negative thresholds and costs, k2 below k1, n1 above 1000.
  Status verify() const;
};

/// Tiles per (head, ring segment): loads[head * ring + r].
struct HeadLoads {
  int64_t heads = 0, ring = 1;
  std::vector<int64_t> tiles;
  int64_t total(int64_t head) const;
};
HeadLoads countLoads(const BlockMask &mask, const Placement &placement);
/// Load of each rank when head h belongs to Ulysses index owners[h].
std::vector<int64_t> rankLoads(const HeadLoads &loads,
                               const std::vector<int64_t> &owners,
                               const Mesh &mesh);

/// FVAttn's run-time load balancing: at most one head out of and one into each
/// Ulysses index, a permutation with cycles and fixed points; a virtual empty
/// head lets a rank give without taking and take without giving, so that no
/// rank ends with more heads than the largest initial count + 1. Minimises the
/// largest rank load, then the sum of squares, then the number of moves. Exact
/// for up to 5 Ulysses indices (with up to about 150 heads), near-exact beyond.
/// Deterministic, integer. No moves when nothing improves.
std::vector<HeadMove> planSwaps(const HeadLoads &loads,
                                const Placement &placement);

/// What the planner needs of a mask, and all that the ranks exchange about it:
/// tiles per (head, ring segment) and which kv-blocks those tiles touch.
/// One 32-bit record per rank and head, the layout of the `summary` windows:
/// [tiles, demand bits..., tiles of each routed q-block...], with room for the
/// q-blocks of the rank that routes most.
struct MaskSummary {
  HeadLoads loads;
  int64_t kvBlocks = 0;
  /// demand[(head * ring + r) * words() + w]: bit b of word w = kv-block
  /// 32 w + b is needed by some q-block of segment r.
  std::vector<uint32_t> demand;
  /// rowTiles[head * qBlocks + qBlock]: tiles of one row.
  int64_t qBlocks = 0;
  std::vector<int32_t> rowTiles;
  int64_t words() const { return (kvBlocks + 31) / 32; }
  const uint32_t *demandOf(int64_t head, int64_t ringIndex) const {
    return demand.data() + (head * loads.ring + ringIndex) * words();
  }
  bool needs(int64_t head, int64_t ringIndex, int64_t kvBlock) const;
  /// Where a record's row tiles begin.
  static int64_t rowWords(int64_t kvBlocks) { return 1 + (kvBlocks + 31) / 32; }
  /// Row elements of `summary` windows.
  static int64_t recordWords(const Placement &placement);
  /// Tiles of q-blocks `rows` (global) of `head`.
  int64_t tilesOf(int64_t head, Range rows) const;
  /// Refuses sizes that differ from the placement's, and tiles that cannot
  /// belong to the demand.
  Status verify(const Placement &placement) const;
};
MaskSummary summarize(const BlockMask &mask, const Placement &placement);
/// Moves the tiles of `rowMoves` from rank to rank.
void applyRowMoves(const MaskSummary &summary,
                   const std::vector<RowMove> &rowMoves,
                   std::vector<int64_t> &loads);

/// Adds mask row [count, kv-blocks...], the `row`-th q-block that the rank
/// routes, to a record that began as zeros. Tiles are kept modulo 2^32.
void addToSummary(const int32_t *maskRow, int64_t row, int64_t kvBlocks,
                  int32_t *record);
/// Reads the gathered records: that of rank m and head h begins at
/// gathered[(m * heads + h) * recordStride]. Only records of heads that a rank
/// routes are read. Refuses records that no mask can have.
Expected<MaskSummary> decodeSummaries(const int32_t *gathered,
                                      int64_t recordStride,
                                      const Placement &placement);

/// Demanded kv-blocks: which kv-blocks of each kv head the rows of ring
/// segment `to` need from segment `from`, for the owners after the moves.
/// Union over the query heads of a kv head that one Ulysses index owns. Rows
/// that move alone need what their head's rows of that segment need.
std::vector<KvTransfer>
computeDemand(const MaskSummary &summary, const Placement &placement,
              const std::vector<int64_t> &owners,
              const std::vector<RowMove> &rowMoves = {});

/// Slack-aware augmentation, the part that every rank decides alike: extra
/// tiles that each head may take in each ring segment, budgets[head * ring +
/// r]. Ranks whose slack exceeds n2 spend n1 of it on the heads that stayed
/// whole, in proportion to their unselected tiles, integer remainders by
/// largest fraction, never above the largest load. Extra tiles use visible
/// kv-blocks of the rank's own ring segment only, so that demand does not
/// change. Every budget can be spent: with several segments the unselected
/// tiles of the own segment are counted from below, as far as the summary tells
/// them.
std::vector<int64_t> planExtraTiles(const MaskSummary &summary,
                                    const Placement &placement,
                                    const std::vector<HeadMove> &moves,
                                    const PlannerOptions &options,
                                    const std::vector<RowMove> &rowMoves = {});
/// The part that the rank which owns the head does: spends `budget` on rows
/// `rows` of one head, in proportion to the unselected kv-blocks of
/// `kvRange`, next-best first by (score descending, index ascending). `scores`
/// is [rows.size()][kvBlocks], -inf for a kv-block that is not visible; `rows`
/// are ascending lists, changed in place. Returns the tiles added.
int64_t addExtraTiles(std::vector<std::vector<int32_t>> &rows,
                      const std::vector<float> &scores, int64_t kvBlocks,
                      Range kvRange, int64_t budget);

/// The whole plan of one mask: loads, gate, swaps, extra tiles, demand. The
/// same inputs give the same plan on every rank. `planNs` receives the
/// planning time when not null.
Expected<Plan> makePlan(const MaskSummary &summary, const Placement &placement,
                        const PlannerOptions &options,
                        int64_t *planNs = nullptr);

/// Remote bytes of Q, K, V and O over all ranks, all in the layer's dtype. LSE,
/// pooled keys, summaries and mask rows are not counted.
struct TrafficBytes {
  int64_t exchange = 0;  ///< Ulysses all-to-alls, both ways ("bytes_ulysses")
  int64_t moved = 0;     ///< whole heads that moved ("bytes_moved")
  int64_t routed = 0;    ///< kv-blocks over the ring
  int64_t denseRing = 0; ///< what a dense ring over all ranks would carry
};
TrafficBytes countTraffic(const Plan &plan, const Placement &placement);

} // namespace sart

#endif // SPARSEATTN_RT_PLANNER_H

//===- PlanningTestSupport.h - Shared by the planning tests -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_PLANNING_PLANNINGTESTSUPPORT_H
#define SPARSEATTN_TEST_UNIT_PLANNING_PLANNINGTESTSUPPORT_H

#include "sparseattn-rt/Planner.h"

#include <array>
#include <cstdint>
#include <string>

namespace sart::test {

/// SplitMix64: the same numbers on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, bound).
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(next() % static_cast<uint64_t>(bound));
  }
  bool chance(int64_t percent) { return below(100) < percent; }

private:
  uint64_t state;
};

inline Placement makePlacement(int64_t ulysses, int64_t ring, int64_t heads,
                               int64_t kvHeads, int64_t sq, int64_t skv,
                               int64_t block = 128) {
  Placement placement;
  placement.mesh = {ulysses, ring};
  placement.shape.heads = heads;
  placement.shape.kvHeads = kvHeads;
  placement.shape.sq = sq;
  placement.shape.skv = skv;
  placement.shape.headDim = 32;
  placement.shape.blockQ = block;
  placement.shape.blockK = block;
  return placement;
}

/// A mask whose heads and rows differ much in density; some rows are empty.
inline BlockMask makeMask(const LayerShape &shape, Random &random) {
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> indices;
  for (int64_t head = 0; head < shape.heads; ++head) {
    int64_t density = random.chance(10) ? 0 : 1 + random.below(70);
    for (int64_t row = 0; row < shape.qBlocks(); ++row) {
      bool empty = random.chance(8);
      for (int64_t j = 0; j < shape.kvBlocks() && !empty; ++j)
        if (random.chance(density))
          indices.push_back(static_cast<int32_t>(j));
      offsets.push_back(static_cast<int64_t>(indices.size()));
    }
  }
  Expected<BlockMask> mask =
      BlockMask::fromRows(shape.heads, shape.qBlocks(), shape.kvBlocks(),
                          std::move(offsets), std::move(indices));
  return mask ? *mask : BlockMask();
}

/// Ragged shapes over 1..8 x 1..8 ranks: more ranks than heads, empty segments,
/// shared kv heads.
inline Placement randomPlacement(Random &random) {
  constexpr int64_t lengths[] = {0, 1, 3, 63, 1000, 3000};
  constexpr int64_t headCounts[][2] = {{12, 12}, {7, 7}, {2, 2}, {40, 40},
                                       {12, 4},  {7, 1}, {2, 1}, {40, 8}};
  const auto &heads = headCounts[random.below(8)];
  Placement placement = makePlacement(
      1 + random.below(8), 1 + random.below(8), heads[0], heads[1],
      lengths[random.below(6)], lengths[random.below(6)], 64);
  placement.shape.causal = random.chance(30);
  return placement;
}

/// Options under which heads always may move.
inline PlannerOptions eagerOptions() {
  PlannerOptions options;
  options.k1Milli = options.k2Milli = 0;
  return options;
}

/// Two ranks with two heads of 20 rows each: loads `a` (heads 0, 1) and `b`.
inline MaskSummary twoRanks(std::array<int64_t, 4> tiles, Placement &p) {
  p = makePlacement(2, 1, 4, 4, 20 * 64, 50 * 64, 64);
  MaskSummary summary;
  summary.qBlocks = 20;
  summary.kvBlocks = 50;
  summary.loads = {4, 1, {tiles.begin(), tiles.end()}};
  for (int64_t load : tiles) {
    summary.demand.push_back(load ? 0xffffffffu : 0);
    summary.demand.push_back(load ? 0x3ffffu : 0);
    for (int64_t row = 0; row < 20; ++row)
      summary.rowTiles.push_back(
          static_cast<int32_t>(load * (row + 1) / 20 - load * row / 20));
  }
  return summary;
}

inline std::vector<int64_t> initialOwners(const Placement &placement) {
  return Plan().owners(placement);
}

inline std::string tracePath(const std::string &name) {
  return std::string(SPARSEATTN_TEST_DATA_DIR) + "/traces/" + name;
}

} // namespace sart::test

#endif // SPARSEATTN_TEST_UNIT_PLANNING_PLANNINGTESTSUPPORT_H

//===- BalanceTestSupport.h - Loads for tests of balancers ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_PLANNING_BALANCETESTSUPPORT_H
#define SPARSEATTN_TEST_UNIT_PLANNING_BALANCETESTSUPPORT_H

#include "PlanningTestSupport.h"
#include "sparseattn-rt/Balance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace sart::test {

/// A summary of rows[head * qBlocks + qBlock] tiles; the first kv-blocks are
/// the ones that are needed.
inline MaskSummary summaryOfRows(const Placement &placement,
                                 std::vector<int32_t> rows) {
  MaskSummary summary;
  summary.kvBlocks = placement.shape.kvBlocks();
  summary.qBlocks = placement.shape.qBlocks();
  summary.loads.heads = placement.shape.heads;
  summary.loads.ring = placement.mesh.ring;
  for (int64_t head = 0; head < placement.shape.heads; ++head)
    for (int64_t r = 0; r < placement.mesh.ring; ++r) {
      Range own = placement.qBlocksOf(r);
      int64_t tiles = 0, most = 0;
      for (int64_t row = own.begin; row < own.end; ++row) {
        tiles += rows[head * summary.qBlocks + row];
        most = std::max<int64_t>(most, rows[head * summary.qBlocks + row]);
      }
      summary.loads.tiles.push_back(tiles);
      for (int64_t word = 0; word < summary.words(); ++word) {
        int64_t bits = std::clamp<int64_t>(most - 32 * word, 0, 32);
        summary.demand.push_back(
            static_cast<uint32_t>((uint64_t(1) << bits) - 1));
      }
    }
  summary.rowTiles = std::move(rows);
  return summary;
}

/// Rows that spread each head's load evenly over its q-blocks.
inline std::vector<int32_t> evenRows(const Placement &placement,
                                     const std::vector<int64_t> &loads) {
  std::vector<int32_t> rows;
  for (int64_t load : loads)
    for (int64_t i = 0; i < placement.shape.qBlocks(); ++i)
      rows.push_back(static_cast<int32_t>(
          evenPart(load, placement.shape.qBlocks(), i).size()));
  return rows;
}

/// Heads whose densities spread like a log-normal distribution of deviation
/// `sigma`, and rows that vary smoothly by about a half.
inline std::vector<int32_t> lognormalRows(const Placement &placement,
                                          double sigma, Random &random) {
  auto uniform = [&] {
    return (static_cast<double>(random.below(1 << 20)) + 0.5) / (1 << 20);
  };
  constexpr double pi = 3.14159265358979;
  int64_t qBlocks = placement.shape.qBlocks();
  auto kvBlocks = static_cast<double>(placement.shape.kvBlocks());
  std::vector<int32_t> rows;
  for (int64_t head = 0; head < placement.shape.heads; ++head) {
    double normal =
        std::sqrt(-2 * std::log(uniform())) * std::cos(2 * pi * uniform());
    double density = std::min(0.9, 0.3 * std::exp(sigma * normal));
    double turns = 1 + 6 * uniform(), phase = 2 * pi * uniform();
    for (int64_t row = 0; row < qBlocks; ++row) {
      double wave =
          1 + 0.3 * std::sin(phase + 2 * pi * turns * static_cast<double>(row) /
                                         static_cast<double>(qBlocks));
      double tiles = density * wave * (0.8 + 0.4 * uniform()) * kvBlocks;
      rows.push_back(static_cast<int32_t>(std::clamp(tiles, 1.0, kvBlocks)));
    }
  }
  return rows;
}

inline std::vector<int64_t> loadsAfter(const MaskSummary &summary,
                                       const std::vector<int64_t> &owners,
                                       const std::vector<RowMove> &moves,
                                       const Placement &placement) {
  std::vector<int64_t> loads = rankLoads(summary.loads, owners, placement.mesh);
  applyRowMoves(summary, moves, loads);
  return loads;
}

/// Rows leave their owner, stay in the group they may move in, no row twice,
/// not more moves per rank than allowed, in order.
inline void expectLegal(const std::vector<RowMove> &moves,
                        const std::vector<int64_t> &owners,
                        const Placement &placement, int64_t maxPieces) {
  const Mesh &mesh = placement.mesh;
  std::map<int64_t, int64_t> in, out;
  int64_t head = -1, end = 0;
  for (const RowMove &move : moves) {
    ASSERT_GE(move.head, head);
    if (move.head != head)
      end = 0;
    head = move.head;
    ASSERT_GE(move.qBlocks.begin, end);
    ASSERT_LT(move.qBlocks.begin, move.qBlocks.end);
    end = move.qBlocks.end;
    ASSERT_NE(move.from, move.to);
    ASSERT_EQ(mesh.ulyssesIndex(move.from), owners[move.head]);
    Range own = placement.qBlocksOf(mesh.ringIndex(move.from));
    ASSERT_GE(move.qBlocks.begin, own.begin);
    ASSERT_LE(move.qBlocks.end, own.end);
    if (mesh.ring > 1)
      ASSERT_EQ(mesh.ulyssesIndex(move.to), mesh.ulyssesIndex(move.from));
    ASSERT_LE(++in[move.to], maxPieces);
    ASSERT_LE(++out[move.from], maxPieces);
  }
}

} // namespace sart::test

#endif // SPARSEATTN_TEST_UNIT_PLANNING_BALANCETESTSUPPORT_H

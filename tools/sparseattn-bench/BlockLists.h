//===- BlockLists.h - Lists of kv-blocks for kernels of a GPU ---*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_BLOCKLISTS_H
#define SPARSEATTN_TOOLS_BENCH_BLOCKLISTS_H

#include "sparseattn-rt/BlockMask.h"
#include "sparseattn-rt/DeviceRouting.h"

#include <cstdint>
#include <vector>

namespace sart {

/// For every (head, q-block) a row of int32s: how many kv-blocks, then the
/// blocks, ascending; `stride()` int32s a row.
class BlockLists {
public:
  /// Empty lists for the heads and blocks of `shape`.
  explicit BlockLists(const LayerShape &shape);

  /// Every block with probability `density`, and always the one at the row's
  /// place on the diagonal. 1: every block.
  static BlockLists random(const LayerShape &shape, double density,
                           uint64_t seed);
  /// `count` different blocks a row, the diagonal's among them.
  static BlockLists fixedCount(const LayerShape &shape, int64_t count,
                               uint64_t seed);
  static BlockLists of(const LayerShape &shape, const BlockMask &mask);

  /// The same with some rows emptied (one alone, two side by side, the last
  /// one of a head) and one that has only the last block.
  BlockLists withEmptyRows() const;

  const LayerShape &shape() const { return layer; }
  int64_t stride() const { return 1 + layer.kvBlocks(); }
  int32_t count(int64_t head, int64_t qBlock) const {
    return *row(head, qBlock);
  }
  const int32_t *blocks(int64_t head, int64_t qBlock) const {
    return row(head, qBlock) + 1;
  }
  const std::vector<int32_t> &rows() const { return lists; }

  /// Visited share of all blocks.
  double density() const;
  /// Multiplications and additions of Q K^T and P V over visited blocks, tails
  /// as they are.
  double usefulFlops() const;
  /// A record for every (head, q-block): heads in order, longest list first.
  std::vector<DeviceTileRecord> orderedTiles() const;
  /// [head][q-block][(kv-blocks + 7) / 8]: bit j & 7 of byte j >> 3.
  std::vector<uint8_t> bits() const;

private:
  const int32_t *row(int64_t head, int64_t qBlock) const {
    return &lists[static_cast<size_t>((head * layer.qBlocks() + qBlock) *
                                      stride())];
  }
  int32_t *row(int64_t head, int64_t qBlock) {
    return &lists[static_cast<size_t>((head * layer.qBlocks() + qBlock) *
                                      stride())];
  }
  int64_t diagonal(int64_t qBlock) const {
    return qBlock * layer.kvBlocks() / layer.qBlocks();
  }

  LayerShape layer;
  std::vector<int32_t> lists;
};

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_BLOCKLISTS_H

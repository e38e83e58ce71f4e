//===- BlockMask.h - Block-sparse masks as sorted index lists ---*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_BLOCKMASK_H
#define SPARSEATTN_RT_BLOCKMASK_H

#include "sparseattn-rt/Placement.h"

#include <cstdint>
#include <vector>

namespace sart {

/// M[head, q-block, kv-block] as one ascending list of kv-blocks per
/// (head, q-block). Compressed rows: row i = head * qBlocks + qBlock spans
/// indices[offsets[i] .. offsets[i + 1]).
class BlockMask {
public:
  BlockMask() = default;
  /// An empty mask (no tile selected).
  BlockMask(int64_t heads, int64_t qBlocks, int64_t kvBlocks);

  static BlockMask dense(int64_t heads, int64_t qBlocks, int64_t kvBlocks);
  /// bits: row-major [heads][qBlocks][kvBlocks], non-zero = selected.
  static BlockMask fromBits(const uint8_t *bits, int64_t heads, int64_t qBlocks,
                            int64_t kvBlocks);
  /// Lists per row; refuses indices that are not ascending or out of range and
  /// a wrong number of rows, naming head, q-block and index.
  static Expected<BlockMask>
  fromLists(int64_t heads, int64_t qBlocks, int64_t kvBlocks,
            const std::vector<std::vector<int32_t>> &lists);
  /// The same from compressed rows, without a copy; refuses wrong offsets too.
  static Expected<BlockMask> fromRows(int64_t heads, int64_t qBlocks,
                                      int64_t kvBlocks,
                                      std::vector<int64_t> offsets,
                                      std::vector<int32_t> indices);

  int64_t heads() const { return numHeads; }
  int64_t qBlocks() const { return numQBlocks; }
  int64_t kvBlocks() const { return numKvBlocks; }
  int64_t count(int64_t head, int64_t qBlock) const;
  const int32_t *row(int64_t head, int64_t qBlock) const;
  bool contains(int64_t head, int64_t qBlock, int64_t kvBlock) const;
  /// Selected tiles of a head, of a head's q-blocks, of the whole mask.
  int64_t load(int64_t head) const;
  int64_t load(int64_t head, Range qBlocks) const;
  int64_t tiles() const { return static_cast<int64_t>(indices.size()); }
  /// tiles() over heads * qBlocks * kvBlocks; 0 for an empty shape.
  double density() const;

  std::vector<uint8_t> toBits() const;
  /// Set operations; refuse different shapes.
  static Expected<BlockMask> unite(const BlockMask &a, const BlockMask &b);
  static Expected<BlockMask> intersect(const BlockMask &a, const BlockMask &b);
  bool operator==(const BlockMask &other) const;

  const std::vector<int64_t> &rowOffsets() const { return offsets; }
  const std::vector<int32_t> &rowIndices() const { return indices; }

private:
  int64_t numHeads = 0, numQBlocks = 0, numKvBlocks = 0;
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> indices;
};

} // namespace sart

#endif // SPARSEATTN_RT_BLOCKMASK_H

//===- MaskDemand.h - Which kv-blocks rows of a mask need -------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_MASKDEMAND_H
#define SPARSEATTN_RT_CORE_MASKDEMAND_H

#include "sparseattn-rt/BlockMask.h"

#include <vector>

namespace sart {

using BlockBits = std::vector<uint64_t>;

/// Unions of mask rows as bit sets over kv-blocks; those of whole ring
/// segments are kept.
class MaskDemand {
public:
  MaskDemand(const BlockMask *mask, const Placement &placement)
      : mask(mask), placement(placement) {}

  /// kv-blocks that any q-block of ring segment `r` selects for `head`. Valid
  /// until the next call.
  const BlockBits &ofSegment(int64_t head, int64_t r) {
    // Very long sequences are not kept: a small program could ask for many.
    if (placement.shape.kvBlocks() > mostKept) {
      last = ofRows(head, placement.qBlocksOf(r));
      return last;
    }
    size_t slot = static_cast<size_t>(head * placement.mesh.ring + r);
    if (slot >= segments.size())
      segments.resize(slot + 1);
    if (segments[slot].empty())
      segments[slot] = ofRows(head, placement.qBlocksOf(r));
    return segments[slot];
  }

  /// kv-blocks that q-blocks `rows` (global numbers) select for `head`.
  BlockBits ofRows(int64_t head, Range rows) const {
    BlockBits bits(static_cast<size_t>(placement.shape.kvBlocks() / 64 + 1), 0);
    for (int64_t row = rows.begin; mask && row < rows.end; ++row) {
      const int32_t *indices = mask->row(head, row);
      int64_t count = mask->count(head, row);
      for (int64_t i = 0; i < count; ++i)
        bits[static_cast<size_t>(indices[i] >> 6)] |= uint64_t(1)
                                                      << (indices[i] & 63);
    }
    return bits;
  }

  /// First set bit in `blocks`, or -1.
  static int64_t firstIn(const BlockBits &bits, Range blocks) {
    for (int64_t word = blocks.begin >> 6; word * 64 < blocks.end; ++word) {
      uint64_t value = bits[static_cast<size_t>(word)];
      if (word == blocks.begin >> 6)
        value &= ~uint64_t(0) << (blocks.begin & 63);
      if (!value)
        continue;
      int64_t block = word * 64 + __builtin_ctzll(value);
      return block < blocks.end ? block : -1;
    }
    return -1;
  }

private:
  static constexpr int64_t mostKept = 1 << 15;

  const BlockMask *mask;
  const Placement &placement;
  std::vector<BlockBits> segments;
  BlockBits last;
};

} // namespace sart

#endif // SPARSEATTN_RT_CORE_MASKDEMAND_H

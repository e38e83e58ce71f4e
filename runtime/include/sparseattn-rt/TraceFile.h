//===- TraceFile.h - Recorded block masks and loads (.bmt) ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_TRACEFILE_H
#define SPARSEATTN_RT_TRACEFILE_H

#include "sparseattn-rt/BlockMask.h"
#include "sparseattn-rt/Order.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sart {

/// Block masks, or only their loads, of several layers and steps.
///
/// File format, little endian:
///   char[4]  "BMT1"
///   u32 x14  T H W order(0 raster, 1 cubes 4x4x4, 2 Hilbert) tokens heads nq
///   nk
///            bq bk instances flags(1 row loads, 2 masks) 1000 * p
///            row_bytes(ceil(nk / 8))
///   per instance:
///     u32 layer, step; u32 load[heads] (selected tiles)
///     u16 row[heads][nq]               if flags & 1: tiles per query tile
///     u8  mask[heads][nq][row_bytes]   if flags & 2: bit j & 7 of byte j >> 3
/// Tokens are numbered in the order; the last tiles may be ragged.
struct TraceFile {
  struct Instance {
    int64_t layer = 0, step = 0;
    std::vector<int64_t> loads;    ///< [heads]
    std::vector<uint16_t> rows;    ///< [heads][qTiles], or empty
    std::vector<uint8_t> maskBits; ///< [heads][qTiles][rowBytes], or empty
  };

  Order order;
  int64_t tokens = 0, heads = 0;
  int64_t qTiles = 0, kvTiles = 0;
  int64_t tileQ = 0, tileK = 0; ///< tokens per tile
  int64_t topPMilli = 0;        ///< 1000 * p
  bool hasRows = false, hasMasks = false;
  std::vector<Instance> instances;

  int64_t rowBytes() const { return (kvTiles + 7) / 8; }
  /// Mask of one instance. `mergeK` kv-tiles make one kv-block, selected when
  /// one of them is. Refuses a file without masks, an instance out of range and
  /// mergeK below 1.
  Expected<BlockMask> mask(int64_t instance, int64_t mergeK = 1) const;

  /// Reads a file; `parse` reads bytes. Refuse a wrong magic, sizes that do not
  /// fit each other, truncation, trailing bytes, and row loads, loads and masks
  /// that disagree.
  static Expected<TraceFile> read(const std::string &path);
  static Expected<TraceFile> parse(const uint8_t *bytes, size_t size);
  /// Bytes that parse reads back.
  std::vector<uint8_t> serialize() const;
};

} // namespace sart

#endif // SPARSEATTN_RT_TRACEFILE_H

//===- AttendContext.h - What the roles of an attend kernel share -*- C++
//-*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_ATTENDCONTEXT_H
#define SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_ATTENDCONTEXT_H

#include "Sm90Emitter.h"

#include "sparseattn/Conversion/SparseAttnToSm90/AttendKernel.h"

namespace mlir::sparseattn {

/// Bytes of an EntryRecord's fields.
namespace entry {
inline constexpr int64_t o = 0, lse = 8, mask = 16, source = 24, qHead = 28,
                         kvHead = 32, qRows = 36, kvRows = 40, qBatch = 44,
                         kvBatch = 48, size = 64;
} // namespace entry

/// What a producer tells the consumers of a tile, four integers through the
/// mailbox. `entry` is negative after the last tile. `slots`: slots of keys
/// that the tile visits; `limit`: valid keys of the first of them.
struct TilePost {
  Value entry, qBlock, slots, limit;
};

/// A ring or mailbox and the position of one of its users.
struct Stream {
  Value ring;
  Value cursor;
};

/// The kernel that is being written: arguments, rings, types.
class AttendContext : public Sm90Emitter {
public:
  AttendContext(OpBuilder &builder, Location loc, const sart::KernelSpec &spec,
                const AttendRecipe &recipe);

  /// Makes the kernel operation and the rings, and enters its body.
  sa_sm90::KernelOp begin();

  /// Address of a field of an entry.
  Value field(Value entry, int64_t byte);
  /// A 32-bit integer field of an entry.
  Value intField(Value entry, int64_t byte);

  /// The part of `ring` that belongs to a pair.
  Value copyOf(Value ring, Value pair);
  Stream stream(Value ring, bool producer);
  /// Position `by` slots after `cursor`.
  Value advanced(Value cursor, int64_t by);
  void advance(Stream &stream, int64_t by) {
    stream.cursor = advanced(stream.cursor, by);
  }

  sa_sm90::TileType slotTile() const;
  /// What one query load brings: a slot of the ring, or the query buffer.
  sa_sm90::TileType queryTile() const;
  sa_sm90::AccumulatorType scoresType() const;
  sa_sm90::AccumulatorType outputType() const;

  const sart::KernelSpec &spec;
  const AttendRecipe &recipe;
  const AttendLayout layout;
  Type element, outElement;

  // Arguments.
  Value maps, entries, tiles, tileCount, counter, outStride, maskStride, scale;
  Value ring, queryRing, mailbox; ///< queryRing: null with queryInRing
};

// The roles. Each writes the body of its role.
/// Takes tiles, posts them, loads queries, keys and values.
void buildProducer(AttendContext &context, Value pair);
/// Writes the rows of tiles without a kv-block.
void buildEmptyTileWriter(AttendContext &context, Value lane);
/// Scores, softmax, outputs.
void buildConsumer(AttendContext &context, Value warp);

} // namespace mlir::sparseattn

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOSM90_ATTENDCONTEXT_H

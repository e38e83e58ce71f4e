//===- RowMap.h - What the rows of one slot hold ----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_ROWMAP_H
#define SPARSEATTN_RT_CORE_ROWMAP_H

#include "sparseattn-rt/Placement.h"

namespace sart {

/// Meaning of a row. Unknown follows a violation and matches everything, so
/// that one fault is reported once.
enum class RowKind : uint8_t {
  Unknown,
  Query,
  Key,
  Value,
  Output,
  LogSum,
  Mask,
  PooledQuery,
  PooledKey,
  Summary
};
const char *toString(RowKind kind);

/// Identity of rows: row r holds item r + shift (token or block, global
/// numbers) of `head` (kv head for keys and values). Partial results also say
/// which kv-blocks they cover, as an index into the covers of the run.
struct Content {
  RowKind kind = RowKind::Unknown;
  int32_t head = -1;
  int32_t cover = -1;
  int64_t shift = 0;
  bool operator==(const Content &o) const {
    return kind == o.kind && head == o.head && cover == o.cover &&
           shift == o.shift;
  }
  bool operator!=(const Content &o) const { return !(*this == o); }
};

/// Written: readable. Receiving and Putting: data may arrive at any moment.
enum class RowState : uint8_t { Written, Receiving, Putting };

struct Piece {
  Range rows;
  RowState state = RowState::Written;
  int32_t owner = -1; ///< id of the receive or put that fills the rows
  Content content;
};

/// Rows in transit from one place to another: `rows` rows whose first one is
/// item `item`.
struct Run {
  int64_t rows = 0;
  int64_t item = 0;
  Content content; ///< shift unused
};

/// Disjoint pieces in ascending order; rows in no piece are unwritten.
/// Neighbours that hold the same are one piece.
class RowMap {
public:
  const std::vector<Piece> &all() const { return pieces; }
  bool empty() const { return pieces.empty(); }
  /// Index of the first piece that ends after `row`.
  size_t firstAfter(int64_t row) const;
  /// First piece that overlaps `rows`, null: all unwritten.
  const Piece *overlap(Range rows) const;
  /// Inserts a piece over rows that are unwritten.
  void insert(const Piece &piece);
  /// Makes rows unwritten.
  void erase(Range rows);
  void clear() { pieces.clear(); }

  int64_t releasedAt = -1; ///< step of the rank's last release of the slot
  int32_t lastWriter = -1; ///< id of the last instruction that wrote here

private:
  std::vector<Piece> pieces;
};

} // namespace sart

#endif // SPARSEATTN_RT_CORE_ROWMAP_H

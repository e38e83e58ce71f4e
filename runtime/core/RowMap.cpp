//===- RowMap.cpp - What the rows of one slot hold ------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowMap.h"

#include <algorithm>

using namespace sart;

const char *sart::toString(RowKind kind) {
  constexpr const char *names[] = {
      "unknown rows", "q",    "k",        "v",        "o",
      "lse",          "mask", "pooled q", "pooled k", "summary"};
  return names[static_cast<size_t>(kind)];
}

size_t RowMap::firstAfter(int64_t row) const {
  // Programs write ascending rows, so the end is the likely place.
  if (pieces.empty() || pieces.back().rows.end <= row)
    return pieces.size();
  auto it = std::partition_point(
      pieces.begin(), pieces.end(),
      [row](const Piece &piece) { return piece.rows.end <= row; });
  return static_cast<size_t>(it - pieces.begin());
}

const Piece *RowMap::overlap(Range rows) const {
  if (rows.empty())
    return nullptr;
  size_t i = firstAfter(rows.begin);
  return i < pieces.size() && pieces[i].rows.begin < rows.end ? &pieces[i]
                                                              : nullptr;
}

static bool joins(const Piece &left, const Piece &right) {
  return left.rows.end == right.rows.begin && left.state == right.state &&
         left.owner == right.owner && left.content == right.content;
}

void RowMap::insert(const Piece &piece) {
  if (piece.rows.empty())
    return;
  size_t i = firstAfter(piece.rows.begin);
  bool joinsLeft = i > 0 && joins(pieces[i - 1], piece);
  bool joinsRight = i < pieces.size() && joins(piece, pieces[i]);
  auto at = pieces.begin() + static_cast<std::ptrdiff_t>(i);
  if (joinsLeft && joinsRight) {
    pieces[i - 1].rows.end = pieces[i].rows.end;
    pieces.erase(at);
  } else if (joinsLeft) {
    pieces[i - 1].rows.end = piece.rows.end;
  } else if (joinsRight) {
    pieces[i].rows.begin = piece.rows.begin;
  } else {
    pieces.insert(at, piece);
  }
}

void RowMap::erase(Range rows) {
  if (rows.empty())
    return;
  size_t i = firstAfter(rows.begin);
  if (i < pieces.size() && pieces[i].rows.begin < rows.begin) {
    Piece right = pieces[i];
    pieces[i].rows.end = rows.begin;
    ++i;
    if (right.rows.end > rows.end) {
      right.rows.begin = rows.end;
      pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(i), right);
      return;
    }
  }
  size_t last = i;
  while (last < pieces.size() && pieces[last].rows.end <= rows.end)
    ++last;
  if (last < pieces.size() && pieces[last].rows.begin < rows.end)
    pieces[last].rows.begin = rows.end;
  pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(i),
               pieces.begin() + static_cast<std::ptrdiff_t>(last));
}

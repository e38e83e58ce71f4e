//===- MaskReport.cpp - A mask as JSON of bounded size --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Report/RunReport.h"

#include "llvm/Support/Base64.h"

#include <algorithm>

using namespace mlir::sparseattn;
using llvm::json::Array;
using llvm::json::Object;
using sart::BlockMask;

namespace {

/// Blocks along an axis that are drawn one by one, and cells along an axis of
/// a mask that is too large for that.
constexpr int64_t exactBlocks = 256, cellsPerAxis = 200;
constexpr int64_t shownHeads = 64, shownQBlocks = 3;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// At most `most` of 0 .. count - 1, evenly spread.
std::vector<int64_t> spread(int64_t count, int64_t most) {
  std::vector<int64_t> chosen;
  int64_t wanted = std::min(count, most);
  for (int64_t i = 0; i < wanted; ++i)
    chosen.push_back((2 * i + 1) * count / (2 * wanted));
  return chosen;
}

/// Values of `bits` bits each, the first one in the highest bits of the first
/// byte.
class PackedRows {
public:
  PackedRows(int64_t rows, int64_t columns, int bits)
      : rowBytes(ceilDiv(columns * bits, 8)), bits(bits),
        bytes(static_cast<size_t>(rows * rowBytes), '\0') {}
  void set(int64_t row, int64_t column, int64_t value) {
    int64_t first = column * bits;
    char &byte = bytes[static_cast<size_t>(row * rowBytes + first / 8)];
    byte = static_cast<char>(byte | (value << (8 - bits - first % 8)));
  }
  std::string base64() const { return llvm::encodeBase64(bytes); }

private:
  int64_t rowBytes;
  int bits;
  std::string bytes;
};

std::string cellsOf(const BlockMask &mask, int64_t head, int64_t cellQ,
                    int64_t cellK, int64_t levels) {
  int64_t rows = ceilDiv(mask.qBlocks(), cellQ);
  int64_t columns = ceilDiv(mask.kvBlocks(), cellK);
  PackedRows picture(rows, columns, levels == 1 ? 1 : 4);
  std::vector<int64_t> counts(static_cast<size_t>(columns));
  for (int64_t row = 0; row < rows; ++row) {
    std::fill(counts.begin(), counts.end(), 0);
    int64_t end = std::min(mask.qBlocks(), (row + 1) * cellQ);
    for (int64_t q = row * cellQ; q < end; ++q)
      for (int64_t i = 0; i < mask.count(head, q); ++i)
        ++counts[static_cast<size_t>(mask.row(head, q)[i] / cellK)];
    for (int64_t column = 0; column < columns; ++column) {
      int64_t tiles =
          (end - row * cellQ) *
          (std::min(mask.kvBlocks(), (column + 1) * cellK) - column * cellK);
      int64_t count = counts[static_cast<size_t>(column)];
      int64_t level = (2 * levels * count + tiles) / (2 * tiles);
      // A cell with one tile must not look like one with none.
      picture.set(row, column, std::max<int64_t>(level, count > 0));
    }
  }
  return picture.base64();
}

} // namespace

Object mlir::sparseattn::makeMaskReport(const BlockMask &mask) {
  int64_t q = mask.qBlocks(), k = mask.kvBlocks();
  bool exact = std::max(q, k) <= exactBlocks;
  int64_t cellQ = exact ? 1 : ceilDiv(std::max<int64_t>(q, 1), cellsPerAxis);
  int64_t cellK = exact ? 1 : ceilDiv(std::max<int64_t>(k, 1), cellsPerAxis);
  int64_t levels = exact ? 1 : 15;
  Array tiles, heads, cells, rows;
  for (int64_t head = 0; head < mask.heads(); ++head)
    tiles.push_back(mask.load(head));
  std::vector<int64_t> chosen = spread(mask.heads(), shownHeads);
  for (int64_t head : chosen) {
    heads.push_back(head);
    cells.push_back(cellsOf(mask, head, cellQ, cellK, levels));
  }
  for (int64_t block : spread(q, shownQBlocks)) {
    Array selections;
    for (int64_t head : chosen) {
      PackedRows bits(1, k, 1);
      for (int64_t i = 0; i < mask.count(head, block); ++i)
        bits.set(0, mask.row(head, block)[i], 1);
      selections.push_back(bits.base64());
    }
    rows.push_back(Object{{"q_block", block}, {"kv", std::move(selections)}});
  }
  return Object{{"q_blocks", q},
                {"kv_blocks", k},
                {"tiles", std::move(tiles)},
                {"heads", std::move(heads)},
                {"cell", Array{cellQ, cellK}},
                {"levels", levels},
                {"cells", std::move(cells)},
                {"rows", std::move(rows)}};
}

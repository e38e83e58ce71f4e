//===- BlockMask.cpp - Block-sparse masks as sorted index lists -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/BlockMask.h"

#include <algorithm>
#include <iterator>
#include <limits>

using namespace sart;

namespace {

Status verifyShape(int64_t heads, int64_t qBlocks, int64_t kvBlocks) {
  if (heads < 0 || qBlocks < 0 || kvBlocks < 0)
    return makeError("mask shape has a negative size: got ", heads, "x",
                     qBlocks, "x", kvBlocks, ", expected sizes of at least 0");
  constexpr int64_t limit = std::numeric_limits<int32_t>::max();
  if (kvBlocks > limit)
    return makeError("number of kv-blocks does not fit an index: got ",
                     kvBlocks, ", expected at most ", limit);
  if (qBlocks != 0 && heads > (int64_t(1) << 40) / qBlocks)
    return makeError("number of mask rows too large: got ", heads, "x", qBlocks,
                     ", expected at most 2^40 rows");
  return Status::success();
}

/// Checks one list; `head` and `qBlock` only name it.
Status verifyList(const int32_t *list, int64_t count, int64_t kvBlocks,
                  int64_t head, int64_t qBlock) {
  int64_t least = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (list[i] < least || list[i] >= kvBlocks)
      return makeError("mask entry not ascending or out of range: got ",
                       list[i], " at index ", i, " of head ", head, " q-block ",
                       qBlock, ", expected ", least, " to ", kvBlocks - 1);
    least = int64_t(list[i]) + 1;
  }
  return Status::success();
}

Status verifySameShape(const BlockMask &a, const BlockMask &b) {
  if (a.heads() != b.heads() || a.qBlocks() != b.qBlocks() ||
      a.kvBlocks() != b.kvBlocks())
    return makeError("mask shapes do not match: got ", b.heads(), "x",
                     b.qBlocks(), "x", b.kvBlocks(), ", expected ", a.heads(),
                     "x", a.qBlocks(), "x", a.kvBlocks());
  return Status::success();
}

} // namespace

BlockMask::BlockMask(int64_t heads, int64_t qBlocks, int64_t kvBlocks)
    : numHeads(std::max<int64_t>(heads, 0)),
      numQBlocks(std::max<int64_t>(qBlocks, 0)),
      numKvBlocks(std::max<int64_t>(kvBlocks, 0)),
      offsets(static_cast<size_t>(numHeads * numQBlocks + 1), 0) {}

BlockMask BlockMask::dense(int64_t heads, int64_t qBlocks, int64_t kvBlocks) {
  BlockMask mask(heads, qBlocks, kvBlocks);
  int64_t rows = mask.numHeads * mask.numQBlocks;
  mask.indices.resize(static_cast<size_t>(rows * mask.numKvBlocks));
  for (int64_t row = 0; row < rows; ++row) {
    mask.offsets[static_cast<size_t>(row + 1)] = (row + 1) * mask.numKvBlocks;
    for (int64_t j = 0; j < mask.numKvBlocks; ++j)
      mask.indices[static_cast<size_t>(row * mask.numKvBlocks + j)] =
          static_cast<int32_t>(j);
  }
  return mask;
}

BlockMask BlockMask::fromBits(const uint8_t *bits, int64_t heads,
                              int64_t qBlocks, int64_t kvBlocks) {
  BlockMask mask(heads, qBlocks, kvBlocks);
  int64_t rows = mask.numHeads * mask.numQBlocks;
  for (int64_t row = 0; row < rows; ++row) {
    const uint8_t *rowBits = bits + row * mask.numKvBlocks;
    for (int64_t j = 0; j < mask.numKvBlocks; ++j)
      if (rowBits[j])
        mask.indices.push_back(static_cast<int32_t>(j));
    mask.offsets[static_cast<size_t>(row + 1)] = mask.tiles();
  }
  return mask;
}

Expected<BlockMask>
BlockMask::fromLists(int64_t heads, int64_t qBlocks, int64_t kvBlocks,
                     const std::vector<std::vector<int32_t>> &lists) {
  SART_RETURN_IF_ERROR(verifyShape(heads, qBlocks, kvBlocks));
  if (static_cast<int64_t>(lists.size()) != heads * qBlocks)
    return makeError("number of mask rows does not match the shape: got ",
                     lists.size(), ", expected ", heads * qBlocks, " (", heads,
                     " heads x ", qBlocks, " q-blocks)");
  BlockMask mask(heads, qBlocks, kvBlocks);
  size_t total = 0;
  for (const std::vector<int32_t> &list : lists)
    total += list.size();
  mask.indices.reserve(total);
  for (size_t row = 0; row < lists.size(); ++row) {
    const std::vector<int32_t> &list = lists[row];
    SART_RETURN_IF_ERROR(verifyList(list.data(),
                                    static_cast<int64_t>(list.size()), kvBlocks,
                                    static_cast<int64_t>(row) / qBlocks,
                                    static_cast<int64_t>(row) % qBlocks));
    mask.indices.insert(mask.indices.end(), list.begin(), list.end());
    mask.offsets[row + 1] = mask.tiles();
  }
  return mask;
}

Expected<BlockMask> BlockMask::fromRows(int64_t heads, int64_t qBlocks,
                                        int64_t kvBlocks,
                                        std::vector<int64_t> offsets,
                                        std::vector<int32_t> indices) {
  SART_RETURN_IF_ERROR(verifyShape(heads, qBlocks, kvBlocks));
  int64_t rows = heads * qBlocks;
  if (static_cast<int64_t>(offsets.size()) != rows + 1)
    return makeError("number of mask offsets does not match the shape: got ",
                     offsets.size(), ", expected ", rows + 1);
  int64_t total = static_cast<int64_t>(indices.size());
  if (offsets.front() != 0 || offsets.back() != total)
    return makeError("mask offsets do not span the indices: got ",
                     offsets.front(), " to ", offsets.back(),
                     ", expected 0 to ", total);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t begin = offsets[static_cast<size_t>(row)];
    int64_t end = offsets[static_cast<size_t>(row + 1)];
    if (end < begin || end > total)
      return makeError("mask offsets not ascending: got ", begin, " then ", end,
                       " at row ", row, ", expected ", begin, " to ", total);
    SART_RETURN_IF_ERROR(verifyList(indices.data() + begin, end - begin,
                                    kvBlocks, row / qBlocks, row % qBlocks));
  }
  BlockMask mask(heads, qBlocks, kvBlocks);
  mask.offsets = std::move(offsets);
  mask.indices = std::move(indices);
  return mask;
}

int64_t BlockMask::count(int64_t head, int64_t qBlock) const {
  size_t row = static_cast<size_t>(head * numQBlocks + qBlock);
  return offsets[row + 1] - offsets[row];
}

const int32_t *BlockMask::row(int64_t head, int64_t qBlock) const {
  return indices.data() +
         offsets[static_cast<size_t>(head * numQBlocks + qBlock)];
}

bool BlockMask::contains(int64_t head, int64_t qBlock, int64_t kvBlock) const {
  const int32_t *begin = row(head, qBlock);
  return std::binary_search(begin, begin + count(head, qBlock), kvBlock);
}

int64_t BlockMask::load(int64_t head) const {
  return load(head, {0, numQBlocks});
}

int64_t BlockMask::load(int64_t head, Range qBlocks) const {
  if (qBlocks.empty())
    return 0;
  return offsets[static_cast<size_t>(head * numQBlocks + qBlocks.end)] -
         offsets[static_cast<size_t>(head * numQBlocks + qBlocks.begin)];
}

double BlockMask::density() const {
  double cells = static_cast<double>(numHeads) *
                 static_cast<double>(numQBlocks) *
                 static_cast<double>(numKvBlocks);
  return cells == 0 ? 0 : static_cast<double>(tiles()) / cells;
}

std::vector<uint8_t> BlockMask::toBits() const {
  int64_t rows = numHeads * numQBlocks;
  std::vector<uint8_t> bits(static_cast<size_t>(rows * numKvBlocks), 0);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = offsets[static_cast<size_t>(row)];
         i < offsets[static_cast<size_t>(row + 1)]; ++i)
      bits[static_cast<size_t>(row * numKvBlocks +
                               indices[static_cast<size_t>(i)])] = 1;
  return bits;
}

Expected<BlockMask> BlockMask::unite(const BlockMask &a, const BlockMask &b) {
  SART_RETURN_IF_ERROR(verifySameShape(a, b));
  BlockMask result(a.numHeads, a.numQBlocks, a.numKvBlocks);
  for (size_t row = 0; row + 1 < a.offsets.size(); ++row) {
    std::set_union(a.indices.begin() + a.offsets[row],
                   a.indices.begin() + a.offsets[row + 1],
                   b.indices.begin() + b.offsets[row],
                   b.indices.begin() + b.offsets[row + 1],
                   std::back_inserter(result.indices));
    result.offsets[row + 1] = result.tiles();
  }
  return result;
}

Expected<BlockMask> BlockMask::intersect(const BlockMask &a,
                                         const BlockMask &b) {
  SART_RETURN_IF_ERROR(verifySameShape(a, b));
  BlockMask result(a.numHeads, a.numQBlocks, a.numKvBlocks);
  for (size_t row = 0; row + 1 < a.offsets.size(); ++row) {
    std::set_intersection(a.indices.begin() + a.offsets[row],
                          a.indices.begin() + a.offsets[row + 1],
                          b.indices.begin() + b.offsets[row],
                          b.indices.begin() + b.offsets[row + 1],
                          std::back_inserter(result.indices));
    result.offsets[row + 1] = result.tiles();
  }
  return result;
}

bool BlockMask::operator==(const BlockMask &other) const {
  return numHeads == other.numHeads && numQBlocks == other.numQBlocks &&
         numKvBlocks == other.numKvBlocks && offsets == other.offsets &&
         indices == other.indices;
}

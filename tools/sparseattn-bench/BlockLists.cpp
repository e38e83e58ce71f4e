//===- BlockLists.cpp - Lists of kv-blocks for kernels of a GPU -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BlockLists.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace sart;

BlockLists::BlockLists(const LayerShape &shape)
    : layer(shape), lists(static_cast<size_t>(shape.heads * shape.qBlocks() *
                                              (1 + shape.kvBlocks()))) {}

BlockLists BlockLists::random(const LayerShape &shape, double density,
                              uint64_t seed) {
  BlockLists result(shape);
  std::mt19937_64 engine(seed);
  // Compared with 32 random bits; 1 takes all of them.
  auto limit = static_cast<uint64_t>(density * 4294967296.0);
  for (int64_t head = 0; head < shape.heads; ++head)
    for (int64_t q = 0; q < shape.qBlocks(); ++q) {
      int32_t *list = result.row(head, q);
      for (int64_t k = 0; k < shape.kvBlocks(); ++k)
        if ((engine() >> 32) < limit || k == result.diagonal(q))
          list[++list[0]] = static_cast<int32_t>(k);
    }
  return result;
}

BlockLists BlockLists::fixedCount(const LayerShape &shape, int64_t count,
                                  uint64_t seed) {
  BlockLists result(shape);
  std::mt19937_64 engine(seed);
  std::vector<int32_t> all(static_cast<size_t>(shape.kvBlocks()));
  std::iota(all.begin(), all.end(), 0);
  count = std::min(count, shape.kvBlocks());
  for (int64_t head = 0; head < shape.heads; ++head)
    for (int64_t q = 0; q < shape.qBlocks(); ++q) {
      int32_t *list = result.row(head, q);
      auto own = static_cast<int32_t>(result.diagonal(q));
      list[0] = static_cast<int32_t>(count);
      list[1] = own;
      // The first `count - 1` others of a random order.
      std::swap(*std::find(all.begin(), all.end(), own), all.back());
      for (int64_t i = 0; i + 1 < count; ++i) {
        auto left = static_cast<uint64_t>(shape.kvBlocks() - 1 - i);
        auto pick = static_cast<size_t>(i) + engine() % left;
        std::swap(all[static_cast<size_t>(i)], all[pick]);
        list[2 + i] = all[static_cast<size_t>(i)];
      }
      std::sort(list + 1, list + 1 + count);
    }
  return result;
}

BlockLists BlockLists::of(const LayerShape &shape, const BlockMask &mask) {
  BlockLists result(shape);
  for (int64_t head = 0; head < shape.heads; ++head)
    for (int64_t q = 0; q < shape.qBlocks(); ++q) {
      int32_t *list = result.row(head, q);
      list[0] = static_cast<int32_t>(mask.count(head, q));
      std::copy_n(mask.row(head, q), mask.count(head, q), list + 1);
    }
  return result;
}

BlockLists BlockLists::withEmptyRows() const {
  BlockLists result = *this;
  int64_t last = layer.heads - 1, rows = layer.qBlocks();
  result.row(0, 0)[0] = 0;
  if (rows > 4)
    for (int64_t q : {2, 3})
      result.row(0, q)[0] = 0;
  if (rows > 1) {
    result.row(last, rows - 1)[0] = 0;
    int32_t *tail = result.row(last, rows > 5 ? 5 : rows - 1);
    tail[0] = 1;
    tail[1] = static_cast<int32_t>(layer.kvBlocks() - 1);
  }
  return result;
}

double BlockLists::density() const {
  double visits = 0;
  for (int64_t head = 0; head < layer.heads; ++head)
    for (int64_t q = 0; q < layer.qBlocks(); ++q)
      visits += count(head, q);
  return visits /
         static_cast<double>(layer.heads * layer.qBlocks() * layer.kvBlocks());
}

double BlockLists::usefulFlops() const {
  double pairs = 0;
  int64_t last = layer.kvBlocks() - 1;
  for (int64_t head = 0; head < layer.heads; ++head)
    for (int64_t q = 0; q < layer.qBlocks(); ++q) {
      int64_t queries = std::min(layer.blockQ, layer.sq - q * layer.blockQ);
      int64_t n = count(head, q);
      int64_t keys = n * layer.blockK;
      if (n > 0 && blocks(head, q)[n - 1] == last)
        keys -= (last + 1) * layer.blockK - layer.skv;
      pairs += static_cast<double>(queries) * static_cast<double>(keys);
    }
  return 4 * pairs * static_cast<double>(layer.headDim);
}

std::vector<DeviceTileRecord> BlockLists::orderedTiles() const {
  std::vector<DeviceTileRecord> tiles;
  tiles.reserve(static_cast<size_t>(layer.heads * layer.qBlocks()));
  for (int64_t head = 0; head < layer.heads; ++head) {
    auto begin = static_cast<int64_t>(tiles.size());
    for (int64_t q = 0; q < layer.qBlocks(); ++q)
      tiles.push_back({static_cast<int32_t>(head), static_cast<int32_t>(q), 0,
                       count(head, q)});
    std::sort(tiles.begin() + begin, tiles.end(),
              [](const DeviceTileRecord &a, const DeviceTileRecord &b) {
                return a.count != b.count ? a.count > b.count
                                          : a.qBlock < b.qBlock;
              });
  }
  return tiles;
}

std::vector<uint8_t> BlockLists::bits() const {
  int64_t rowBytes = (layer.kvBlocks() + 7) / 8;
  std::vector<uint8_t> result(
      static_cast<size_t>(layer.heads * layer.qBlocks() * rowBytes));
  for (int64_t head = 0; head < layer.heads; ++head)
    for (int64_t q = 0; q < layer.qBlocks(); ++q) {
      uint8_t *bytes =
          &result[static_cast<size_t>((head * layer.qBlocks() + q) * rowBytes)];
      for (int32_t i = 0; i < count(head, q); ++i) {
        int32_t block = blocks(head, q)[i];
        bytes[block >> 3] |= static_cast<uint8_t>(1 << (block & 7));
      }
    }
  return result;
}

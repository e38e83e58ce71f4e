//===- BlockListsTest.cpp - Lists and elements of benchmarks --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BlockLists.h"
#include "NormalSource.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace sart;

static LayerShape shapeOf(int64_t heads, int64_t sq, int64_t skv) {
  LayerShape shape;
  shape.heads = shape.kvHeads = heads;
  shape.sq = sq;
  shape.skv = skv;
  shape.headDim = 64;
  shape.blockQ = 64;
  shape.blockK = 32;
  shape.dtype = DType::BF16;
  return shape;
}

TEST(BlockLists, CountsWorkOfTailsAsTheyAre) {
  LayerShape shape = shapeOf(3, 130, 70);
  BlockLists dense = BlockLists::random(shape, 1, 5);
  EXPECT_EQ(dense.density(), 1);
  EXPECT_EQ(dense.usefulFlops(), 4.0 * 64 * 3 * 130 * 70);
  // Rows 0, 2 and the last of the last head go, and with its tail alone one.
  BlockLists some = dense.withEmptyRows();
  EXPECT_EQ(some.count(0, 0), 0);
  ASSERT_EQ(some.count(2, 2), 1);
  EXPECT_EQ(some.blocks(2, 2)[0], 2);
  EXPECT_EQ(some.usefulFlops(),
            4.0 * 64 * (3 * 130 * 70 - 64 * 70 - 2 * (70 - 6)));
}

TEST(BlockLists, DrawsAscendingListsWithTheDiagonal) {
  LayerShape shape = shapeOf(2, 6400, 3200);
  for (const BlockLists &lists : {BlockLists::random(shape, 0.2, 3),
                                  BlockLists::fixedCount(shape, 20, 3)}) {
    EXPECT_NEAR(lists.density(), 0.205, 0.02);
    for (int64_t head = 0; head < 2; ++head)
      for (int64_t q = 0; q < shape.qBlocks(); ++q) {
        bool diagonal = false;
        for (int32_t i = 0; i < lists.count(head, q); ++i) {
          diagonal |= lists.blocks(head, q)[i] == q;
          if (i > 0)
            ASSERT_LT(lists.blocks(head, q)[i - 1], lists.blocks(head, q)[i]);
        }
        ASSERT_TRUE(diagonal) << head << " " << q;
      }
  }
  BlockLists exact = BlockLists::fixedCount(shape, 20, 3);
  EXPECT_EQ(exact.count(1, 7), 20);
  EXPECT_NE(exact.rows(), BlockLists::fixedCount(shape, 20, 4).rows());
  EXPECT_EQ(exact.rows(), BlockLists::fixedCount(shape, 20, 3).rows());
}

TEST(BlockLists, OrdersTilesAndPacksBits) {
  LayerShape shape = shapeOf(1, 256, 320);
  std::vector<uint8_t> chosen(40, 0);
  for (int i : {0, 10, 19, 21, 22, 39}) // rows of 10 blocks: 1, 2, 2, 1
    chosen[static_cast<size_t>(i)] = 1;
  BlockLists lists =
      BlockLists::of(shape, BlockMask::fromBits(chosen.data(), 1, 4, 10));
  std::vector<int32_t> order, counts;
  for (const DeviceTileRecord &tile : lists.orderedTiles()) {
    EXPECT_EQ(tile.entry, 0);
    EXPECT_EQ(tile.first, 0);
    order.push_back(tile.qBlock);
    counts.push_back(tile.count);
  }
  EXPECT_EQ(order, (std::vector<int32_t>{1, 2, 0, 3}));
  EXPECT_EQ(counts, (std::vector<int32_t>{2, 2, 1, 1}));
  EXPECT_EQ(lists.bits(), (std::vector<uint8_t>{1, 0, 1, 2, 6, 0, 0, 2}));
}

TEST(NormalSource, GivesTheSameElementsInAnyParts) {
  for (DType dtype : {DType::BF16, DType::F16}) {
    NormalSource source(dtype, 7);
    std::vector<uint16_t> whole(1001), part(998);
    source.fill(whole.data(), 2, 10, 1001);
    source.fill(part.data(), 2, 13, 998);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 3));
    std::vector<double> values(1001);
    source.fill(values.data(), 2, 10, 1001);
    for (int64_t i = 0; i < 1001; ++i)
      ASSERT_EQ(values[static_cast<size_t>(i)],
                double(loadAsFloat(whole.data(), dtype, i)));
    source.fill(part.data(), 3, 13, 998);
    EXPECT_FALSE(std::equal(part.begin(), part.end(), whole.begin() + 3));
  }
}

TEST(NormalSource, IsUnitNormal) {
  NormalSource source(DType::F16, 1);
  std::vector<double> values(1 << 20);
  source.fill(values.data(), 0, 0, 1 << 20);
  double moments[5] = {};
  for (double x : values)
    for (int power = 1; power <= 4; ++power)
      moments[power] += std::pow(x, power) / double(values.size());
  EXPECT_NEAR(moments[1], 0, 0.005);
  EXPECT_NEAR(moments[2], 1, 0.01);
  EXPECT_NEAR(moments[3], 0, 0.02);
  EXPECT_NEAR(moments[4], 3, 0.06);
}

//===- BlockMaskTest.cpp - Block-sparse masks -----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PlanningTestSupport.h"

#include <gtest/gtest.h>

using namespace sart;
using namespace sart::test;

namespace {

TEST(BlockMask, EmptyAndDense) {
  BlockMask none(3, 4, 5);
  EXPECT_EQ(none.tiles(), 0);
  EXPECT_EQ(none.count(2, 3), 0);
  EXPECT_FALSE(none.contains(2, 3, 4));
  EXPECT_EQ(none.density(), 0);
  BlockMask all = BlockMask::dense(3, 4, 5);
  EXPECT_EQ(all.tiles(), 60);
  EXPECT_EQ(all.load(1), 20);
  EXPECT_EQ(all.load(1, {1, 3}), 10);
  EXPECT_EQ(all.load(1, {2, 2}), 0);
  EXPECT_TRUE(all.contains(2, 3, 4));
  EXPECT_EQ(all.density(), 1);
  BlockMask nothing(0, 4, 5);
  EXPECT_EQ(nothing.density(), 0);
  EXPECT_EQ(BlockMask(), BlockMask(0, 0, 0));
  EXPECT_EQ(BlockMask::dense(2, 3, 0).tiles(), 0);
}

TEST(BlockMask, BitsAndListsAgree) {
  Random random(1);
  for (int round = 0; round < 30; ++round) {
    LayerShape shape = makePlacement(1, 1, 1 + random.below(5), 1,
                                     random.below(900), random.below(900), 64)
                           .shape;
    BlockMask mask = makeMask(shape, random);
    std::vector<uint8_t> bits = mask.toBits();
    EXPECT_EQ(BlockMask::fromBits(bits.data(), mask.heads(), mask.qBlocks(),
                                  mask.kvBlocks()),
              mask);
    std::vector<std::vector<int32_t>> lists;
    for (int64_t h = 0; h < mask.heads(); ++h)
      for (int64_t i = 0; i < mask.qBlocks(); ++i)
        lists.emplace_back(mask.row(h, i), mask.row(h, i) + mask.count(h, i));
    Expected<BlockMask> again = BlockMask::fromLists(
        mask.heads(), mask.qBlocks(), mask.kvBlocks(), lists);
    ASSERT_TRUE(again.ok()) << again.message();
    EXPECT_EQ(*again, mask);
    int64_t selected = 0;
    for (int64_t h = 0; h < mask.heads(); ++h)
      for (int64_t i = 0; i < mask.qBlocks(); ++i)
        for (int64_t j = 0; j < mask.kvBlocks(); ++j) {
          size_t at = (h * mask.qBlocks() + i) * mask.kvBlocks() + j;
          EXPECT_EQ(mask.contains(h, i, j), bits[at] != 0);
          selected += bits[at];
        }
    EXPECT_EQ(selected, mask.tiles());
  }
}

TEST(BlockMask, SetOperations) {
  Random random(2);
  LayerShape shape = makePlacement(1, 1, 3, 1, 700, 900, 64).shape;
  BlockMask a = makeMask(shape, random), b = makeMask(shape, random);
  BlockMask both = *BlockMask::unite(a, b);
  BlockMask common = *BlockMask::intersect(a, b);
  std::vector<uint8_t> bitsA = a.toBits(), bitsB = b.toBits();
  std::vector<uint8_t> bitsBoth = both.toBits(), bitsCommon = common.toBits();
  for (size_t i = 0; i < bitsA.size(); ++i) {
    EXPECT_EQ(bitsBoth[i], bitsA[i] | bitsB[i]);
    EXPECT_EQ(bitsCommon[i], bitsA[i] & bitsB[i]);
  }
  EXPECT_EQ(both.tiles() + common.tiles(), a.tiles() + b.tiles());
  EXPECT_EQ(
      *BlockMask::unite(a, BlockMask(3, shape.qBlocks(), shape.kvBlocks())), a);
  EXPECT_EQ(BlockMask::unite(a, BlockMask(3, 11, 14)).message(),
            "mask shapes do not match: got 3x11x14, expected 3x11x15");
  EXPECT_EQ(BlockMask::intersect(a, BlockMask(2, 11, 15)).message(),
            "mask shapes do not match: got 2x11x15, expected 3x11x15");
}

TEST(BlockMask, RefusesListsByName) {
  auto message = [](std::vector<std::vector<int32_t>> lists, int64_t heads = 2,
                    int64_t qBlocks = 2, int64_t kvBlocks = 4) {
    return BlockMask::fromLists(heads, qBlocks, kvBlocks, lists).message();
  };
  EXPECT_EQ(message({{}, {0}, {1, 2}, {0, 1, 2, 3}}), "");
  EXPECT_EQ(message({{}, {0}, {1, 2}}),
            "number of mask rows does not match the shape: got 3, expected 4 "
            "(2 heads x 2 q-blocks)");
  EXPECT_EQ(message({{}, {0}, {1, 2}, {0, 4}}),
            "mask entry not ascending or out of range: got 4 at index 1 of "
            "head 1 q-block 1, expected 1 to 3");
  EXPECT_EQ(message({{}, {-1}, {}, {}}),
            "mask entry not ascending or out of range: got -1 at index 0 of "
            "head 0 q-block 1, expected 0 to 3");
  EXPECT_EQ(message({{}, {}, {2, 2}, {}}),
            "mask entry not ascending or out of range: got 2 at index 1 of "
            "head 1 q-block 0, expected 3 to 3");
  EXPECT_EQ(message({}, -1),
            "mask shape has a negative size: got -1x2x4, expected sizes of at "
            "least 0");
  EXPECT_EQ(message({}, 0, 2, int64_t(1) << 33),
            "number of kv-blocks does not fit an index: got 8589934592, "
            "expected at most 2147483647");
  EXPECT_EQ(message({}, int64_t(1) << 32, int64_t(1) << 32),
            "number of mask rows too large: got 4294967296x4294967296, "
            "expected at most 2^40 rows");
}

TEST(BlockMask, RefusesWrongOffsets) {
  auto message = [](std::vector<int64_t> offsets) {
    return BlockMask::fromRows(1, 2, 4, std::move(offsets), {1, 2, 3})
        .message();
  };
  EXPECT_EQ(message({0, 1, 3}), "");
  EXPECT_EQ(message({0, 3}), "number of mask offsets does not match the shape: "
                             "got 2, expected 3");
  EXPECT_EQ(message({0, 1, 4}),
            "mask offsets do not span the indices: got 0 to 4, expected 0 to "
            "3");
  EXPECT_EQ(message({0, 5, 3}),
            "mask offsets not ascending: got 0 then 5 at row 0, expected 0 to "
            "3");
}

} // namespace

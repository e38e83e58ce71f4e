//===- OrderTest.cpp - Token orders ---------------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

using namespace sart;

namespace {

Order makeOrder(OrderKind kind, int64_t t, int64_t h, int64_t w,
                int64_t prefix = 0, int64_t suffix = 0) {
  Order order;
  order.kind = kind;
  order.grid = {t, h, w};
  order.prefix = prefix;
  order.suffix = suffix;
  return order;
}

constexpr OrderKind kinds[] = {OrderKind::Raster, OrderKind::Cubes,
                               OrderKind::Hilbert, OrderKind::Stripes,
                               OrderKind::Tiles};

TEST(Order, IsAPermutationWithItsInverse) {
  const int64_t grids[][3] = {{1, 1, 1}, {1, 1, 9},   {3, 5, 7}, {8, 8, 8},
                              {1, 2, 1}, {9, 30, 52}, {2, 1, 3}, {5, 4, 16}};
  for (OrderKind kind : kinds)
    for (const auto &grid : grids)
      for (int64_t text : {0, 1, 77}) {
        Order order =
            makeOrder(kind, grid[0], grid[1], grid[2], text, 2 * text);
        ASSERT_TRUE(order.verify().ok());
        std::vector<int64_t> perm = order.permutation();
        std::vector<int64_t> inverse = order.inverse();
        ASSERT_EQ(static_cast<int64_t>(perm.size()), order.tokens());
        ASSERT_EQ(perm.size(), inverse.size());
        for (size_t i = 0; i < perm.size(); ++i) {
          ASSERT_GE(perm[i], 0);
          ASSERT_LT(perm[i], order.tokens());
          ASSERT_EQ(inverse[perm[i]], static_cast<int64_t>(i));
        }
        // Text stays in place.
        for (int64_t i = 0; i < text; ++i)
          EXPECT_EQ(perm[i], i);
        for (int64_t i = order.tokens() - 2 * text; i < order.tokens(); ++i)
          EXPECT_EQ(perm[i], i);
      }
}

/// Grid distance of two tokens of a grid without text.
int64_t distance(const Order &order, int64_t a, int64_t b) {
  int64_t h = order.grid[1], w = order.grid[2];
  return std::abs(a / (h * w) - b / (h * w)) + std::abs(a / w % h - b / w % h) +
         std::abs(a % w - b % w);
}

TEST(Order, HilbertNeighboursTouch) {
  for (int64_t side : {2, 4, 8, 16, 32}) {
    Order order = makeOrder(OrderKind::Hilbert, side, side, side);
    std::vector<int64_t> perm = order.permutation();
    EXPECT_EQ(perm.front(), 0);
    for (size_t i = 1; i < perm.size(); ++i)
      ASSERT_EQ(distance(order, perm[i - 1], perm[i]), 1) << side << " " << i;
  }
}

TEST(Order, HilbertOfTheSmallestCubeIsTheGrayCode) {
  // (t, h, w): 000 001 011 010 110 111 101 100.
  EXPECT_EQ(makeOrder(OrderKind::Hilbert, 2, 2, 2).permutation(),
            (std::vector<int64_t>{0, 1, 3, 2, 6, 7, 5, 4}));
  // Points outside are skipped.
  EXPECT_EQ(makeOrder(OrderKind::Hilbert, 1, 2, 2).permutation(),
            (std::vector<int64_t>{0, 1, 3, 2}));
}

TEST(Order, ALargerCubeTurnsTheHilbertCurve) {
  Order order = makeOrder(OrderKind::Hilbert, 9, 30, 52);
  std::vector<int64_t> smallest = order.permutation();
  order.hilbertBits = 6; // side 64 holds 52 anyway
  EXPECT_EQ(order.permutation(), smallest);
  order.hilbertBits = 7;
  EXPECT_NE(order.permutation(), smallest);
  order = makeOrder(OrderKind::Hilbert, 1, 2, 2);
  order.hilbertBits = 2;
  EXPECT_EQ(order.permutation(), (std::vector<int64_t>{0, 2, 3, 1}));
}

TEST(Order, HilbertBlocksAreCompact) {
  // Mean extent of runs of 128 tokens: far below that of raster order.
  auto extent = [](OrderKind kind) {
    Order order = makeOrder(kind, 9, 30, 52);
    std::vector<int64_t> perm = order.permutation();
    int64_t sum = 0;
    for (size_t begin = 0; begin + 128 <= perm.size(); begin += 128)
      for (size_t i = 1; i < 128; ++i)
        sum += distance(order, perm[begin], perm[begin + i]);
    return sum;
  };
  EXPECT_LT(3 * extent(OrderKind::Hilbert), 2 * extent(OrderKind::Raster));
}

TEST(Order, CubesAreCutAtTheBorder) {
  Order order = makeOrder(OrderKind::Cubes, 2, 3, 3, 1);
  order.cube = {1, 2, 2};
  // Frame 0: cubes (0,0) (0,1) (1,0) (1,1), then frame 1; shifted by the text.
  std::vector<int64_t> frame = {0, 1, 3, 4, 2, 5, 6, 7, 8};
  std::vector<int64_t> expected = {0};
  for (int64_t t = 0; t < 2; ++t)
    for (int64_t token : frame)
      expected.push_back(1 + t * 9 + token);
  EXPECT_EQ(order.permutation(), expected);
}

TEST(Order, StripesKeepAPlaceTogether) {
  EXPECT_EQ(makeOrder(OrderKind::Stripes, 3, 1, 2).permutation(),
            (std::vector<int64_t>{0, 2, 4, 1, 3, 5}));
}

TEST(Order, TilesCutSpaceThenTime) {
  // Two frames of four places; tiles (places 0, 1; frame 0), (0, 1; 1), ...
  Order order = makeOrder(OrderKind::Tiles, 2, 4, 1);
  order.tiles = {2, 2};
  EXPECT_EQ(order.permutation(),
            (std::vector<int64_t>{0, 1, 4, 5, 2, 3, 6, 7}));
  // One tile: as cubes. Only space: stripes, whose tokens stand as in cubes.
  order.tiles = {1, 1};
  EXPECT_EQ(order.permutation(),
            makeOrder(OrderKind::Cubes, 2, 4, 1).permutation());
  order.tiles = {1, 4};
  EXPECT_EQ(order.permutation(),
            makeOrder(OrderKind::Stripes, 2, 4, 1).permutation());
  // Runs of 5 and 4 of nine tokens, behind a token of text.
  order = makeOrder(OrderKind::Tiles, 3, 1, 3, 1);
  order.tiles = {1, 2};
  EXPECT_EQ(order.permutation(),
            (std::vector<int64_t>{0, 1, 2, 4, 5, 7, 3, 6, 8, 9}));
}

// A rank that holds consecutive tokens holds one tile.
TEST(Order, TilesAreConsecutive) {
  Order order = makeOrder(OrderKind::Tiles, 8, 6, 10);
  order.tiles = {2, 3};
  std::vector<int64_t> perm = order.permutation();
  ASSERT_EQ(perm.size(), 480u);
  for (int64_t rank = 0; rank < 6; ++rank)
    for (int64_t i = 80 * rank; i < 80 * (rank + 1); ++i) {
      int64_t point = perm[static_cast<size_t>(i)];
      EXPECT_EQ(point % 60 / 20, rank / 2); // places of a third of the frame
      EXPECT_EQ(point / 60 / 4, rank % 2);  // half of the frames
    }
  // Blocks of 16 tokens are 4 x 2 x 2 or 4 x 2 x 4 with cubes, longer without.
  auto extent = [&](int64_t side) {
    order.cube = {side, side, side};
    std::vector<int64_t> tokens = order.permutation();
    int64_t sum = 0;
    for (size_t i = 0; i < tokens.size(); ++i)
      sum += distance(order, tokens[i / 16 * 16], tokens[i]);
    return sum;
  };
  EXPECT_LT(extent(4), extent(1));
}

TEST(Order, RasterIsTheIdentity) {
  std::vector<int64_t> perm =
      makeOrder(OrderKind::Raster, 2, 3, 4, 5, 6).permutation();
  for (size_t i = 0; i < perm.size(); ++i)
    EXPECT_EQ(perm[i], static_cast<int64_t>(i));
}

TEST(Order, RefusesWhatCannotBe) {
  auto message = [](auto change) {
    Order order = makeOrder(OrderKind::Cubes, 2, 2, 2);
    change(order);
    EXPECT_TRUE(order.verify().ok() || order.permutation().empty());
    return order.verify().message();
  };
  EXPECT_EQ(message([](Order &) {}), "");
  EXPECT_EQ(message([](Order &o) { o.grid[1] = 0; }),
            "grid axis H out of range: got 0, expected 1 to 1048576");
  EXPECT_EQ(message([](Order &o) { o.cube[2] = 0; }),
            "cube axis W out of range: got 0, expected 1 to 1048576");
  EXPECT_EQ(message([](Order &o) { o.prefix = -1; }),
            "number of prefix tokens out of range: got -1, expected 0 to "
            "268435456");
  EXPECT_EQ(message([](Order &o) { o.suffix = -2; }),
            "number of suffix tokens out of range: got -2, expected 0 to "
            "268435456");
  EXPECT_EQ(message([](Order &o) { o.grid = {1 << 20, 1 << 20, 1 << 20}; }),
            "number of ordered tokens out of range: got 1152921504606846976, "
            "expected at most 268435456");
  EXPECT_EQ(message([](Order &o) { o.kind = static_cast<OrderKind>(9); }),
            "order not known: got 9, expected 0 to 4");
  EXPECT_EQ(message([](Order &o) { o.tiles[1] = 0; }),
            "tiles of an order out of range: got 0, expected 1 to 1048576");
  EXPECT_EQ(message([](Order &o) { o.hilbertBits = 21; }),
            "bits of a Hilbert curve out of range: got 21, expected 1 to 20");
}

TEST(Order, Spellings) {
  for (OrderKind kind : kinds)
    EXPECT_EQ(*parseOrderKind(toString(kind)), kind);
  EXPECT_EQ(parseOrderKind("zigzag").message(),
            "order not known: got 'zigzag', expected raster, cubes, hilbert, "
            "stripes or tiles");
  for (const char *text : {"raster", "cubes", "hilbert", "stripes"})
    EXPECT_EQ(toString(parseOrder(text)->kind), text);
  EXPECT_EQ(parseOrder("tiles<t=2,h=4>")->kind, OrderKind::Tiles);
  EXPECT_EQ(parseOrder("tiles<t=2,h=4>")->tiles,
            (std::array<int64_t, 2>{2, 4}));
  for (const char *text : {"tiles", "tiles<t=2>", "tiles<t=2,h=0>", ""})
    EXPECT_EQ(parseOrder(text).message(),
              concat("order not known: got '", text,
                     "', expected raster, cubes, hilbert, stripes or "
                     "tiles<t=N,h=N>"));
}

} // namespace

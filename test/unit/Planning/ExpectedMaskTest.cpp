//===- ExpectedMaskTest.cpp - Masks to plan with before there is one ------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/ExpectedMask.h"

#include <algorithm>

#include <gtest/gtest.h>

using namespace sart;

namespace {

LayerShape shapeOf(int64_t heads, int64_t tokens, bool causal = false) {
  LayerShape shape;
  shape.heads = shape.kvHeads = heads;
  shape.sq = shape.skv = tokens;
  shape.headDim = 128;
  shape.causal = causal;
  return shape;
}

TEST(ExpectedMask, DensityOfPolicies) {
  LayerShape shape = shapeOf(1, 128 * 50);
  RoutingPolicy policy;
  policy.kind = RoutingPolicy::Kind::Dense;
  EXPECT_EQ(expectedDensityMilli(policy, shape), 1000);
  policy.kind = RoutingPolicy::Kind::TopK;
  policy.k = 10;
  EXPECT_EQ(expectedDensityMilli(policy, shape), 200);
  policy.k = 1000;
  EXPECT_EQ(expectedDensityMilli(policy, shape), 1000);
  policy.kind = RoutingPolicy::Kind::Window;
  policy.windowBlocks = 2;
  EXPECT_EQ(expectedDensityMilli(policy, shape), 100);
  policy.kind = RoutingPolicy::Kind::TopP;
  for (auto [p, milli] : {std::pair<float, int64_t>{0.0F, 30},
                          {0.85F, 286},
                          {0.875F, 338},
                          {0.9F, 391},
                          {0.95F, 560},
                          {1.0F, 1000},
                          {2.0F, 1000}}) {
    policy.p = p;
    EXPECT_EQ(expectedDensityMilli(policy, shape), milli) << p;
  }
  policy.p = 0.5F;
  policy.minBlocks = 30;
  EXPECT_EQ(expectedDensityMilli(policy, shape), 600);
}

TEST(ExpectedMask, HasItsDensityAndUnevenHeads) {
  BlockMask mask = expectedMask(shapeOf(64, 128 * 100), 300);
  EXPECT_NEAR(mask.density(), 0.3, 0.03);
  int64_t least = mask.load(0), most = least;
  for (int64_t head = 0; head < 64; ++head) {
    least = std::min(least, mask.load(head));
    most = std::max(most, mask.load(head));
  }
  EXPECT_GT(most, 4 * least);
  EXPECT_EQ(mask, expectedMask(shapeOf(64, 128 * 100), 300));
  // A row has its own neighbourhood.
  for (int64_t row : {0, 50, 99})
    EXPECT_TRUE(std::binary_search(mask.row(3, row),
                                   mask.row(3, row) + mask.count(3, row), row));
}

TEST(ExpectedMask, OfLoads) {
  LayerShape shape = shapeOf(3, 128 * 10);
  Expected<BlockMask> mask = maskOfLoads(shape, {0, 37, 100});
  ASSERT_TRUE(mask.ok()) << mask.message();
  EXPECT_EQ(mask->load(0), 0);
  EXPECT_EQ(mask->load(1), 37);
  EXPECT_EQ(mask->load(2), 100);
  for (int64_t row = 0; row < 10; ++row)
    EXPECT_NEAR(mask->count(1, row), 3.7, 0.8);
  shape.causal = true;
  EXPECT_EQ(maskOfLoads(shape, {0, 37, 55})->load(2), 55);
  EXPECT_EQ(maskOfLoads(shape, {0, 37, 56}).message(),
            "load of head 2: got 56, expected 0 to 55 tiles");
  EXPECT_EQ(maskOfLoads(shape, {1}).message(),
            "loads of heads: got 1, expected 3");
}

TEST(ExpectedMask, DenseCausalAndSmall) {
  EXPECT_EQ(expectedMask(shapeOf(2, 700), 1000), BlockMask::dense(2, 6, 6));
  BlockMask causal = expectedMask(shapeOf(2, 128 * 20, true), 1000);
  EXPECT_EQ(causal.tiles(), 2 * 210);
  causal = expectedMask(shapeOf(2, 128 * 20, true), 1);
  EXPECT_EQ(causal.tiles(), 2 * 20); // at least one a row
  EXPECT_EQ(expectedMask(shapeOf(3, 0), 500).tiles(), 0);
  EXPECT_EQ(expectedMask(shapeOf(3, 1), 500).tiles(), 3);
}

} // namespace

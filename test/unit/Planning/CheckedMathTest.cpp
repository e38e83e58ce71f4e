//===- CheckedMathTest.cpp - Sums and products that cannot wrap -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/CheckedMath.h"

#include <gtest/gtest.h>

#include <vector>

using namespace sart;

namespace {
using Sizes = std::vector<int64_t>;
constexpr int64_t half = int64_t(1) << 62;
} // namespace

TEST(CheckedMath, SumsAndProducts) {
  EXPECT_EQ(checkedAdd(half, half - 1), INT64_MAX);
  EXPECT_EQ(checkedAdd(half, half), std::nullopt);
  EXPECT_EQ(checkedAdd(INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(checkedMul(half, 1), half);
  EXPECT_EQ(checkedMul(half, 2), std::nullopt);
  EXPECT_EQ(checkedMul(INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(saturatingAdd(half, half), INT64_MAX);
  EXPECT_EQ(saturatingAdd(half, 1), half + 1);
  EXPECT_EQ(saturatingMul(INT64_MAX, INT64_MAX), INT64_MAX);
  EXPECT_EQ(saturatingMul(INT64_MAX, 0), 0);
}

TEST(CheckedMath, ExtentOfEmptyArraysCountsTheOtherSizes) {
  EXPECT_EQ(checkedExtent(4, Sizes{}), 4);
  EXPECT_EQ(checkedExtent(4, Sizes{2, 3}), 24);
  EXPECT_EQ(checkedExtent(4, Sizes{2, 0, 3}), 24);
  EXPECT_EQ(checkedExtent(1, Sizes{half, 1, 0}), half);
  EXPECT_EQ(checkedExtent(2, Sizes{0, half}), std::nullopt);
  EXPECT_EQ(checkedExtent(1, Sizes{half, half, 0}), std::nullopt);
}

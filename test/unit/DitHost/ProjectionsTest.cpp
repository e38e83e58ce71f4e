//===- ProjectionsTest.cpp - What surrounds attention ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Projections.h"

#include "Random.h"
#include "Support.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace dit;

namespace {

constexpr std::array<int64_t, 3> grid = {2, 5, 7};
constexpr int64_t tokens = 70, heads = 3;

std::vector<int64_t> raster() {
  std::vector<int64_t> order(tokens);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Another order: 27 and 70 have no common factor.
std::vector<int64_t> shuffled() {
  std::vector<int64_t> order(tokens);
  for (int64_t i = 0; i < tokens; ++i)
    order[i] = i * 27 % tokens;
  return order;
}

std::vector<float> someTokens(const std::vector<int64_t> &order) {
  Random random(5, 9);
  std::vector<float> values(tokens * channels);
  for (int64_t i = 0; i < tokens; ++i)
    for (int64_t c = 0; c < channels; ++c)
      values[i * channels + c] =
          random.normal(static_cast<uint64_t>(order[i] * channels + c));
  return values;
}

std::vector<float> queriesOf(const Projections &projections, int64_t layer,
                             const std::vector<float> &hidden) {
  std::vector<float> q(heads * tokens * headDim);
  projections.queries(layer, 1, hidden, SA_F32, q.data());
  return q;
}

TEST(Projections, DoNotDependOnOrderOrThreads) {
  Projections plain(1, 2, heads, grid, raster(), 1);
  Projections other(1, 2, heads, grid, shuffled(), 3);
  std::vector<float> q = queriesOf(plain, 1, someTokens(raster()));
  std::vector<float> p = queriesOf(other, 1, someTokens(shuffled()));
  std::vector<int64_t> order = shuffled();
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t i = 0; i < tokens; ++i)
      for (int64_t d = 0; d < headDim; ++d)
        ASSERT_EQ(p[(h * tokens + i) * headDim + d],
                  q[(h * tokens + order[i]) * headDim + d]);
}

TEST(Projections, DependOnSeedLayerAndHead) {
  std::vector<float> x = someTokens(raster());
  Projections one(1, 2, heads, grid, raster(), 2);
  Projections two(2, 2, heads, grid, raster(), 2);
  std::vector<float> q = queriesOf(one, 0, x);
  EXPECT_NE(q, queriesOf(two, 0, x));
  EXPECT_NE(q, queriesOf(one, 1, x));
  int64_t size = tokens * headDim;
  EXPECT_FALSE(std::equal(q.begin(), q.begin() + size, q.begin() + size));
}

TEST(Projections, AlikeTokensScoreLessWithDistance) {
  // The same content everywhere: only place is left.
  std::vector<float> flat(tokens * channels, 0.3f);
  Projections projections(4, 1, heads, grid, raster(), 2);
  std::vector<float> q = queriesOf(projections, 0, flat);
  auto score = [&](int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t d = 0; d < headDim; ++d)
        sum += double(q[(h * tokens + i) * headDim + d]) *
               q[(h * tokens + j) * headDim + d];
    return sum;
  };
  EXPECT_GT(score(0, 0), score(0, 1) + 1e-3);
  EXPECT_GT(score(0, 1), score(0, 3) + 1e-3);
  EXPECT_GT(score(0, 0), score(0, 35) + 1e-3) << "the frame after";
}

TEST(Projections, SharpeningScalesScores) {
  std::vector<float> x = someTokens(raster());
  Projections projections(1, 1, heads, grid, raster(), 2);
  std::vector<float> q = queriesOf(projections, 0, x), sharp(q.size());
  projections.queries(0, 4, x, SA_F32, sharp.data());
  for (size_t i = 0; i < q.size(); ++i)
    EXPECT_NEAR(sharp[i], q[i] * std::pow(4, 0.225), 1e-4);
}

TEST(Projections, EstimateUndoesValues) {
  std::vector<float> x = someTokens(raster());
  Projections projections(1, 2, heads, grid, raster(), 2);
  const struct {
    sa_dtype dtype;
    double bound;
  } types[] = {{SA_F32, 1e-5}, {SA_BF16, 0.05}, {SA_F16, 0.006}};
  for (auto type : types) {
    std::vector<char> bytes(static_cast<size_t>(heads * tokens * headDim *
                                                elementBytes(type.dtype)));
    projections.values(1, x, 2, type.dtype, bytes.data());
    std::vector<float> back = projections.estimate(1, bytes.data(), type.dtype);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(back[i], 2 * x[i], type.bound) << elementBytes(type.dtype);
  }
}

} // namespace

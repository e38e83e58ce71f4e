//===- MergePartialsTest.cpp - Joining partial results --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BackendTestSupport.h"

using namespace sart;
using namespace sart::test;

namespace {

/// One partial: rows of o with `dim` elements and their LSE.
struct Partial {
  std::vector<float> o, lse;
};

void merge(const Partial &from, Partial &to, int64_t dim) {
  mergePartials(from.o.data(), dim, from.lse.data(), 1, to.o.data(), dim,
                to.lse.data(), 1, static_cast<int64_t>(to.lse.size()), dim);
}

/// Attention of one query over keys [begin, end) with given scores, head
/// dimension 8, in double precision.
Partial attendRange(const std::vector<double> &scores,
                    const std::vector<float> &v, size_t begin, size_t end) {
  constexpr size_t dim = 8;
  Partial result{std::vector<float>(dim, 0), {-infinity}};
  if (begin == end)
    return result;
  double largest = *std::max_element(scores.begin() + static_cast<long>(begin),
                                     scores.begin() + static_cast<long>(end));
  double sum = 0;
  std::vector<double> o(dim, 0);
  for (size_t key = begin; key < end; ++key) {
    double weight = std::exp(scores[key] - largest);
    sum += weight;
    for (size_t d = 0; d < dim; ++d)
      o[d] += weight * static_cast<double>(v[key * dim + d]);
  }
  for (size_t d = 0; d < dim; ++d)
    result.o[d] = static_cast<float>(o[d] / sum);
  result.lse[0] = static_cast<float>(largest + std::log(sum));
  return result;
}

} // namespace

TEST(MergePartials, EqualsTheUnsplitResult) {
  // Scores near 0, near 1000 and near -1000 (B49, B50, B06): exp of any of the
  // latter is out of range.
  for (double center : {0.0, 1000.0, -1000.0, 88.7}) {
    std::vector<float> noise = normal(100, 3, 5);
    std::vector<double> scores;
    for (float value : noise)
      scores.push_back(center + static_cast<double>(value));
    std::vector<float> v = normal(800, 1, 6);
    for (size_t split : {0, 1, 50, 99, 100}) {
      Partial to = attendRange(scores, v, 0, split);
      Partial from = attendRange(scores, v, split, 100);
      Partial whole = attendRange(scores, v, 0, 100);
      merge(from, to, 8);
      float bound = 4e-7f * std::max(1.0f, std::fabs(whole.lse[0]));
      EXPECT_NEAR(to.lse[0], whole.lse[0], bound) << center << " " << split;
      // An LSE near 1000 is known to 6e-5 only, and the weights with it.
      for (size_t d = 0; d < 8; ++d)
        EXPECT_NEAR(to.o[d], whole.o[d], 2e-6f + bound);
    }
  }
}

TEST(MergePartials, EmptyPartials) {
  Partial full{{1, 2, 3, 4, 5, 6, 7, 8}, {3}};
  Partial empty{std::vector<float>(8, 0), {-infinity}};
  Partial to = full;
  merge(empty, to, 8);
  EXPECT_EQ(to.o, full.o);
  EXPECT_EQ(to.lse, full.lse);
  to = empty;
  merge(full, to, 8);
  EXPECT_EQ(to.o, full.o);
  EXPECT_EQ(to.lse, full.lse);
  to = empty;
  merge(empty, to, 8);
  EXPECT_EQ(to.o, empty.o);
  EXPECT_EQ(to.lse, empty.lse);
}

TEST(MergePartials, EmptyPartialMayHoldAnything) {
  // Rows without a key are never read, even where a kernel left them poisoned.
  Partial full{{1, 2, 3, 4, 5, 6, 7, 8}, {3}};
  Partial empty{std::vector<float>(8, poison), {-infinity}};
  Partial to = full;
  merge(empty, to, 8);
  EXPECT_EQ(to.o, full.o);
  to = empty;
  merge(full, to, 8);
  EXPECT_EQ(to.o, full.o);
}

TEST(MergePartials, NanIsNotHidden) {
  Partial to{std::vector<float>(8, 1), {2}};
  merge({std::vector<float>(8, 1), {poison}}, to, 8);
  EXPECT_TRUE(std::isnan(to.lse[0]));
  EXPECT_TRUE(std::isnan(to.o[7]));
  to = {std::vector<float>(8, 1), {poison}};
  merge({std::vector<float>(8, 1), {2}}, to, 8);
  EXPECT_TRUE(std::isnan(to.lse[0]));
  EXPECT_TRUE(std::isnan(to.o[0]));
}

TEST(MergePartials, FarApartKeepsTheLarger) {
  Partial to{std::vector<float>(8, 1), {-3e38f}};
  merge({std::vector<float>(8, 5), {3e38f}}, to, 8);
  EXPECT_EQ(to.lse[0], 3e38f);
  EXPECT_EQ(to.o, std::vector<float>(8, 5));
}

TEST(MergePartials, HonoursStridesAndRows) {
  // Rows of 3 of 5 elements, LSE every second; the gaps stay as they are.
  std::vector<float> oPart = {1, 2, 3, poison, poison, 4, 5, 6, poison, poison};
  std::vector<float> lsePart = {0, poison, 0, poison};
  std::vector<float> o = {3, 4, 5, 77, 6, 7, 8, 77};
  std::vector<float> lse = {0, 77, -infinity, 77};
  mergePartials(oPart.data(), 5, lsePart.data(), 2, o.data(), 4, lse.data(), 2,
                2, 3);
  EXPECT_EQ(o, (std::vector<float>{2, 3, 4, 77, 4, 5, 6, 77}));
  EXPECT_FLOAT_EQ(lse[0], std::log(2.0f));
  EXPECT_EQ(lse[1], 77);
  EXPECT_EQ(lse[2], 0);
  EXPECT_EQ(lse[3], 77);
}

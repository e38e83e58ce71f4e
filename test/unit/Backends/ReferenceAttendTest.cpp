//===- ReferenceAttendTest.cpp - The oracle against plain formulas --------===//
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

/// exp and sum without any shift, long double: right while scores are small,
/// and written without a look at the oracle.
void naive(const LayerShape &shape, const std::vector<float> &q,
           const std::vector<float> &k, const std::vector<float> &v,
           int64_t row, float scale,
           const std::function<bool(int64_t, int64_t)> &allowed,
           std::vector<long double> &o, long double &lse) {
  long double sum = 0;
  o.assign(static_cast<size_t>(shape.headDim), 0);
  for (int64_t key = 0; key < shape.skv; ++key) {
    if (allowed && !allowed(row / shape.blockQ, key / shape.blockK))
      continue;
    if (shape.causal && key > row + shape.skv - shape.sq)
      continue;
    long double dot = 0;
    for (int64_t d = 0; d < shape.headDim; ++d)
      dot += static_cast<long double>(
                 q[static_cast<size_t>(row * shape.headDim + d)]) *
             static_cast<long double>(
                 k[static_cast<size_t>(key * shape.headDim + d)]);
    long double weight = std::exp(static_cast<long double>(scale) * dot);
    sum += weight;
    for (int64_t d = 0; d < shape.headDim; ++d)
      o[static_cast<size_t>(d)] +=
          weight * static_cast<long double>(
                       v[static_cast<size_t>(key * shape.headDim + d)]);
  }
  if (sum > 0)
    for (long double &element : o)
      element /= sum;
  lse = std::log(sum);
}

void compare(const LayerShape &shape,
             const std::function<bool(int64_t, int64_t)> &allowed) {
  auto elements = static_cast<size_t>(shape.headDim);
  std::vector<float> q = normal(static_cast<size_t>(shape.sq) * elements, 1, 1);
  std::vector<float> k =
      normal(static_cast<size_t>(shape.skv) * elements, 1, 2);
  std::vector<float> v =
      normal(static_cast<size_t>(shape.skv) * elements, 1, 3);
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < shape.sq; ++row)
    rows.push_back(row);
  std::vector<double> o(q.size(), 99), lse(rows.size(), 99);
  referenceAttend(shape, viewOf(q, shape.headDim), viewOf(k, shape.headDim),
                  viewOf(v, shape.headDim), rows, 0.3f, allowed, o.data(),
                  lse.data());
  for (int64_t row : rows) {
    std::vector<long double> expected;
    long double expectedLse = 0;
    naive(shape, q, k, v, row, 0.3f, allowed, expected, expectedLse);
    auto index = static_cast<size_t>(row);
    if (std::isinf(expectedLse))
      EXPECT_EQ(lse[index], -std::numeric_limits<double>::infinity());
    else
      EXPECT_NEAR(lse[index], static_cast<double>(expectedLse), 1e-12);
    for (size_t d = 0; d < elements; ++d)
      ASSERT_NEAR(o[index * elements + d], static_cast<double>(expected[d]),
                  1e-12);
  }
}

} // namespace

TEST(ReferenceAttend, DenseWithTails) { compare(shapeOf(37, 53), nullptr); }

TEST(ReferenceAttend, MaskWithEmptyRows) {
  // Row 1 selects nothing, row 0 the tail only.
  compare(shapeOf(37, 53), [](int64_t q, int64_t k) {
    return q == 0 ? k == 2 : q == 2 && k != 1;
  });
}

TEST(ReferenceAttend, CausalShorterAndLongerKeys) {
  compare(shapeOf(37, 53, true), nullptr);
  // The first 16 queries see no key.
  compare(shapeOf(53, 37, true), nullptr);
  compare(shapeOf(37, 37, true),
          [](int64_t q, int64_t k) { return (q + k) % 2 == 0; });
}

TEST(ReferenceAttend, OneTokenAndNone) {
  compare(shapeOf(1, 1), nullptr);
  compare(shapeOf(3, 0), nullptr);
  compare(shapeOf(0, 3), nullptr);
}

TEST(ReferenceAttend, LargeAndOneSidedScores) {
  // exp(-900) and exp(900) are out of range for double; the result is not.
  for (float score : {-900.0f, 900.0f}) {
    LayerShape shape = shapeOf(1, 2);
    std::vector<float> q(32, 0), k(64, 0), v(64, 0);
    q[0] = 1;
    k[0] = score;
    k[32] = score - std::log(3.0f);
    for (size_t d = 0; d < 32; ++d) {
      v[d] = 4;
      v[32 + d] = 8;
    }
    std::vector<double> o(32), lse(1);
    referenceAttend(shape, viewOf(q, 32), viewOf(k, 32), viewOf(v, 32), {0},
                    1.0f, nullptr, o.data(), lse.data());
    // 900 - log 3 is rounded to 6e-5 in float.
    EXPECT_NEAR(o[0], 5, 1e-4);
    EXPECT_NEAR(lse[0], static_cast<double>(score) + std::log(4.0 / 3), 1e-4);
  }
}

TEST(ReferenceAttend, HonoursStridesAndHalfPrecision) {
  LayerShape shape = shapeOf(2, 3);
  std::vector<float> q = normal(2 * 32, 1, 1), k = normal(3 * 32, 1, 2),
                     v = normal(3 * 32, 1, 3);
  auto widenWithGap = [](const std::vector<float> &values, int64_t gap) {
    std::vector<float> result;
    for (size_t i = 0; i < values.size(); ++i) {
      result.push_back(values[i]);
      if (i % 32 == 31)
        result.insert(result.end(), static_cast<size_t>(gap), poison);
    }
    return result;
  };
  std::vector<double> o(64), lse(2), o2(64), lse2(2);
  referenceAttend(shape, viewOf(q, 32), viewOf(k, 32), viewOf(v, 32), {0, 1},
                  0.5f, nullptr, o.data(), lse.data());
  std::vector<float> wideQ = widenWithGap(q, 5), wideK = widenWithGap(k, 1),
                     wideV = widenWithGap(v, 32);
  referenceAttend(shape, viewOf(wideQ, 32, 5), viewOf(wideK, 32, 1),
                  viewOf(wideV, 32, 32), {0, 1}, 0.5f, nullptr, o2.data(),
                  lse2.data());
  EXPECT_EQ(o, o2);
  EXPECT_EQ(lse, lse2);
  // Values that bfloat16 holds exactly.
  std::vector<uint16_t> half(q.size());
  for (size_t i = 0; i < q.size(); ++i) {
    half[i] = floatToBf16(q[i]);
    q[i] = bf16ToFloat(half[i]);
  }
  SlotView view = viewOf(q, 32);
  referenceAttend(shape, view, viewOf(k, 32), viewOf(v, 32), {0, 1}, 0.5f,
                  nullptr, o.data(), lse.data());
  view.data = half.data();
  view.dtype = DType::BF16;
  referenceAttend(shape, view, viewOf(k, 32), viewOf(v, 32), {0, 1}, 0.5f,
                  nullptr, o2.data(), lse2.data());
  EXPECT_EQ(o, o2);
  EXPECT_EQ(lse, lse2);
}

//===- PoolTest.cpp - Block means
//------------------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelTestSupport.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace kerneltest;
using sart::DType;
using sart::KernelSpec;
using sart::MemRef;

namespace {

KernelSpec poolSpec(DType type, int64_t headDim, int64_t block) {
  KernelSpec spec;
  spec.kind = KernelSpec::Kind::Pool;
  spec.dtype = type;
  spec.headDim = headDim;
  spec.blockQ = block;
  return spec;
}

Matrix pool(const KernelSpec &spec, Matrix x, int64_t blocks, int64_t begin,
            int64_t end, const std::string &target = "host") {
  Matrix y(DType::F32, blocks, spec.headDim, spec.headDim + 5);
  Matrix before = x;
  auto xView = x.view(), yView = y.view();
  void *entry = compiled(spec, target).entry;
  if (!entry) // the failure is recorded
    return y;
  reinterpret_cast<void (*)(MemRef<void, 2> *, MemRef<void, 2> *, intptr_t,
                            intptr_t)>(entry)(&xView, &yView, begin, end);
  EXPECT_TRUE(y.paddingIntact());
  EXPECT_EQ(before.bytes(), x.bytes());
  return y;
}

/// Sums in fp64 are exact to far below one fp32 rounding, so the means are the
/// correctly rounded ones, but for values within that error of a tie: one unit
/// in the last place.
void expectMeans(const KernelSpec &spec, const Matrix &x, const Matrix &y) {
  for (int64_t b = 0; b < y.rows; ++b) {
    int64_t first = b * spec.blockQ;
    int64_t count = std::max<int64_t>(0, std::min(spec.blockQ, x.rows - first));
    for (int64_t d = 0; d < spec.headDim; ++d) {
      long double sum = 0;
      for (int64_t t = 0; t < count; ++t)
        sum += x.get(first + t, d);
      auto mean = static_cast<float>(count ? sum / count : 0);
      ASSERT_NEAR(y.get(b, d), mean, std::fabs(mean) * 0x1p-23)
          << spec.name() << " block " << b << " column " << d;
    }
  }
}

TEST(Pool, EveryTailTypeAndTarget) {
  for (const std::string &target : runnableTargets())
    for (DType type : {DType::F32, DType::BF16, DType::F16})
      for (int64_t headDim : {40, 128})
        for (int64_t length : {1, 63, 65, 127, 128, 129, 300, 517}) {
          SCOPED_TRACE(testing::Message() << target << " " << length);
          KernelSpec spec = poolSpec(type, headDim, 64);
          std::mt19937 random(static_cast<unsigned>(length));
          Matrix x(type, length, headDim, headDim + 3);
          x.fillNormal(random, 10);
          int64_t blocks = (length + 63) / 64;
          expectMeans(spec, x, pool(spec, x, blocks, 0, blocks, target));
        }
}

TEST(Pool, EveryHeadDim) {
  int64_t block = 16;
  for (int64_t headDim = 32; headDim <= 256; headDim += 8) {
    KernelSpec spec = poolSpec(DType::F32, headDim, block);
    std::mt19937 random = seeded(1);
    Matrix x(DType::F32, 197, headDim, headDim);
    x.fillNormal(random, 1);
    int64_t blocks = (197 + block - 1) / block;
    expectMeans(spec, x, pool(spec, x, blocks, 0, blocks));
    block = block == 128 ? 16 : block + 8;
  }
}

TEST(Pool, LargeCommonPartCancels) {
  // fp32 sums of 128 numbers near 1000 would be off by 1e-4 and more.
  KernelSpec spec = poolSpec(DType::F32, 64, 128);
  std::mt19937 random = seeded(1);
  Matrix x(DType::F32, 128, 64, 64);
  std::normal_distribution<double> noise(0, 1e-3);
  x.fill([&](int64_t, int64_t) { return 1000 + noise(random); });
  expectMeans(spec, x, pool(spec, x, 1, 0, 1));
}

TEST(Pool, WritesTheGivenBlocksOnly) {
  KernelSpec spec = poolSpec(DType::F32, 64, 32);
  std::mt19937 random = seeded(1);
  Matrix x(DType::F32, 150, 64, 64);
  x.fillNormal(random, 1);
  Matrix y = pool(spec, x, 5, 1, 4);
  Matrix all = pool(spec, x, 5, 0, 5);
  for (int64_t b = 0; b < 5; ++b)
    for (int64_t d = 0; d < 64; ++d) {
      if (b >= 1 && b < 4)
        EXPECT_EQ(y.get(b, d), all.get(b, d));
      else
        EXPECT_TRUE(std::isnan(y.get(b, d)));
    }
}

TEST(Pool, BlockWithoutRowsIsZero) {
  KernelSpec spec = poolSpec(DType::F32, 64, 32);
  Matrix x(DType::F32, 0, 64, 64);
  expectMeans(spec, x, pool(spec, x, 2, 0, 2));
}

} // namespace

//===- SupportTest.cpp - Number formats, threads, random numbers ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Support.h"

#include "Metrics.h"
#include "Random.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <vector>

using namespace dit;

namespace {

TEST(Fp16, EveryNumberComesBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    float value = floatFromFp16(static_cast<uint16_t>(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(floatFromFp16(fp16FromFloat(value)))) << bits;
    else
      EXPECT_EQ(fp16FromFloat(value), bits) << value;
  }
}

TEST(Fp16, EveryGapRoundsToNearestAndTiesToEven) {
  for (uint16_t bits = 0; bits < 0x7bff; ++bits) {
    float low = floatFromFp16(bits), high = floatFromFp16(bits + 1);
    ASSERT_LT(low, high);
    float middle = (low + high) / 2; // exact in fp32
    float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(fp16FromFloat(middle), bits % 2 ? bits + 1 : bits);
    EXPECT_EQ(fp16FromFloat(std::nextafter(middle, 0.0f)), bits);
    EXPECT_EQ(fp16FromFloat(std::nextafter(middle, infinity)), bits + 1);
  }
  EXPECT_EQ(fp16FromFloat(65519.0f), 0x7bff);
  EXPECT_EQ(fp16FromFloat(65520.0f), 0x7c00);
  EXPECT_EQ(fp16FromFloat(-1e30f), 0xfc00);
}

TEST(Bf16, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(bf16FromFloat(floatFromBits(0x3f808000)), 0x3f80);
  EXPECT_EQ(bf16FromFloat(floatFromBits(0x3f808001)), 0x3f81);
  EXPECT_EQ(bf16FromFloat(floatFromBits(0x3f818000)), 0x3f82);
  EXPECT_EQ(bf16FromFloat(floatFromBits(0xff7fffff)), 0xff80);
  EXPECT_TRUE(
      std::isnan(floatFromBf16(bf16FromFloat(floatFromBits(0x7f800001)))));
  EXPECT_EQ(floatFromBf16(0x4049), 3.140625f);
}

TEST(ParallelFor, CoversEveryIndexOnce) {
  for (int64_t count : {0, 1, 2, 7, 1000})
    for (int64_t threads : {1, 2, 3, 16}) {
      std::vector<int> seen(static_cast<size_t>(count), 0);
      parallelFor(count, threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          ++seen[static_cast<size_t>(i)];
      });
      EXPECT_EQ(seen, std::vector<int>(static_cast<size_t>(count), 1));
    }
}

TEST(Random, HasTheStatedMoments) {
  Random random(7, 3);
  double sum = 0, squares = 0, next = 0, previous = 0;
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) {
    double value = random.normal(static_cast<uint64_t>(i));
    sum += value;
    squares += value * value;
    next += value * previous;
    previous = value;
  }
  EXPECT_NEAR(sum / count, 0, 0.015);
  EXPECT_NEAR(squares / count, 1, 0.02);
  EXPECT_NEAR(next / count, 0, 0.015);
}

TEST(Random, IsTheSameOnEveryMachine) {
  // Values of an independent implementation in Python.
  EXPECT_EQ(Random(1, 1).bits(0), 0x25ba33cc39c0e800u);
  EXPECT_EQ(Random(1, 1).normal(5), -0x1.77bfp+0f);
  EXPECT_NE(Random(1, 1).bits(0), Random(1, 2).bits(0));
  EXPECT_NE(Random(1, 1).bits(0), Random(2, 1).bits(0));
}

TEST(SampleRows, AreSpreadOverAll) {
  EXPECT_EQ(sampleRows(10, 4), (std::vector<int64_t>{0, 3, 6, 9}));
  EXPECT_EQ(sampleRows(3, 0), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(sampleRows(3, 16), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(sampleRows(5, 1), (std::vector<int64_t>{0}));
}

TEST(Psnr, IsThatOfTheSamples) {
  std::array<float, channels> deviation;
  deviation.fill(2);
  std::vector<float> clean(channels * 3, 0.0f), estimate = clean;
  EXPECT_TRUE(std::isinf(psnr(estimate, clean, deviation)));
  estimate[channels] = 1; // one coefficient of three tokens is off by two
  double meanSquare = 4.0 / (3 * samplesPerToken);
  EXPECT_NEAR(psnr(estimate, clean, deviation),
              10 * std::log10(255.0 * 255.0 / meanSquare), 1e-9);
  estimate[0] = std::nanf("");
  EXPECT_TRUE(std::isnan(psnr(estimate, clean, deviation)));
}

} // namespace

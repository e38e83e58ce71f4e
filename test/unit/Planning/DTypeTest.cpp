//===- DTypeTest.cpp - Element types --------------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/DType.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace sart;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// The nearest of all finite 16-bit values and infinity, ties to even bits.
template <typename Widen>
uint16_t nearest(float value, uint16_t infinityBits, double overflow,
                 Widen widen) {
  if (std::fabs(double(value)) >= overflow)
    return value < 0 ? infinityBits | 0x8000 : infinityBits;
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  uint16_t low = 0, high = infinityBits - 1;
  while (high - low > 1) {
    uint16_t middle = static_cast<uint16_t>((low + high) / 2);
    (widen(middle) <= std::fabs(value) ? low : high) = middle;
  }
  double toLow = std::fabs(value) - double(widen(low));
  double toHigh = double(widen(high)) - std::fabs(value);
  uint16_t best =
      toLow < toHigh || (toLow == toHigh && !(low & 1)) ? low : high;
  return best | sign;
}

float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

TEST(DType, SizesAndSpellings) {
  EXPECT_EQ(byteSize(DType::F32), 4);
  EXPECT_EQ(byteSize(DType::BF16), 2);
  EXPECT_EQ(byteSize(DType::F16), 2);
  EXPECT_EQ(byteSize(DType::I32), 4);
  EXPECT_EQ(byteSize(DType::I64), 8);
  for (DType type :
       {DType::F32, DType::BF16, DType::F16, DType::I32, DType::I64}) {
    Expected<DType> parsed = parseDType(toString(type));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, type);
  }
  EXPECT_EQ(*parseDType("fp32"), DType::F32);
  EXPECT_EQ(*parseDType("fp16"), DType::F16);
  EXPECT_EQ(parseDType("f64").message(),
            "element type not known: got 'f64', expected f32, bf16, f16, i32 "
            "or i64");
}

TEST(DType, EveryHalfSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    uint16_t half = static_cast<uint16_t>(bits);
    float asF16 = f16ToFloat(half), asBf16 = bf16ToFloat(half);
    if (std::isnan(asF16))
      EXPECT_TRUE(std::isnan(f16ToFloat(floatToF16(asF16))));
    else
      EXPECT_EQ(floatToF16(asF16), half);
    if (std::isnan(asBf16))
      EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(asBf16))));
    else
      EXPECT_EQ(floatToBf16(asBf16), half);
  }
  EXPECT_EQ(f16ToFloat(0x3c00), 1.0f);
  EXPECT_EQ(f16ToFloat(0x0001), 0x1p-24f);
  EXPECT_EQ(f16ToFloat(0x7bff), 65504.0f);
  EXPECT_EQ(bf16ToFloat(0xc040), -3.0f);
}

TEST(DType, NarrowingRoundsToNearestEven) {
  // Midpoints, their neighbours, subnormals, and a stride over all floats.
  std::vector<float> values = {0.0f,
                               -0.0f,
                               1.0f + 0x1p-11f,
                               1.0f + 0x3p-11f,
                               1.0f + 0x1p-8f,
                               1.0f + 0x3p-8f,
                               0x1p-25f,
                               0x1.000002p-25f,
                               0x1p-26f,
                               -0x1.8p-24f,
                               0x1.ffcp-15f,
                               0x1.ffep-15f,
                               65519.996f,
                               65520.0f,
                               -65520.0f,
                               std::numeric_limits<float>::max(),
                               0x1.fep127f,
                               std::numeric_limits<float>::denorm_min()};
  for (uint64_t bits = 0; bits < 0x100000000ull; bits += 99991)
    values.push_back(fromBits(static_cast<uint32_t>(bits)));
  for (float value : values) {
    if (std::isnan(value) || std::isinf(value))
      continue;
    ASSERT_EQ(floatToF16(value), nearest(value, 0x7c00, 65520.0, f16ToFloat))
        << value;
    ASSERT_EQ(floatToBf16(value),
              nearest(value, 0x7f80, 0x1.ffp127, bf16ToFloat))
        << value;
  }
}

TEST(DType, SpecialValuesStaySpecial) {
  EXPECT_EQ(floatToF16(infinity), 0x7c00);
  EXPECT_EQ(floatToF16(-infinity), 0xfc00);
  EXPECT_EQ(floatToBf16(infinity), 0x7f80);
  EXPECT_EQ(floatToBf16(-infinity), 0xff80);
  // NaN whose payload lies only in the bits that are cut.
  float quiet = fromBits(0x7f800001u);
  EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(quiet))));
  EXPECT_TRUE(std::isnan(f16ToFloat(floatToF16(quiet))));
}

TEST(DType, LoadAndStoreUseTheIndex) {
  for (DType type : {DType::F32, DType::BF16, DType::F16}) {
    uint32_t storage[4] = {};
    for (int i = 0; i < 4; ++i)
      storeFromFloat(storage, type, i, static_cast<float>(i) - 1.5f);
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(loadAsFloat(storage, type, i), static_cast<float>(i) - 1.5f);
  }
  int32_t integer = 7;
  EXPECT_TRUE(std::isnan(loadAsFloat(&integer, DType::I32, 0)));
  storeFromFloat(&integer, DType::I32, 0, 1.0f);
  EXPECT_EQ(integer, 7);
}

} // namespace

//===- ValueTextTest.cpp - Values as lines of text ------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ValueText.h"

#include <gtest/gtest.h>

#include <limits>

using namespace sart;
using mlir::sparseattn::TensorValue;

namespace {

TEST(ValueTextTest, SaysWhatIsNotFinite) {
  TensorValue tensor = TensorValue::zeros(DType::F32, {2, 3});
  tensor.store(0, -2);
  tensor.store(1, 6);
  tensor.store(2, std::numeric_limits<float>::quiet_NaN());
  tensor.store(3, -std::numeric_limits<float>::infinity());
  tensor.store(4, -std::numeric_limits<float>::infinity());
  tensor.store(5, std::numeric_limits<float>::infinity());
  EXPECT_EQ(tensorText(tensor),
            "f32 [2, 3], -2 to 6, mean 2, 1 nan, 2 -inf, 1 inf");
}

TEST(ValueTextTest, HasNoRangeWithoutElements) {
  EXPECT_EQ(tensorText(TensorValue::zeros(DType::BF16, {2, 0, 32})),
            "bf16 [2, 0, 32]");
}

TEST(ValueTextTest, JoinsNeighbouringBlocksAndRows) {
  const uint8_t bits[] = {1, 1, 0, 1, //
                          0, 1, 1, 1, //
                          0, 1, 1, 1};
  EXPECT_EQ(maskText(BlockMask::fromBits(bits, 1, 3, 4)),
            "1 x 3 x 4, 9 of 12 tiles (density 0.7500) {\n"
            "  head 0 {\n"
            "    row 0 [0:2, 3]\n"
            "    row 1:3 [1:4]\n"
            "  }\n"
            "}");
}

TEST(ValueTextTest, SeparatesLongLabels) {
  EXPECT_EQ(column("out"), "out        ");
  EXPECT_EQ(column("result1000000"), "result1000000 ");
}

} // namespace

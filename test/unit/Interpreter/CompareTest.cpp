//===- CompareTest.cpp - The simulator's --check can fail -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RankRun.h"

#include <gtest/gtest.h>

#include <limits>

using namespace sart;
using mlir::sparseattn::TensorValue;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// A run and an interpretation that agree: one head of three rows and two
/// elements, the last row empty.
struct CompareTest : testing::Test {
  RankRun run;
  HostTensor v = HostTensor::zeros(DType::F32, {1, 3, 2});
  TensorValue out = TensorValue::zeros(DType::F32, {1, 3, 2});
  TensorValue lse = TensorValue::zeros(DType::F32, {1, 3});

  void SetUp() override {
    run.out = HostTensor::zeros(DType::F32, {1, 3, 2});
    run.lse = HostTensor::zeros(DType::F32, {1, 3, 1});
    for (int64_t i = 0; i < 6; ++i)
      storeFromFloat(v.data.data(), DType::F32, i, 2.0f);
    for (int64_t i = 0; i < 4; ++i)
      set(i, 1.5f, 1.5f);
    setLse(0, 10, 10);
    setLse(1, -20, -20);
    setLse(2, -infinity, -infinity);
  }
  void set(int64_t i, float ran, float interpreted) {
    storeFromFloat(run.out.data.data(), DType::F32, i, ran);
    out.store(i, interpreted);
  }
  void setLse(int64_t i, float ran, float interpreted) {
    storeFromFloat(run.lse.data.data(), DType::F32, i, ran);
    lse.store(i, interpreted);
  }
  Comparison result() {
    Expected<Comparison> comparison = compare(run, v, out, lse, nullptr);
    EXPECT_TRUE(comparison.ok()) << comparison.message();
    return comparison ? *comparison : Comparison();
  }
};

TEST_F(CompareTest, PassesWhenEqual) {
  Comparison comparison = result();
  EXPECT_TRUE(comparison.passed());
  EXPECT_EQ(comparison.error, 0);
  EXPECT_EQ(comparison.lseError, 0);
  // (2^-18 + 2^-21 * 20) * 2 and 2^-18 + 2^-21 * 20.
  EXPECT_DOUBLE_EQ(comparison.bound, 28 * 0x1p-20);
  EXPECT_DOUBLE_EQ(comparison.lseBound, 28 * 0x1p-21);
}

TEST_F(CompareTest, FailsBeyondTheBoundOfOut) {
  set(3, 1.5f, 1.5f + 27 * 0x1p-20f);
  EXPECT_TRUE(result().passed());
  set(3, 1.5f, 1.5f + 30 * 0x1p-20f);
  EXPECT_FALSE(result().passed());
}

TEST_F(CompareTest, FailsBeyondTheBoundOfLse) {
  setLse(0, 10, 10.0f + 0x1p-14f);
  EXPECT_FALSE(result().passed());
}

TEST_F(CompareTest, FailsWhenOneSideIsEmptyOrNotANumber) {
  setLse(2, 0, -infinity);
  EXPECT_FALSE(result().passed());
  setLse(2, -infinity, -infinity);
  EXPECT_TRUE(result().passed());
  set(5, std::numeric_limits<float>::quiet_NaN(), 0);
  EXPECT_FALSE(result().passed());
}

TEST_F(CompareTest, FailsWhenTilesDiffer) {
  Comparison comparison = result();
  comparison.differing = 1;
  EXPECT_FALSE(comparison.passed());
}

TEST_F(CompareTest, RefusesOtherSizes) {
  out = TensorValue::zeros(DType::F32, {1, 2, 2});
  Expected<Comparison> comparison = compare(run, v, out, lse, nullptr);
  ASSERT_FALSE(comparison.ok());
  EXPECT_EQ(comparison.message(),
            "elements of out and lse: got 4 and 3 of the interpretation, "
            "expected 6 and 3");
}

} // namespace

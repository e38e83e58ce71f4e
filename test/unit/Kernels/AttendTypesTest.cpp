//===- AttendTypesTest.cpp - 16-bit inputs and outputs --------------------===//
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

namespace {

KernelSpec typedSpec(DType type, DType outType, int64_t headDim = 64) {
  KernelSpec spec;
  spec.headDim = headDim;
  spec.blockQ = spec.blockK = 64;
  spec.dtype = type;
  spec.outDtype = outType;
  return spec;
}

AttendProblem randomProblem(const KernelSpec &spec) {
  std::mt19937 random = seeded(21);
  AttendProblem problem(spec, 197, 171);
  problem.q.fillNormal(random, 1.5);
  problem.k.fillNormal(random, 1.5);
  problem.v.fillNormal(random, 1);
  problem.randomLists(random, 0.7, 0.15);
  return problem;
}

TEST(AttendTypes, SixteenBitInputs) {
  for (const std::string &target : runnableTargets())
    for (DType type : {DType::BF16, DType::F16})
      for (DType outType : {DType::F32, type})
        for (int64_t headDim : {40, 128}) {
          SCOPED_TRACE(target);
          checkAttend(randomProblem(typedSpec(type, outType, headDim)), target);
        }
}

TEST(AttendTypes, SixteenBitOutputIsTheRoundedOutput) {
  for (const std::string &target : runnableTargets())
    for (DType type : {DType::BF16, DType::F16}) {
      AttendResult wide =
          runAttend(randomProblem(typedSpec(type, DType::F32)), target);
      AttendResult narrow =
          runAttend(randomProblem(typedSpec(type, type)), target);
      EXPECT_EQ(wide.lse.bytes(), narrow.lse.bytes());
      Matrix rounded(type, wide.o.rows, wide.o.columns, wide.o.pitch);
      rounded.fill([&](int64_t i, int64_t d) { return wide.o.get(i, d); });
      EXPECT_EQ(rounded.bytes(), narrow.o.bytes()) << target;
    }
}

/// One key: the output is its value, bit for bit, for every finite pattern.
TEST(AttendTypes, EveryPatternSurvives) {
  for (const std::string &target : runnableTargets())
    for (DType type : {DType::BF16, DType::F16}) {
      KernelSpec spec = typedSpec(type, type, 256);
      std::vector<double> values;
      for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        auto pattern = static_cast<uint16_t>(bits);
        float value = type == DType::BF16 ? sart::bf16ToFloat(pattern)
                                          : sart::f16ToFloat(pattern);
        // fp32 arithmetic on subnormal bf16 numbers is exact as well.
        if (std::isfinite(value) && value != 0)
          values.push_back(value);
      }
      values.resize((values.size() + 255) / 256 * 256, 1);
      for (size_t first = 0; first < values.size(); first += 256) {
        AttendProblem problem(spec, 1, 1);
        problem.q.fill([](int64_t, int64_t) { return 1; });
        problem.k.fill([](int64_t, int64_t) { return 1; });
        problem.v.fill([&](int64_t, int64_t d) { return values[first + d]; });
        AttendResult result = runAttend(problem, target);
        for (int64_t d = 0; d < 256; ++d)
          ASSERT_EQ(result.o.get(0, d), values[first + d]) << target;
      }
    }
}

/// Two keys of equal score: the output is the mean of two values, whose sum is
/// exact in fp32. Neighbouring values give a tie.
TEST(AttendTypes, MeansRoundToNearestEven) {
  for (const std::string &target : runnableTargets())
    for (DType type : {DType::BF16, DType::F16}) {
      KernelSpec spec = typedSpec(type, type, 256);
      std::mt19937 random = seeded(2);
      for (int round = 0; round < 40; ++round) {
        AttendProblem problem(spec, 1, 2);
        problem.q.fill([](int64_t, int64_t) { return 1; });
        problem.k.fill([](int64_t, int64_t) { return 1; });
        for (int64_t d = 0; d < 256; ++d) {
          // All exponents but the largest; fp16 down to subnormal numbers.
          auto bits = static_cast<uint16_t>(random() & 0x7fff);
          if (type == DType::BF16)
            bits = static_cast<uint16_t>(bits % 0x2000 + 0x3000);
          else
            bits %= 0x7b00;
          uint16_t other = bits + (round % 4 ? 1 : random() % 64);
          for (auto [row, pattern] : {std::pair(0, bits), std::pair(1, other)})
            problem.v.set(row, d,
                          type == DType::BF16 ? sart::bf16ToFloat(pattern)
                                              : sart::f16ToFloat(pattern));
        }
        AttendResult result = runAttend(problem, target);
        Matrix expected(type, 1, 256, 256);
        for (int64_t d = 0; d < 256; ++d) {
          expected.set(0, d, (problem.v.get(0, d) + problem.v.get(1, d)) / 2);
          ASSERT_EQ(result.o.get(0, d), expected.get(0, d))
              << target << ": mean of " << problem.v.get(0, d) << " and "
              << problem.v.get(1, d);
        }
      }
    }
}

TEST(AttendTypes, SameBitsEveryRun) {
  for (DType type : {DType::F32, DType::BF16, DType::F16}) {
    AttendProblem problem = randomProblem(typedSpec(type, type));
    AttendResult first = runAttend(problem);
    for (int round = 0; round < 5; ++round) {
      // Fresh buffers, so other addresses.
      AttendResult again = runAttend(problem);
      EXPECT_EQ(first.o.bytes(), again.o.bytes());
      EXPECT_EQ(first.lse.bytes(), again.lse.bytes());
    }
  }
}

} // namespace

//===- AttendExtremesTest.cpp - Scores far from unit size -----------------===//
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

KernelSpec spec128(DType type = DType::F32) {
  KernelSpec spec;
  spec.dtype = spec.outDtype = type;
  return spec;
}

/// Every score is near `score`: keys are the queries' common direction, scaled,
/// plus noise.
AttendProblem oneSided(const KernelSpec &spec, int64_t queries, int64_t keys,
                       double score) {
  std::mt19937 random = seeded(13);
  AttendProblem problem(spec, queries, keys);
  double side = std::sqrt(std::fabs(score) / (problem.scale * spec.headDim));
  std::normal_distribution<double> noise(0, 0.05);
  problem.q.fill([&](int64_t, int64_t) { return side + noise(random); });
  problem.k.fill([&](int64_t, int64_t) {
    return std::copysign(side, score) + noise(random);
  });
  problem.v.fillNormal(random, 1);
  return problem;
}

TEST(AttendExtremes, OneQueryWithScoresNearMinus128) {
  // A tail filled with zeros would win against these.
  checkAttend(oneSided(spec128(), 1, 128, -128));
}

TEST(AttendExtremes, HalfABlockOfKeysWithScoresNearMinus100) {
  for (int64_t keys : {64, 192, 1216}) {
    SCOPED_TRACE(keys);
    for (DType type : {DType::F32, DType::BF16, DType::F16})
      checkAttend(oneSided(spec128(type), 70, keys, -100));
  }
}

TEST(AttendExtremes, ScoresNearPlus100) {
  checkAttend(oneSided(spec128(), 70, 192, 100));
}

TEST(AttendExtremes, ScoresNearMinus3000) {
  checkAttend(oneSided(spec128(), 70, 300, -3000));
}

TEST(AttendExtremes, QueriesAndKeysOfDeviation10) {
  // The scale must not be rounded to a 16-bit type.
  for (DType type : {DType::F32, DType::BF16, DType::F16}) {
    std::mt19937 random = seeded(3);
    AttendProblem problem(spec128(type), 150, 300);
    problem.q.fillNormal(random, 10);
    problem.k.fillNormal(random, 10);
    problem.v.fillNormal(random, 1);
    checkAttend(problem);
  }
}

TEST(AttendExtremes, ScoresOf1e30StayFinite) {
  // Scores +-1e30 and a few of ordinary size. The largest wins by far more than
  // the rounding error, so the output is its value exactly.
  AttendProblem problem(spec128(), 3, 200);
  problem.scale = 1;
  problem.q.fill([](int64_t, int64_t d) { return d == 0 ? 1e15 : 0; });
  problem.k.fill([](int64_t j, int64_t d) {
    return d == 0 ? (j == 150 ? 1e15 : j % 3 == 0 ? -1e15 : 0) : 1;
  });
  problem.v.fill([](int64_t j, int64_t d) { return j + d / 256.0; });
  AttendResult result = runAttend(problem);
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(result.lse.get(i, 0), 1e30, 1e24);
    for (int64_t d = 0; d < 128; ++d)
      EXPECT_EQ(result.o.get(i, d), problem.v.get(150, d));
  }
}

TEST(AttendExtremes, AllScoresMinus1e30) {
  AttendProblem problem(spec128(), 3, 200);
  problem.scale = 1;
  problem.q.fill([](int64_t, int64_t d) { return d == 0 ? 1e15 : 0; });
  problem.k.fill([](int64_t, int64_t d) { return d == 0 ? -1e15 : 0; });
  problem.v.fill([](int64_t, int64_t d) { return d; });
  AttendResult result = runAttend(problem);
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(result.lse.get(i, 0), -1e30, 1e24);
    for (int64_t d = 0; d < 128; ++d)
      EXPECT_NEAR(result.o.get(i, d), d, 1e-4);
  }
}

TEST(AttendExtremes, LaterBlocksRaiseTheMaximum) {
  // Every block's scores are 60 above the one before: all earlier weights and
  // sums are rescaled to nothing, in list order and against it.
  KernelSpec spec = spec128();
  spec.blockK = 64;
  AttendProblem problem(spec, 40, 320);
  std::mt19937 random = seeded(5);
  problem.scale = 1;
  std::normal_distribution<double> noise(0, 0.1);
  problem.q.fill([&](int64_t, int64_t d) { return d ? noise(random) : 1; });
  problem.k.fill([&](int64_t j, int64_t d) {
    int64_t block = j / 64;
    return d ? noise(random) : static_cast<double>(block * 60 - 150);
  });
  problem.v.fillNormal(random, 1);
  checkAttend(problem);
  problem.lists[0] = {4, 3, 2, 1, 0};
  checkAttend(problem);
}

TEST(AttendExtremes, ExponentialIsAccurate) {
  // Two keys, scores 0 and -x in base 2, both exact: scale * log2(e) rounds to
  // 1. The output is w / (1 + w) with w = 2^-x. Relative error: 9.2e-8 of the
  // polynomial, and at most 4.5 roundings of 2^-24: of its evaluation (1.5), of
  // the sum, the reciprocal and the product.
  const double bound = 9.2e-8 + 4.5 * 0x1p-24;
  for (const std::string &target : runnableTargets()) {
    AttendProblem problem(spec128(), 517, 2);
    problem.scale = 0x1.62e43p-1f; // ln 2
    auto x = [](int64_t i) { return static_cast<double>(i) / 64; };
    problem.q.fill([&](int64_t i, int64_t d) { return d == 0 ? x(i) : 0; });
    problem.k.fill([](int64_t j, int64_t d) { return d == 0 ? -j : 0; });
    problem.v.fill([](int64_t j, int64_t) { return j; });
    AttendResult result = runAttend(problem, target);
    for (int64_t i = 0; i < 517; ++i) {
      double weight = std::exp2(-x(i)), value = weight / (1 + weight);
      ASSERT_NEAR(result.o.get(i, 0), value, bound * value) << x(i);
      ASSERT_NEAR(result.lse.get(i, 0), std::log1p(weight), 2e-7) << x(i);
    }
  }
}

TEST(AttendExtremes, LseIsTheNaturalLogarithm) {
  // Two partial results over disjoint lists merge to the whole with natural
  // exponentials; a base-2 lse would be off by ln 2.
  std::mt19937 random = seeded(3);
  AttendProblem problem(spec128(), 60, 512);
  problem.q.fillNormal(random, 2);
  problem.k.fillNormal(random, 2);
  problem.v.fillNormal(random, 1);
  AttendResult whole = runAttend(problem);
  problem.lists[0] = {0, 3};
  AttendResult first = runAttend(problem);
  problem.lists[0] = {1, 2};
  AttendResult second = runAttend(problem);
  for (int64_t i = 0; i < 60; ++i) {
    double a = first.lse.get(i, 0), b = second.lse.get(i, 0);
    double lse = std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
    EXPECT_NEAR(lse, whole.lse.get(i, 0), 1e-5);
    for (int64_t d = 0; d < 128; ++d)
      EXPECT_NEAR(first.o.get(i, d) * std::exp(a - lse) +
                      second.o.get(i, d) * std::exp(b - lse),
                  whole.o.get(i, d), 2e-5);
  }
}

} // namespace

//===- ReferenceRouteTest.cpp - Top-p selection of the oracle -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BackendTestSupport.h"
#include "ReferenceKernels.h"

using namespace sart;
using namespace sart::test;

namespace {

/// Scores whose softmax gives these probabilities.
std::vector<double> scoresOf(const std::vector<double> &probabilities) {
  std::vector<double> scores;
  for (double p : probabilities)
    scores.push_back(std::log(p) + 3);
  return scores;
}

std::vector<int32_t> routed(const std::vector<double> &scores, double p,
                            int64_t minBlocks,
                            const std::vector<Range> &keep = {},
                            RouteStats *stats = nullptr) {
  std::vector<int32_t> row(scores.size() + 1, -1);
  RouteStats own;
  referenceRoute(scores, p, minBlocks, keep, row.data(), own);
  if (stats)
    *stats = own;
  return {row.begin() + 1, row.begin() + 1 + row[0]};
}

using Tiles = std::vector<int32_t>;

} // namespace

TEST(ReferenceRoute, ShortestPrefixThatReachesP) {
  std::vector<double> scores = scoresOf({0.1, 0.4, 0.2, 0.3});
  EXPECT_EQ(routed(scores, 0.39, 1), (Tiles{1}));
  EXPECT_EQ(routed(scores, 0.41, 1), (Tiles{1, 3}));
  EXPECT_EQ(routed(scores, 0.69, 1), (Tiles{1, 3}));
  EXPECT_EQ(routed(scores, 0.71, 1), (Tiles{1, 2, 3}));
  EXPECT_EQ(routed(scores, 0.95, 1), (Tiles{0, 1, 2, 3}));
}

TEST(ReferenceRoute, PAtItsLimits) {
  std::vector<double> scores = scoresOf({0.1, 0.4, 0.2, 0.3});
  EXPECT_EQ(routed(scores, 1.0, 1), (Tiles{0, 1, 2, 3}));
  EXPECT_EQ(routed(scores, 1.5, 1), (Tiles{0, 1, 2, 3}));
  EXPECT_EQ(routed(scores, 0.0, 1), (Tiles{1}));
  // Weights far below rounding are kept too when all are asked for.
  EXPECT_EQ(routed({0, -2000, -3000}, 1.0, 1), (Tiles{0, 1, 2}));
}

TEST(ReferenceRoute, FloorIsClamped) {
  std::vector<double> scores = scoresOf({0.1, 0.4, 0.2, 0.3});
  EXPECT_EQ(routed(scores, 0.1, 3), (Tiles{1, 2, 3}));
  EXPECT_EQ(routed(scores, 0.1, 99), (Tiles{0, 1, 2, 3}));
  EXPECT_EQ(routed(scores, 0.1, 0), (Tiles{1}));
  EXPECT_EQ(routed(scores, 0.1, -5), (Tiles{1}));
}

TEST(ReferenceRoute, TiesGoToTheSmallerIndex) {
  EXPECT_EQ(routed({2, 2, 2, 2}, 0.5, 1), (Tiles{0, 1}));
  EXPECT_EQ(routed({1, 5, 1, 1}, 0.0, 3), (Tiles{0, 1, 2}));
}

TEST(ReferenceRoute, KeepRangesStayInsideTheCandidates) {
  std::vector<double> scores = scoresOf({0.05, 0.9, 0.03, 0.02});
  EXPECT_EQ(routed(scores, 0.5, 1, {{0, 1}, {3, 9}}), (Tiles{0, 1, 3}));
  EXPECT_EQ(routed(scores, 0.5, 1, {{-2, 0}, {7, 9}, {2, 2}}), (Tiles{1}));
}

TEST(ReferenceRoute, NoCandidate) {
  RouteStats stats;
  EXPECT_EQ(routed({}, 0.9, 4, {{0, 2}}, &stats), Tiles());
  EXPECT_EQ(stats.rows, 1);
  EXPECT_EQ(stats.keptPooledMass, 0);
}

TEST(ReferenceRoute, Statistics) {
  RouteStats stats;
  routed(scoresOf({0.5, 0.25, 0.25}), 0.6, 1, {}, &stats);
  EXPECT_NEAR(stats.keptPooledMass, 0.75, 1e-12);
  EXPECT_EQ(stats.nearThreshold, 0);
  routed(scoresOf({0.5, 0.25, 0.25}), 0.750005, 1, {}, &stats);
  EXPECT_EQ(stats.nearThreshold, 1);
  EXPECT_NEAR(stats.keptPooledMass, 1, 1e-12);
  routed(scoresOf({0.5, 0.25, 0.25}), 1.0, 1, {}, &stats);
  EXPECT_EQ(stats.nearThreshold, 0) << "nothing is near when all are kept";
}

TEST(ReferenceRoute, HugeScores) {
  EXPECT_EQ(routed({5000, 4999, -5000}, 0.9, 1), (Tiles{0, 1}));
  EXPECT_EQ(routed({-5000, -4999, -9000}, 0.7, 1), (Tiles{1}));
}

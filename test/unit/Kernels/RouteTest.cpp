//===- RouteTest.cpp - Top-p selection of kv-blocks -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelTestSupport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace kerneltest;
using sart::DType;
using sart::KernelSpec;
using sart::MemRef;

namespace {

struct RouteProblem {
  RouteProblem(int64_t headDim, int64_t blocks)
      : q(DType::F32, 3, headDim, headDim + 3),
        k(DType::F32, blocks, headDim, headDim + 3), visible(blocks),
        scale(1 / std::sqrt(static_cast<float>(headDim))) {}

  Matrix q, k;
  int64_t visible;
  float scale, p = 0.9f;
  int64_t minBlocks = 1;
  std::vector<int32_t> keep;
};

struct RouteResult {
  std::vector<int32_t> blocks;
  float mass = 0, near = 0;
};

using RouteFunction = void (*)(MemRef<void, 2> *, MemRef<void, 2> *,
                               MemRef<int32_t, 1> *, MemRef<int8_t, 1> *,
                               intptr_t, intptr_t, float, float, intptr_t,
                               MemRef<int32_t, 1> *, MemRef<float, 1> *);

template <typename T>
MemRef<T, 1> flat(std::vector<T> &values) {
  MemRef<T, 1> view;
  view.allocated = view.aligned = values.data();
  view.sizes[0] = static_cast<int64_t>(values.size());
  view.strides[0] = 1;
  return view;
}

RouteResult route(const RouteProblem &problem, int64_t row,
                  const std::string &target = "host") {
  KernelSpec spec;
  spec.kind = KernelSpec::Kind::Route;
  spec.headDim = problem.q.columns;
  const auto &kernel = compiled(spec, target);
  RouteResult result;
  if (!kernel.entry)
    return result;
  constexpr int32_t kUnwritten = -77;
  constexpr size_t kGuard = 8;
  size_t slots = 1 + static_cast<size_t>(problem.k.rows);
  std::vector<int32_t> out(slots + kGuard, kUnwritten), keep = problem.keep;
  std::vector<float> stats(2, std::nanf(""));
  Matrix q = problem.q, k = problem.k;
  auto qView = q.view(), kView = k.view();
  auto outView = flat(out);
  outView.sizes[0] = static_cast<int64_t>(slots);
  auto keepView = flat(keep);
  auto statsView = flat(stats);
  Scratch scratch(kernel.scratchBytes +
                  kernel.scratchBytesPerBlock * problem.k.rows);
  auto scratchView = scratch.view();
  reinterpret_cast<RouteFunction>(kernel.entry)(
      &qView, &kView, &outView, &scratchView, row, problem.visible,
      problem.scale, problem.p, problem.minBlocks, &keepView, &statsView);
  EXPECT_TRUE(scratch.guardIntact());
  EXPECT_GE(out[0], 0);
  EXPECT_LE(out[0], std::max<int64_t>(problem.visible, 0));
  for (size_t i = 1 + out[0]; i < out.size(); ++i)
    EXPECT_EQ(out[i], kUnwritten) << "behind the list, at " << i;
  result.blocks.assign(out.begin() + 1, out.begin() + 1 + out[0]);
  result.mass = stats[0];
  result.near = stats[1];
  return result;
}

struct Expected {
  std::vector<int32_t> blocks; ///< ascending
  double mass = 0;
  int64_t near = 0;
};

/// The definition: sort, sum, cut; in float64.
Expected reference(const RouteProblem &problem, int64_t row) {
  int64_t n = std::min(problem.visible, problem.k.rows);
  Expected result;
  if (n <= 0)
    return result;
  std::vector<double> score(n);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t d = 0; d < problem.q.columns; ++d)
      score[j] += problem.q.get(row, d) * problem.k.get(j, d);
    score[j] *= problem.scale;
  }
  double largest = *std::max_element(score.begin(), score.end());
  double total = 0;
  std::vector<double> probability(n);
  for (int64_t j = 0; j < n; ++j)
    total += probability[j] = std::exp(score[j] - largest);
  for (double &value : probability)
    value /= total;
  std::vector<int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return score[a] != score[b] ? score[a] > score[b] : a < b;
  });
  double p = problem.p, sum = 0;
  int64_t kept = n;
  bool reached = false;
  for (int64_t i = 0; i < n; ++i) {
    sum += probability[order[i]];
    if (p > 0 && p < 1 && std::fabs(sum - p) <= 1e-5)
      ++result.near;
    if (!reached && sum >= p && p < 1) {
      reached = true;
      kept = i + 1;
    }
  }
  kept = std::max(kept, std::clamp<int64_t>(problem.minBlocks, 1, n));
  std::vector<bool> selected(n, false);
  for (int64_t i = 0; i < kept; ++i)
    selected[order[i]] = true;
  for (size_t i = 0; i + 1 < problem.keep.size(); i += 2)
    for (int64_t j = std::max(problem.keep[i], 0);
         j < std::min<int64_t>(problem.keep[i + 1], n); ++j)
      selected[j] = true;
  for (int64_t j = 0; j < n; ++j)
    if (selected[j]) {
      result.blocks.push_back(static_cast<int32_t>(j));
      result.mass += probability[j];
    }
  return result;
}

/// Equality of the sets needs no tolerance: kernel and reference evaluate the
/// same fp64 expressions, and the inputs used here leave every cumulative sum
/// further from p than their rounding, or give exact sums.
void check(const RouteProblem &problem, const std::string &target = "host") {
  for (int64_t row = 0; row < problem.q.rows; ++row) {
    Expected expected = reference(problem, row);
    RouteResult result = route(problem, row, target);
    ASSERT_EQ(result.blocks, expected.blocks) << "row " << row;
    EXPECT_NEAR(result.mass, expected.mass, 1e-6);
    EXPECT_EQ(result.near, expected.near);
  }
}

RouteProblem randomProblem(int64_t headDim, int64_t blocks, double deviation,
                           unsigned seed) {
  std::mt19937 random(seed);
  RouteProblem problem(headDim, blocks);
  problem.q.fillNormal(random, deviation);
  problem.k.fillNormal(random, deviation);
  return problem;
}

TEST(Route, EveryCountOfBlocks) {
  for (int64_t blocks = 1; blocks <= 40; ++blocks)
    check(randomProblem(64, blocks, 1.2, static_cast<unsigned>(blocks)));
  for (int64_t blocks : {110, 591, 1300})
    check(randomProblem(128, blocks, 1.2, static_cast<unsigned>(blocks)));
}

TEST(Route, EveryHeadDim) {
  for (int64_t headDim = 32; headDim <= 256; headDim += 8)
    check(randomProblem(headDim, 37, 1.2, static_cast<unsigned>(headDim)));
}

TEST(Route, EveryTarget) {
  for (const std::string &target : runnableTargets())
    for (unsigned seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(target);
      RouteProblem problem = randomProblem(40, 61, 1.5, seed);
      problem.p = 0.05f + 0.045f * static_cast<float>(seed);
      check(problem, target);
    }
}

TEST(Route, FlatAndSharpScores) {
  for (double deviation : {0.01, 0.1, 3.0, 10.0, 100.0})
    for (float p : {0.1f, 0.5f, 0.9f, 0.99f, 0.9999f}) {
      SCOPED_TRACE(testing::Message() << deviation << ", p " << p);
      RouteProblem problem = randomProblem(64, 110, deviation, 5);
      problem.p = p;
      check(problem);
    }
}

TEST(Route, TiesGoToTheLowerIndex) {
  // Small integers: few distinct scores, many of them equal.
  std::mt19937 random = seeded(5);
  std::uniform_int_distribution<int> digit(-1, 1);
  for (int round = 0; round < 50; ++round) {
    RouteProblem problem(32, 75);
    problem.scale = 0.25f;
    problem.q.fill(
        [&](int64_t, int64_t d) { return d < 4 ? digit(random) : 0; });
    problem.k.fill(
        [&](int64_t, int64_t d) { return d < 4 ? digit(random) : 0; });
    problem.p = 0.02f * static_cast<float>(round);
    problem.minBlocks = round % 7;
    check(problem);
  }
}

TEST(Route, AllScoresEqual) {
  RouteProblem problem(64, 64);
  problem.q.fill([](int64_t, int64_t) { return 1; });
  problem.k.fill([](int64_t, int64_t) { return 1; });
  for (int64_t wanted = 1; wanted < 64; ++wanted) {
    // Sums of 1/64 are exact: the prefix reaches p exactly.
    problem.p = static_cast<float>(wanted) / 64;
    RouteResult result = route(problem, 0);
    ASSERT_EQ(static_cast<int64_t>(result.blocks.size()), wanted);
    EXPECT_EQ(result.blocks.back(), wanted - 1);
    EXPECT_EQ(result.mass, problem.p);
    EXPECT_EQ(result.near, 1);
  }
}

TEST(Route, MinusZeroEqualsZero) {
  // Scores of 0 and -0: index decides, not the sign.
  RouteProblem problem(32, 4);
  problem.q.fill([](int64_t, int64_t) { return 1; });
  problem.k.fill([](int64_t j, int64_t) { return j % 2 ? 0.0 : -0.0; });
  problem.scale = -1;
  problem.p = 0;
  problem.minBlocks = 2;
  EXPECT_EQ(route(problem, 0).blocks, (std::vector<int32_t>{0, 1}));
}

TEST(Route, MinBlocksIsClamped) {
  RouteProblem problem = randomProblem(64, 20, 3, 1);
  problem.p = 0;
  for (int64_t least : {-5, 0, 1, 2, 19, 20, 21, 1000}) {
    problem.minBlocks = least;
    EXPECT_EQ(static_cast<int64_t>(route(problem, 0).blocks.size()),
              std::clamp<int64_t>(least, 1, 20));
    check(problem);
  }
}

TEST(Route, PAtLeastOneKeepsAll) {
  RouteProblem problem = randomProblem(64, 50, 50, 1);
  for (float p : {1.0f, 1.5f}) {
    problem.p = p;
    RouteResult result = route(problem, 0);
    EXPECT_EQ(result.blocks.size(), 50u);
    EXPECT_NEAR(result.mass, 1, 1e-6);
    EXPECT_EQ(result.near, 0);
  }
}

TEST(Route, KeepRangesAreKept) {
  RouteProblem problem = randomProblem(64, 50, 3, 1);
  problem.p = 0.3f;
  problem.keep = {0, 2, 7, 7, 40, 60, -3, 1, 12, 11};
  check(problem);
  RouteResult result = route(problem, 0);
  for (int32_t block : {0, 1, 40, 49})
    EXPECT_TRUE(std::count(result.blocks.begin(), result.blocks.end(), block));
}

TEST(Route, OnlyVisibleBlocksAreCandidates) {
  for (int64_t visible : {0, 1, 7, 8, 9, 49, 50, 70}) {
    SCOPED_TRACE(visible);
    RouteProblem problem = randomProblem(64, 50, 1.5, 1);
    // A block beyond would win and spoil everything.
    for (int64_t j = visible; j < 50; ++j)
      for (int64_t d = 0; d < 64; ++d)
        problem.k.set(j, d, std::nan(""));
    problem.visible = visible;
    problem.keep = {45, 50};
    check(problem);
  }
}

TEST(Route, NothingVisible) {
  RouteProblem problem = randomProblem(64, 50, 1.5, 1);
  for (int64_t visible : {0, -3}) {
    problem.visible = visible;
    problem.minBlocks = 4;
    RouteResult result = route(problem, 1);
    EXPECT_TRUE(result.blocks.empty());
    EXPECT_EQ(result.mass, 0);
    EXPECT_EQ(result.near, 0);
  }
}

TEST(Route, ExtremeScores) {
  RouteProblem problem(32, 9);
  problem.scale = 1;
  problem.q.fill([](int64_t, int64_t d) { return d == 0 ? 1e15 : 0; });
  const double scores[] = {-1e15, 1e15, 0, -3e-12, 1e15, -1e15, 2, -1e-30, 1};
  problem.k.fill([&](int64_t j, int64_t) { return scores[j]; });
  for (int64_t least = 1; least <= 9; ++least) {
    problem.minBlocks = least;
    check(problem);
  }
}

TEST(Route, NearBlocksAreCounted) {
  // One block holds 1/2, the others share the rest in steps below the width.
  RouteProblem problem(32, 1001);
  problem.scale = 1;
  problem.q.fill([](int64_t, int64_t d) { return d == 0 ? 1 : 0; });
  problem.k.fill([](int64_t j, int64_t d) {
    return d == 0 && j == 500 ? std::log(200000.0) : 0;
  });
  // The thousand others have 1/201000 each, 4.975e-6.
  float large = 200000.0f / 201000.0f;
  for (int64_t more : {0, 3, 500, 996}) {
    problem.p = large + static_cast<float>(more) / 201000.0f + 2e-6f;
    RouteResult result = route(problem, 0);
    EXPECT_EQ(result.near, reference(problem, 0).near);
    EXPECT_GE(result.near, 2);
    EXPECT_LE(result.near, 5);
  }
}

TEST(Route, SameBitsEveryRun) {
  RouteProblem problem = randomProblem(128, 591, 1, 3);
  RouteResult first = route(problem, 2);
  for (int round = 0; round < 3; ++round) {
    RouteResult again = route(problem, 2);
    EXPECT_EQ(first.blocks, again.blocks);
    EXPECT_EQ(first.mass, again.mass);
  }
}

TEST(Route, NotANumberEnds) {
  // Refused before it gets here; the kernel must still end and stay inside.
  for (double bad : {std::nan(""), std::numeric_limits<double>::infinity(),
                     -std::numeric_limits<double>::infinity()}) {
    RouteProblem problem = randomProblem(64, 50, 1.5, 1);
    problem.k.set(7, 3, bad);
    route(problem, 0);
    problem.k.fill([&](int64_t, int64_t) { return bad; });
    route(problem, 0);
  }
}

} // namespace

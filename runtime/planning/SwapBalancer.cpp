//===- SwapBalancer.cpp - Run-time load balancing by head swaps -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Run-time load balancing of FVAttn (arXiv 2607.16190): at most one head leaves
// and one enters each rank. Deviation: an index may give without taking and
// take without giving, which balances better and lets indices without a head
// take part.
//
//===----------------------------------------------------------------------===//
#include "SwapProblem.h"

#include <algorithm>
#include <iterator>

using namespace sart;

namespace {
/// Up to this many Ulysses indices the answer is exact.
constexpr int64_t maxExactIndices = 5;
} // namespace

SwapProblem::SwapProblem(const HeadLoads &headLoads, const Placement &placement)
    : indices(placement.mesh.ulysses), ring(headLoads.ring),
      heads(headLoads.heads),
      loads(static_cast<size_t>(placement.mesh.ulysses * headLoads.ring), 0),
      weights(headLoads.tiles),
      items(static_cast<size_t>(placement.mesh.ulysses)) {
  weights.resize(static_cast<size_t>((heads + 1) * ring), 0);
  std::vector<int64_t> totals(static_cast<size_t>(heads + 1), 0);
  for (int64_t head = 0; head < heads; ++head)
    totals[static_cast<size_t>(head)] = headLoads.total(head);
  for (int64_t u = 0; u < indices; ++u) {
    std::vector<int32_t> &own = items[static_cast<size_t>(u)];
    own.push_back(none());
    Range range = placement.headsOf(u);
    for (int64_t head = range.begin; head < range.end; ++head) {
      for (int64_t r = 0; r < ring; ++r)
        loads[static_cast<size_t>(u * ring + r)] +=
            weights[static_cast<size_t>(head * ring + r)];
      if (totals[static_cast<size_t>(head)] != 0)
        own.push_back(static_cast<int32_t>(head));
    }
    std::sort(std::next(own.begin()), own.end(), [&](int32_t a, int32_t b) {
      int64_t weightA = totals[static_cast<size_t>(a)];
      int64_t weightB = totals[static_cast<size_t>(b)];
      return weightA != weightB ? weightA < weightB : a < b;
    });
  }
}

SwapScore sart::scoreOf(const SwapProblem &problem, const SwapChoice &choice) {
  SwapScore score;
  for (int64_t u = 0; u < problem.indices; ++u) {
    int32_t source = choice.source[static_cast<size_t>(u)];
    int32_t in = choice.give[static_cast<size_t>(source)];
    const int64_t *load = problem.loadsOf(u);
    const int64_t *out = problem.weightsOf(choice.give[static_cast<size_t>(u)]);
    const int64_t *added = problem.weightsOf(in);
    for (int64_t r = 0; r < problem.ring; ++r) {
      int64_t value = load[r] - out[r] + added[r];
      score.largest = std::max(score.largest, value);
      score.squares += squareOf(value);
    }
    score.moves += source != u && in != problem.none();
  }
  return score;
}

SwapChoice sart::identityChoice(const SwapProblem &problem) {
  SwapChoice choice;
  choice.give.assign(static_cast<size_t>(problem.indices), problem.none());
  for (int64_t u = 0; u < problem.indices; ++u)
    choice.source.push_back(static_cast<int32_t>(u));
  return choice;
}

std::vector<HeadMove> sart::planSwaps(const HeadLoads &loads,
                                      const Placement &placement) {
  std::vector<HeadMove> moves;
  if (placement.mesh.ulysses < 2)
    return moves;
  SwapProblem problem(loads, placement);
  SwapChoice choice = searchSwaps(problem);
  if (problem.indices <= maxExactIndices)
    solveSwapsExactly(problem, choice);
  for (int64_t u = 0; u < problem.indices; ++u) {
    int32_t source = choice.source[static_cast<size_t>(u)];
    int32_t item = choice.give[static_cast<size_t>(source)];
    if (source != u && item != problem.none())
      moves.push_back({item, source, u});
  }
  std::sort(
      moves.begin(), moves.end(),
      [](const HeadMove &a, const HeadMove &b) { return a.head < b.head; });
  return moves;
}

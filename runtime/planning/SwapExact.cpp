//===- SwapExact.cpp - Exact head swaps for few indices -------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loads after the swaps depend on the permutation cycle by cycle: within a
// cycle, the load of an index depends on the item it gives and the item its
// predecessor gives. For every set of indices the best cycle through exactly
// these indices is found by dynamic programming along all its orders; the best
// partition of all indices into cycles follows by dynamic programming over
// sets. The lexicographic objective needs two passes: the smallest possible
// largest load first, then the smallest (squares, moves) among the cycles that
// keep it.
//
//===----------------------------------------------------------------------===//
#include "SwapProblem.h"

#include <algorithm>
#include <limits>

using namespace sart;

namespace {

constexpr int64_t infinite = std::numeric_limits<int64_t>::max();

/// Largest number of load evaluations of one solution, about 20 ms: 155 heads
/// on five indices.
constexpr int64_t maxEvaluations = int64_t(1) << 22;

/// Two parts side by side.
SwapScore join(const SwapScore &a, const SwapScore &b) {
  return {std::max(a.largest, b.largest), a.squares + b.squares,
          a.moves + b.moves};
}

class CycleSolver {
public:
  /// Loads must not exceed `limit`. With `squaresOnly` the largest load is left
  /// out of the scores, so that they compare by (squares, moves).
  CycleSolver(const SwapProblem &problem, int64_t limit, bool squaresOnly)
      : problem(problem), count(static_cast<int32_t>(problem.indices)),
        limit(limit), squaresOnly(squaresOnly), cycles(size_t(1) << count),
        levels(static_cast<size_t>(count)) {}

  /// The best choice within the limit; false if there is none.
  bool solve(SwapChoice &choice, SwapScore &score) {
    for (int32_t first = 0; first < count; ++first)
      solveFrom(first);
    size_t all = cycles.size() - 1;
    std::vector<SwapScore> best(cycles.size(), worst());
    std::vector<size_t> part(cycles.size(), 0);
    best[0] = SwapScore();
    for (size_t set = 1; set <= all; ++set) {
      size_t lowest = set & (~set + 1);
      for (size_t sub = set; sub != 0; sub = (sub - 1) & set) {
        size_t rest = set ^ sub;
        if (!(sub & lowest) || !isFinite(cycles[sub].score) ||
            !isFinite(best[rest]))
          continue;
        SwapScore joined = join(cycles[sub].score, best[rest]);
        if (joined < best[set]) {
          best[set] = joined;
          part[set] = sub;
        }
      }
    }
    if (!isFinite(best[all]))
      return false;
    score = best[all];
    for (size_t set = all; set != 0; set ^= part[set]) {
      const Cycle &cycle = cycles[part[set]];
      for (size_t i = 0; i < cycle.order.size(); ++i) {
        size_t index = static_cast<size_t>(cycle.order[i]);
        choice.give[index] = cycle.give[i];
        choice.source[index] =
            cycle.order[(i + cycle.order.size() - 1) % cycle.order.size()];
      }
    }
    return true;
  }

private:
  static SwapScore worst() { return {infinite, 0, 0}; }
  static bool isFinite(const SwapScore &score) {
    return score.largest != infinite;
  }

  struct Cycle {
    SwapScore score = worst();
    std::vector<int32_t> order; ///< each index gives to the next one
    std::vector<int32_t> give;
  };
  /// State of a path at its last index: the best score for each item this
  /// index may give, and which item of the index before it belongs to it.
  struct Level {
    int32_t index = 0;
    std::vector<SwapScore> scores;
    std::vector<int32_t> previous;
  };

  /// Score of one index's loads; infinite above the limit.
  SwapScore loadOf(int32_t index, int32_t in, int32_t out) const {
    const int64_t *load = problem.loadsOf(index);
    const int64_t *added = problem.weightsOf(in);
    const int64_t *removed = problem.weightsOf(out);
    SwapScore score;
    for (int64_t r = 0; r < problem.ring; ++r) {
      int64_t value = load[r] - removed[r] + added[r];
      if (value > limit)
        return worst();
      if (!squaresOnly)
        score.largest = std::max(score.largest, value);
      score.squares += squareOf(value);
    }
    return score;
  }

  void solveFrom(int32_t first) {
    Cycle &alone = cycles[size_t(1) << first];
    alone.score = loadOf(first, problem.none(), problem.none());
    alone.order = {first};
    alone.give = {problem.none()};
    const std::vector<int32_t> &items = problem.items[first];
    Level &start = levels[0];
    start.index = first;
    for (size_t i = 0; i < items.size(); ++i) {
      start.scores.assign(items.size(), worst());
      start.previous.assign(items.size(), -1);
      start.scores[i] = {0, 0, items[i] != problem.none()};
      extend(1, size_t(1) << first, static_cast<int32_t>(i));
    }
  }

  /// Extends the path of `depth` indices, which visited `visited`, by every
  /// index above its first one, and closes each extension to a cycle.
  void extend(size_t depth, size_t visited, int32_t startItem) {
    int32_t first = levels[0].index;
    for (int32_t next = first + 1; next < count; ++next) {
      if (visited >> next & 1)
        continue;
      if (!step(levels[depth - 1], levels[depth], next))
        continue;
      close(depth, visited | size_t(1) << next, startItem);
      if (depth + 1 < static_cast<size_t>(count))
        extend(depth + 1, visited | size_t(1) << next, startItem);
    }
  }

  /// `next` receives what the path's last index gives.
  bool step(const Level &last, Level &level, int32_t next) const {
    const std::vector<int32_t> &received = problem.items[last.index];
    const std::vector<int32_t> &given = problem.items[next];
    level.index = next;
    level.scores.assign(given.size(), worst());
    level.previous.assign(given.size(), -1);
    bool any = false;
    for (size_t a = 0; a < received.size(); ++a) {
      if (!isFinite(last.scores[a]))
        continue;
      for (size_t b = 0; b < given.size(); ++b) {
        SwapScore score = loadOf(next, received[a], given[b]);
        if (!isFinite(score))
          continue;
        score.moves = given[b] != problem.none();
        score = join(last.scores[a], score);
        if (score < level.scores[b]) {
          level.scores[b] = score;
          level.previous[b] = static_cast<int32_t>(a);
          any = true;
        }
      }
    }
    return any;
  }

  /// The first index receives what the path's last one gives.
  void close(size_t depth, size_t visited, int32_t startItem) {
    const Level &last = levels[depth];
    int32_t first = levels[0].index;
    int32_t out = problem.items[first][static_cast<size_t>(startItem)];
    const std::vector<int32_t> &items = problem.items[last.index];
    Cycle &cycle = cycles[visited];
    for (size_t a = 0; a < items.size(); ++a) {
      if (!isFinite(last.scores[a]))
        continue;
      SwapScore score = loadOf(first, items[a], out);
      if (!isFinite(score))
        continue;
      score = join(last.scores[a], score);
      if (!(score < cycle.score))
        continue;
      cycle.score = score;
      cycle.order.assign(depth + 1, 0);
      cycle.give.assign(depth + 1, problem.none());
      int32_t item = static_cast<int32_t>(a);
      for (size_t i = depth + 1; i-- > 0;) {
        int32_t index = levels[i].index;
        cycle.order[i] = index;
        cycle.give[i] = problem.items[index][static_cast<size_t>(item)];
        item = levels[i].previous[static_cast<size_t>(item)];
      }
    }
  }

  const SwapProblem &problem;
  int32_t count;
  int64_t limit;
  bool squaresOnly;
  std::vector<Cycle> cycles; ///< best cycle through exactly a set of indices
  std::vector<Level> levels;
};

/// Evaluations of one pass, from above: every path of indices in every order.
int64_t evaluationsOf(const SwapProblem &problem) {
  int64_t most = 1;
  for (const std::vector<int32_t> &items : problem.items)
    most = std::max(most, static_cast<int64_t>(items.size()));
  // Paths with `length` indices: at the second one a single item is received,
  // from the third on all pairs of items meet.
  int64_t paths = 1, result = 0;
  for (int64_t length = 2; length <= problem.indices; ++length) {
    paths *= problem.indices - length + 1;
    int64_t perPath = length == 2 ? most * most : most * most * most;
    if (perPath > maxEvaluations / paths)
      return infinite;
    result += 2 * paths * perPath;
  }
  return result;
}

} // namespace

bool sart::solveSwapsExactly(const SwapProblem &problem, SwapChoice &choice) {
  if (evaluationsOf(problem) > maxEvaluations)
    return false;
  int64_t largest = scoreOf(problem, choice).largest;
  SwapScore score;
  // Loads that are equal to the known largest one are of no use here.
  if (largest > 0 &&
      CycleSolver(problem, largest - 1, false).solve(choice, score))
    largest = score.largest;
  CycleSolver(problem, largest, true).solve(choice, score);
  return true;
}

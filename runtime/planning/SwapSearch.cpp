//===- SwapSearch.cpp - Near-exact head swaps by local search -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SwapProblem.h"

#include <algorithm>

using namespace sart;

namespace {

/// Descent over the items given. Indices stand in two sorted lists: what
/// remains of each index without its item, descending, and the items,
/// ascending; position by position they are paired.
class SwapSearch {
public:
  explicit SwapSearch(const SwapProblem &problem)
      : problem(problem), choice(identityChoice(problem)),
        count(static_cast<int32_t>(problem.indices)),
        totals(static_cast<size_t>(problem.indices), 0),
        weightTotals(static_cast<size_t>(problem.heads + 1), 0) {
    for (int64_t u = 0; u < problem.indices; ++u)
      for (int64_t r = 0; r < problem.ring; ++r)
        totals[static_cast<size_t>(u)] += problem.loadsOf(u)[r];
    for (int64_t item = 0; item < problem.heads; ++item)
      for (int64_t r = 0; r < problem.ring; ++r)
        weightTotals[static_cast<size_t>(item)] +=
            problem.weightsOf(static_cast<int32_t>(item))[r];
    for (Lists *lists : {&all, &base, &one, &joined}) {
      lists->rests.resize(static_cast<size_t>(count));
      lists->items.resize(static_cast<size_t>(count));
    }
  }

  SwapChoice run() {
    rebuild();
    best = evaluate(all);
    // Every round strictly lowers the score; the bound only caps the time.
    for (int round = 0; round < maxRounds; ++round)
      if (!improveOne() && !improveTwo())
        break;
    for (int32_t i = 0; i < count; ++i)
      choice.source[static_cast<size_t>(all.rests[i].index)] =
          all.items[i].index;
    exchangeReceivers();
    return choice;
  }

private:
  static constexpr int maxRounds = 64;

  struct Entry {
    int64_t key;
    int32_t index;
  };
  struct Lists {
    std::vector<Entry> rests; ///< descending
    std::vector<Entry> items; ///< ascending
    size_t size = 0;
  };

  /// Inserts behind entries with the same key, so that the order is fixed.
  void insert(int32_t index, int32_t item, Lists &lists) const {
    int64_t weight = weightTotals[static_cast<size_t>(item)];
    int64_t rest = totals[static_cast<size_t>(index)] - weight;
    Entry *rests = lists.rests.data(), *items = lists.items.data();
    size_t i = lists.size;
    for (; i > 0 && rests[i - 1].key < rest; --i)
      rests[i] = rests[i - 1];
    rests[i] = {rest, index};
    i = lists.size;
    for (; i > 0 && items[i - 1].key > weight; --i)
      items[i] = items[i - 1];
    items[i] = {weight, index};
    ++lists.size;
  }

  /// `all` for the current choice.
  void rebuild() {
    all.size = 0;
    for (int32_t u = 0; u < count; ++u)
      insert(u, choice.give[static_cast<size_t>(u)], all);
  }

  /// `all` without two indices.
  void copyWithout(int32_t index, int32_t orIndex, Lists &lists) const {
    auto filter = [&](const std::vector<Entry> &from, std::vector<Entry> &to) {
      const Entry *entry = from.data();
      Entry *next = to.data();
      for (size_t i = 0; i < all.size; ++i)
        if (entry[i].index != index && entry[i].index != orIndex)
          *next++ = entry[i];
      return static_cast<size_t>(next - to.data());
    };
    lists.size = filter(all.rests, lists.rests);
    filter(all.items, lists.items);
  }

  static void copy(const Lists &from, Lists &to) {
    std::copy_n(from.rests.data(), from.size, to.rests.data());
    std::copy_n(from.items.data(), from.size, to.items.data());
    to.size = from.size;
  }

  /// Largest load and squares of complete lists; stops early, with a score
  /// that is not better, when the largest load exceeds the best one.
  SwapScore evaluate(const Lists &lists) const {
    SwapScore score;
    if (problem.ring == 1) {
      for (int32_t i = 0; i < count; ++i)
        score.largest =
            std::max(score.largest, lists.rests[i].key + lists.items[i].key);
      if (score.largest > best.largest)
        return score;
      for (int32_t i = 0; i < count; ++i)
        score.squares += squareOf(lists.rests[i].key + lists.items[i].key);
      return score;
    }
    for (int32_t i = 0; i < count; ++i) {
      int32_t to = lists.rests[i].index;
      addLoads(to, lists.items[i].index, score);
      if (score.largest > best.largest)
        return score;
    }
    return score;
  }

  /// The score of lists that one index and its item join. With one ring segment
  /// nothing is copied: what is inserted is carried along.
  SwapScore evaluateWith(const Lists &lists, int32_t index, int32_t item) {
    if (problem.ring != 1) {
      copy(lists, joined);
      insert(index, item, joined);
      return evaluate(joined);
    }
    int64_t weight = weightTotals[static_cast<size_t>(item)];
    int64_t rest = totals[static_cast<size_t>(index)] - weight;
    const Entry *rests = lists.rests.data(), *items = lists.items.data();
    size_t size = lists.size;
    SwapScore score;
    // Most changes fail at some load; only the others need their squares.
    int64_t lastRest = rest, lastWeight = weight;
    for (size_t i = 0; i < size; ++i) {
      int64_t load =
          std::max(rests[i].key, lastRest) + std::min(items[i].key, lastWeight);
      score.largest = std::max(score.largest, load);
      if (load > best.largest)
        return score;
      lastRest = std::min(rests[i].key, lastRest);
      lastWeight = std::max(items[i].key, lastWeight);
    }
    score.largest = std::max(score.largest, lastRest + lastWeight);
    if (score.largest > best.largest)
      return score;
    for (size_t i = 0; i < size; ++i) {
      score.squares += squareOf(std::max(rests[i].key, rest) +
                                std::min(items[i].key, weight));
      rest = std::min(rests[i].key, rest);
      weight = std::max(items[i].key, weight);
    }
    score.squares += squareOf(rest + weight);
    return score;
  }

  /// Adds the loads of index `to` when it receives the item of `from`.
  void addLoads(int32_t to, int32_t from, SwapScore &score) const {
    const int64_t *load = problem.loadsOf(to);
    const int64_t *out =
        problem.weightsOf(choice.give[static_cast<size_t>(to)]);
    const int64_t *in =
        problem.weightsOf(choice.give[static_cast<size_t>(from)]);
    for (int64_t r = 0; r < problem.ring; ++r) {
      int64_t value = load[r] - out[r] + in[r];
      score.largest = std::max(score.largest, value);
      score.squares += squareOf(value);
    }
  }

  /// Takes the best change of one index's item.
  bool improveOne() {
    int32_t bestIndex = -1, bestItem = 0;
    for (int32_t u = 0; u < count; ++u) {
      int32_t &give = choice.give[static_cast<size_t>(u)];
      int32_t old = give;
      copyWithout(u, u, one);
      for (int32_t item : problem.items[static_cast<size_t>(u)]) {
        if (item == old)
          continue;
        give = item;
        SwapScore score = evaluateWith(one, u, item);
        if (score < best) {
          best = score;
          bestIndex = u;
          bestItem = item;
        }
      }
      give = old;
    }
    if (bestIndex < 0)
      return false;
    choice.give[static_cast<size_t>(bestIndex)] = bestItem;
    rebuild();
    return true;
  }

  /// Takes the best change of two indices' items, one of which is the most
  /// loaded index or the one it receives from.
  bool improveTwo() {
    int32_t heaviest = 0, giver = 0;
    int64_t largest = -1;
    for (int32_t i = 0; i < count; ++i) {
      SwapScore score;
      addLoads(all.rests[i].index, all.items[i].index, score);
      if (score.largest > largest) {
        largest = score.largest;
        heaviest = all.rests[i].index;
        giver = all.items[i].index;
      }
    }
    int32_t bestPair[2] = {-1, -1}, bestItems[2] = {0, 0};
    for (int32_t first : {heaviest, giver}) {
      if (first == giver && giver == heaviest && bestPair[0] >= 0)
        break;
      for (int32_t second = 0; second < count; ++second)
        if (second != first)
          tryPair(first, second, bestPair, bestItems);
    }
    if (bestPair[0] < 0)
      return false;
    for (int i = 0; i < 2; ++i)
      choice.give[static_cast<size_t>(bestPair[i])] = bestItems[i];
    rebuild();
    return true;
  }

  void tryPair(int32_t first, int32_t second, int32_t (&bestPair)[2],
               int32_t (&bestItems)[2]) {
    int32_t &giveFirst = choice.give[static_cast<size_t>(first)];
    int32_t &giveSecond = choice.give[static_cast<size_t>(second)];
    int32_t oldFirst = giveFirst, oldSecond = giveSecond;
    copyWithout(first, second, base);
    for (int32_t a : problem.items[static_cast<size_t>(first)]) {
      if (a == oldFirst)
        continue;
      giveFirst = a;
      copy(base, one);
      insert(first, a, one);
      for (int32_t b : problem.items[static_cast<size_t>(second)]) {
        if (b == oldSecond)
          continue;
        giveSecond = b;
        SwapScore score = evaluateWith(one, second, b);
        if (score < best) {
          best = score;
          bestPair[0] = first;
          bestPair[1] = second;
          bestItems[0] = a;
          bestItems[1] = b;
        }
      }
      giveSecond = oldSecond;
    }
    giveFirst = oldFirst;
  }

  /// Exchanges what two indices receive while the whole objective improves:
  /// fewer moves between equal loads, and the segments of a ring, which sorting
  /// by totals does not see.
  void exchangeReceivers() {
    SwapScore current = scoreOf(problem, choice);
    bool improved = true;
    for (int round = 0; improved && round < maxRounds; ++round) {
      improved = false;
      for (size_t u = 0; u < choice.source.size(); ++u)
        for (size_t v = u + 1; v < choice.source.size(); ++v) {
          std::swap(choice.source[u], choice.source[v]);
          SwapScore score = scoreOf(problem, choice);
          if (score < current) {
            current = score;
            improved = true;
          } else {
            std::swap(choice.source[u], choice.source[v]);
          }
        }
    }
  }

  const SwapProblem &problem;
  SwapChoice choice;
  int32_t count;
  std::vector<int64_t> totals;       ///< load of each index, all segments
  std::vector<int64_t> weightTotals; ///< weight of each item, all segments
  SwapScore best;
  Lists all, base, one, joined;
};

} // namespace

SwapChoice sart::searchSwaps(const SwapProblem &problem) {
  return SwapSearch(problem).run();
}

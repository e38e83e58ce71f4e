//===- SplitEdges.cpp - Fewest transfers that balance loads ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks that exchange work form groups. A group whose mean is at most the
// ceiling needs one edge less than it has ranks, so the fewest edges are a
// partition into such groups with most groups among the ranks that take part.
// Dynamic programming over sets: the group of the lowest rank above the ceiling
// is chosen first, so that about 3^(n - 1) / 2 pairs of sets are looked at.
// Among partitions with equally many edges the one with the lowest largest mean
// is taken: a lower load for the same number of transfers.
//
//===----------------------------------------------------------------------===//
#include "SplitProblem.h"

#include <algorithm>
#include <numeric>

using namespace sart;

namespace {

constexpr size_t maxExactLoads = 12;

int64_t meanOf(int64_t sum, int64_t count) {
  return sum / count + (sum % count != 0);
}

/// Members of a group, given as positions in `loads`, level to `target`:
/// largest surplus to largest deficit (north-west corner).
void levelGroup(const std::vector<int64_t> &loads,
                const std::vector<int32_t> &members, int64_t target,
                std::vector<SplitEdge> &edges) {
  std::vector<SplitEdge> surplus, deficit; // amount, and `from` as the index
  for (int32_t i : members) {
    int64_t excess = loads[static_cast<size_t>(i)] - target;
    if (excess > 0)
      surplus.push_back({i, i, excess});
    else if (excess < 0)
      deficit.push_back({i, i, -excess});
  }
  auto larger = [](const SplitEdge &a, const SplitEdge &b) {
    return a.amount != b.amount ? a.amount > b.amount : a.from < b.from;
  };
  std::sort(surplus.begin(), surplus.end(), larger);
  std::sort(deficit.begin(), deficit.end(), larger);
  size_t d = 0;
  for (SplitEdge &giver : surplus)
    while (giver.amount > 0 && d < deficit.size()) {
      int64_t amount = std::min(giver.amount, deficit[d].amount);
      edges.push_back({giver.from, deficit[d].from, amount});
      giver.amount -= amount;
      deficit[d].amount -= amount;
      if (deficit[d].amount == 0)
        ++d;
    }
}

/// At most 12 loads, at least one of them above the ceiling.
class Partition {
public:
  Partition(const std::vector<int64_t> &loads, int64_t ceiling)
      : count(loads.size()), order(loads.size()),
        sums(size_t(1) << loads.size(), 0), states(sums.size()) {
    std::iota(order.begin(), order.end(), 0);
    // Descending, so that ranks above the ceiling take the lowest bits.
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      int64_t loadA = loads[static_cast<size_t>(a)];
      int64_t loadB = loads[static_cast<size_t>(b)];
      return loadA != loadB ? loadA > loadB : a < b;
    });
    for (size_t bit = 0; bit < count; ++bit) {
      int64_t load = loads[static_cast<size_t>(order[bit])];
      if (load > ceiling)
        above |= uint32_t(1) << bit;
      for (size_t set = 0; set < size_t(1) << bit; ++set)
        sums[set | size_t(1) << bit] = sums[set] + load;
    }
    means.reserve(sums.size());
    means.push_back(0);
    sizes.push_back(0);
    for (size_t set = 1; set < sums.size(); ++set) {
      sizes.push_back(static_cast<uint8_t>(sizes[set >> 1] + (set & 1)));
      means.push_back(meanOf(sums[set], sizes[set]));
    }
    solve(ceiling);
  }

  int64_t target() const { return states.back().mean; }

  /// The groups that exchange work, as positions in the loads.
  std::vector<std::vector<int32_t>> groups() const {
    std::vector<std::vector<int32_t>> result;
    for (uint32_t set = static_cast<uint32_t>(states.size() - 1); set & above;
         set ^= states[set].group) {
      std::vector<int32_t> members;
      for (size_t bit = 0; bit < count; ++bit)
        if (states[set].group >> bit & 1)
          members.push_back(order[bit]);
      result.push_back(std::move(members));
    }
    return result;
  }

private:
  /// Best partition of the ranks of a set that take part.
  struct State {
    int64_t mean = 0; ///< largest over its groups
    int32_t edges = 0;
    uint32_t group = 0; ///< that of the lowest rank above the ceiling
  };

  void solve(int64_t ceiling) {
    uint32_t all = static_cast<uint32_t>(states.size() - 1);
    // The first group holds bit 0, so no other set with it comes up.
    for (uint32_t set = 2; set < all; set += 2)
      if (set & above)
        solveSet(set, ceiling);
    solveSet(all, ceiling);
  }

  void solveSet(uint32_t set, int64_t ceiling) {
    uint32_t lowest = set & (~set + 1), others = set ^ lowest;
    State best;
    best.edges = static_cast<int32_t>(count);
    for (uint32_t sub = others;; sub = (sub - 1) & others) {
      uint32_t group = sub | lowest;
      const State &rest = states[set ^ group];
      int32_t edges = rest.edges + sizes[group] - 1;
      if (means[group] <= ceiling && edges <= best.edges) {
        int64_t mean = std::max(rest.mean, means[group]);
        if (edges < best.edges || mean < best.mean)
          best = {mean, edges, group};
      }
      if (sub == 0)
        break;
    }
    // A set may hold no group that fits: it is never part of a solution.
    states[set] = best;
  }

  size_t count;
  std::vector<int32_t> order;
  uint32_t above = 0;
  std::vector<int64_t> sums, means;
  std::vector<uint8_t> sizes;
  std::vector<State> states;
};

/// Many loads: the largest surplus goes whole to the smallest deficit that
/// holds it, or fills the largest one.
std::vector<SplitEdge> bestFitEdges(const std::vector<int64_t> &loads,
                                    int64_t ceiling) {
  std::vector<std::pair<int64_t, int32_t>> surplus, deficit;
  for (size_t i = 0; i < loads.size(); ++i)
    if (loads[i] > ceiling)
      surplus.emplace_back(loads[i] - ceiling, static_cast<int32_t>(i));
    else if (loads[i] < ceiling)
      deficit.emplace_back(ceiling - loads[i], static_cast<int32_t>(i));
  std::sort(surplus.begin(), surplus.end());
  std::sort(deficit.begin(), deficit.end());
  std::vector<SplitEdge> edges;
  while (!surplus.empty() && !deficit.empty()) {
    auto [amount, from] = surplus.back();
    surplus.pop_back();
    auto fit = std::lower_bound(deficit.begin(), deficit.end(),
                                std::make_pair(amount, int32_t(-1)));
    if (fit == deficit.end())
      --fit;
    auto [room, to] = *fit;
    deficit.erase(fit);
    edges.push_back({from, to, std::min(amount, room)});
    auto insert = [](auto &list, int64_t left, int32_t index) {
      std::pair<int64_t, int32_t> entry(left, index);
      list.insert(std::lower_bound(list.begin(), list.end(), entry), entry);
    };
    if (amount > room)
      insert(surplus, amount - room, from);
    else if (room > amount)
      insert(deficit, room - amount, to);
  }
  return edges;
}

} // namespace

std::vector<SplitEdge> sart::planEdges(const std::vector<int64_t> &loads,
                                       int64_t ceiling, int64_t least,
                                       int64_t &target) {
  std::vector<SplitEdge> edges;
  target = std::max(ceiling, least);
  if (*std::max_element(loads.begin(), loads.end()) <= target)
    return edges;
  if (loads.size() > maxExactLoads)
    return bestFitEdges(loads, target);
  Partition partition(loads, target);
  target = std::max(partition.target(), least);
  for (const std::vector<int32_t> &group : partition.groups())
    levelGroup(loads, group, target, edges);
  return edges;
}

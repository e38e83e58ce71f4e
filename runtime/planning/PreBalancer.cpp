//===- PreBalancer.cpp - Owners before the exchange -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data that have not been exchanged yet go straight to any rank, so heads may
// have any owner at no price. Equal counts keep the all-to-all even.
//
//===----------------------------------------------------------------------===//
#include "PreProblem.h"

#include <algorithm>
#include <numeric>

using namespace sart;

HeadCosts::HeadCosts(const HeadLoads &loads, const Placement &placement,
                     const RowCosts &rows)
    : heads(loads.heads), ring(loads.ring),
      order(static_cast<size_t>(loads.heads)) {
  costs.reserve(loads.tiles.size());
  std::vector<int64_t> totals(static_cast<size_t>(heads), 0);
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t r = 0; r < ring; ++r) {
      costs.push_back(rows.of(loads.tiles[static_cast<size_t>(head * ring + r)],
                              placement.qBlocksOf(r).size()));
      totals[static_cast<size_t>(head)] += costs.back();
    }
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    int64_t totalA = totals[static_cast<size_t>(a)];
    int64_t totalB = totals[static_cast<size_t>(b)];
    return totalA != totalB ? totalA > totalB : a < b;
  });
}

namespace {

/// Heads in bins of at most `most` heads.
class OwnerSearch {
public:
  OwnerSearch(const HeadCosts &costs, int64_t bins)
      : costs(costs), bins(bins), most((costs.heads + bins - 1) / bins),
        loads(static_cast<size_t>(bins * costs.ring), 0),
        members(static_cast<size_t>(bins)) {}

  std::vector<int64_t> run() {
    for (int32_t head : costs.order)
      place(head);
    // Every exchange lowers the larger one of two loads, one of which is the
    // largest; the bound only caps the time.
    int64_t maxRounds = 4 * bins + 64;
    for (int64_t round = 0; round < maxRounds && improve(); ++round) {
    }
    std::vector<int64_t> owners(static_cast<size_t>(costs.heads), 0);
    for (int64_t bin = 0; bin < bins; ++bin)
      for (int32_t head : members[static_cast<size_t>(bin)])
        owners[static_cast<size_t>(head)] = bin;
    return owners;
  }

private:
  const int64_t *loadsOf(int64_t bin) const {
    return loads.data() + bin * costs.ring;
  }

  /// Slowest rank of a bin that gives `out` and takes `in`, either may be null.
  int64_t slowest(int64_t bin, const int64_t *out, const int64_t *in) const {
    int64_t result = 0;
    for (int64_t r = 0; r < costs.ring; ++r)
      result = std::max(result, loadsOf(bin)[r] - (out ? out[r] : 0) +
                                    (in ? in[r] : 0));
    return result;
  }

  void add(int64_t bin, int32_t head, int64_t sign) {
    for (int64_t r = 0; r < costs.ring; ++r)
      loads[static_cast<size_t>(bin * costs.ring + r)] +=
          sign * costs.of(head)[r];
  }

  bool hasRoom(int64_t bin) const {
    return static_cast<int64_t>(members[static_cast<size_t>(bin)].size()) <
           most;
  }

  void place(int32_t head) {
    int64_t best = -1, bestTime = 0;
    for (int64_t bin = 0; bin < bins; ++bin) {
      if (!hasRoom(bin))
        continue;
      int64_t time = slowest(bin, nullptr, costs.of(head));
      if (best < 0 || time < bestTime) {
        best = bin;
        bestTime = time;
      }
    }
    members[static_cast<size_t>(best)].push_back(head);
    add(best, head, 1);
  }

  /// The exchange of a head of the slowest bin, for a head or for nothing,
  /// after which the slower one of the two bins is fastest.
  bool improve() {
    int64_t from = 0, time = -1;
    for (int64_t bin = 0; bin < bins; ++bin)
      if (int64_t own = slowest(bin, nullptr, nullptr); own > time) {
        time = own;
        from = bin;
      }
    int64_t to = -1;
    size_t give = 0, take = 0;
    const std::vector<int32_t> &own = members[static_cast<size_t>(from)];
    for (size_t a = 0; a < own.size(); ++a) {
      const int64_t *out = costs.of(own[a]);
      for (int64_t bin = 0; bin < bins; ++bin) {
        if (bin == from)
          continue;
        const std::vector<int32_t> &other = members[static_cast<size_t>(bin)];
        for (size_t b = hasRoom(bin) ? 0 : 1; b <= other.size(); ++b) {
          const int64_t *in = b == 0 ? nullptr : costs.of(other[b - 1]);
          int64_t after = slowest(from, out, in);
          if (after < time)
            after = std::max(after, slowest(bin, in, out));
          if (after < time) {
            time = after;
            to = bin;
            give = a;
            take = b;
          }
        }
      }
    }
    if (to < 0)
      return false;
    std::vector<int32_t> &mine = members[static_cast<size_t>(from)];
    std::vector<int32_t> &other = members[static_cast<size_t>(to)];
    int32_t given = mine[give];
    add(from, given, -1);
    add(to, given, 1);
    if (take == 0) {
      mine.erase(mine.begin() + static_cast<int64_t>(give));
      other.push_back(given);
      return true;
    }
    int32_t taken = other[take - 1];
    add(to, taken, -1);
    add(from, taken, 1);
    mine[give] = taken;
    other[take - 1] = given;
    return true;
  }

  const HeadCosts &costs;
  int64_t bins, most;
  std::vector<int64_t> loads; ///< [bins][ring]
  std::vector<std::vector<int32_t>> members;
};

} // namespace

std::vector<int64_t> sart::planOwners(const HeadLoads &loads,
                                      const Placement &placement,
                                      const CostModel &cost) {
  RowCosts rows(loads, {}, placement.shape.qBlocks(), cost);
  HeadCosts costs(loads, placement, rows);
  std::vector<int64_t> owners =
      OwnerSearch(costs, placement.mesh.ulysses).run();
  std::vector<int64_t> names;
  nameBins(owners, placement, names);
  return owners;
}

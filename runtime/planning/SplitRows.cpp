//===- SplitRows.cpp - Rows that carry the transfers ----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SplitProblem.h"

#include <algorithm>
#include <limits>

using namespace sart;

namespace {

class Realizer {
public:
  Realizer(const SplitProblem &problem, int64_t target)
      : problem(problem), target(target), freeRows(problem.items.size()),
        freeCosts(problem.items.size()), kvBytes(problem.items.size(), -1),
        hasKv(problem.hasKv), loads(problem.loads),
        into(problem.loads.size(), 0), outOf(problem.loads.size(), 0) {
    for (size_t i = 0; i < problem.items.size(); ++i) {
      freeRows[i] = problem.items[i].rows;
      freeCosts[i] = problem.items[i].cost;
    }
  }

  std::vector<SplitPiece> run(std::vector<SplitEdge> &edges) {
    std::sort(edges.begin(), edges.end(),
              [](const SplitEdge &a, const SplitEdge &b) {
                if (a.amount != b.amount)
                  return a.amount > b.amount;
                return a.from != b.from ? a.from < b.from : a.to < b.to;
              });
    for (const SplitEdge &edge : edges)
      ship(edge);
    polish();
    return std::move(pieces);
  }

private:
  struct Window {
    int32_t item = -1;
    Range rows;
    int64_t cost = 0;
    int64_t bytes = std::numeric_limits<int64_t>::max();
  };

  void ship(const SplitEdge &edge) {
    int64_t amount = edge.amount;
    auto full = [&](const std::vector<int64_t> &counts, int32_t bin) {
      return counts[static_cast<size_t>(bin)] >= problem.options.maxPieces;
    };
    while (amount > 0 && !full(outOf, edge.from) && !full(into, edge.to)) {
      Window best = cheapest(edge, amount);
      if (best.item < 0)
        best = largest(edge);
      if (best.item < 0 || best.rows.empty())
        return;
      take(edge, best);
      amount -= best.cost;
    }
  }

  int64_t extraKvBytes(int32_t item, int32_t to) {
    const LayerShape &shape = problem.placement.shape;
    const SplitItem &own = problem.items[static_cast<size_t>(item)];
    if (hasKv[static_cast<size_t>(to * shape.kvHeads +
                                  shape.kvHeadOf(own.head))])
      return 0;
    int64_t &bytes = kvBytes[static_cast<size_t>(item)];
    if (bytes < 0)
      bytes = problem.kvBytesOf(own);
    return bytes;
  }

  /// The window with the fewest bytes that holds the amount, to the nearest
  /// row; item -1 when no head has that much left. No rows when less than half
  /// a row is meant.
  Window cheapest(const SplitEdge &edge, int64_t amount) {
    Window best;
    const LayerShape &shape = problem.placement.shape;
    int64_t blockBytes = problem.rowBytesOf({0, 1});
    for (int32_t item = problem.firstItem[static_cast<size_t>(edge.from)];
         item < problem.firstItem[static_cast<size_t>(edge.from) + 1]; ++item) {
      if (freeCosts[static_cast<size_t>(item)] < amount)
        continue;
      int64_t fixed = extraKvBytes(item, edge.to);
      if (fixed >= best.bytes)
        continue;
      // More rows than this cannot be cheaper.
      int64_t most =
          best.item < 0
              ? shape.qBlocks()
              : (best.bytes - fixed) / std::max<int64_t>(blockBytes, 1) + 1;
      for (bool fromEnd : {false, true}) {
        Window window = scan(item, amount, fromEnd, most);
        if (window.item < 0)
          continue;
        window.bytes =
            window.rows.empty() ? 0 : fixed + problem.rowBytesOf(window.rows);
        if (window.bytes < best.bytes)
          best = window;
      }
    }
    return best;
  }

  Window scan(int32_t item, int64_t amount, bool fromEnd, int64_t most) const {
    Range rows = freeRows[static_cast<size_t>(item)];
    int64_t head = problem.items[static_cast<size_t>(item)].head;
    const int32_t *tiles =
        problem.costs.rowTiles + head * problem.costs.qBlocks;
    int64_t cost = 0;
    for (int64_t i = 0; i < std::min(rows.size(), most); ++i) {
      int64_t row = fromEnd ? rows.end - 1 - i : rows.begin + i;
      int64_t more = problem.costs.of(tiles[row], 1);
      cost += more;
      if (cost < amount)
        continue;
      Window window;
      window.item = item;
      window.cost = cost;
      int64_t size = i + 1;
      // One row less may be nearer.
      if (amount - (cost - more) < cost - amount) {
        window.cost -= more;
        --size;
      }
      window.rows = fromEnd ? Range{rows.end - size, rows.end}
                            : Range{rows.begin, rows.begin + size};
      return window;
    }
    return Window();
  }

  /// All that is left of the head with most of it.
  Window largest(const SplitEdge &edge) {
    Window best;
    for (int32_t item = problem.firstItem[static_cast<size_t>(edge.from)];
         item < problem.firstItem[static_cast<size_t>(edge.from) + 1]; ++item)
      if (freeCosts[static_cast<size_t>(item)] > best.cost) {
        best.item = item;
        best.cost = freeCosts[static_cast<size_t>(item)];
      }
    if (best.item >= 0) {
      best.rows = freeRows[static_cast<size_t>(best.item)];
      best.bytes =
          extraKvBytes(best.item, edge.to) + problem.rowBytesOf(best.rows);
    }
    return best;
  }

  void take(const SplitEdge &edge, const Window &window) {
    size_t item = static_cast<size_t>(window.item);
    Range &rows = freeRows[item];
    if (window.rows.begin == rows.begin)
      rows.begin = window.rows.end;
    else
      rows.end = window.rows.begin;
    freeCosts[item] -= window.cost;
    loads[static_cast<size_t>(edge.from)] -= window.cost;
    loads[static_cast<size_t>(edge.to)] += window.cost;
    ++outOf[static_cast<size_t>(edge.from)];
    ++into[static_cast<size_t>(edge.to)];
    const LayerShape &shape = problem.placement.shape;
    hasKv[static_cast<size_t>(edge.to * shape.kvHeads +
                              shape.kvHeadOf(problem.items[item].head))] = 1;
    pieces.push_back({window.item, edge.from, edge.to, window.rows, window.cost,
                      window.bytes});
  }

  void polish() {
    std::vector<RowCut> cuts;
    std::vector<uint8_t> listed(problem.items.size(), 0);
    for (size_t i = 0; i < pieces.size(); ++i) {
      size_t item = static_cast<size_t>(pieces[i].item);
      int32_t head = problem.items[item].head;
      cuts.push_back(
          {head, pieces[i].to, pieces[i].rows, static_cast<int32_t>(i)});
      if (!listed[item] && !freeRows[item].empty())
        cuts.push_back({head, pieces[i].from, freeRows[item], -1});
      listed[item] = 1;
    }
    std::sort(cuts.begin(), cuts.end(), [](const RowCut &a, const RowCut &b) {
      return a.head != b.head ? a.head < b.head : a.rows.begin < b.rows.begin;
    });
    polishCuts(cuts, problem.costs, target, loads);
    for (const RowCut &cut : cuts) {
      if (cut.tag < 0)
        continue;
      SplitPiece &piece = pieces[static_cast<size_t>(cut.tag)];
      piece.bytes += problem.rowBytesOf(cut.rows);
      piece.bytes -= problem.rowBytesOf(piece.rows);
      piece.cost = problem.costs.ofRows(cut.head, cut.rows);
      piece.rows = cut.rows;
    }
  }

  const SplitProblem &problem;
  int64_t target;
  std::vector<Range> freeRows;    ///< of each item, always one range
  std::vector<int64_t> freeCosts; ///< of each item
  std::vector<int64_t> kvBytes;   ///< of each item, -1: not asked for yet
  std::vector<uint8_t> hasKv;
  std::vector<int64_t> loads, into, outOf;
  std::vector<SplitPiece> pieces;
};

} // namespace

void sart::polishCuts(std::vector<RowCut> &cuts, const RowCosts &costs,
                      int64_t target, std::vector<int64_t> &loads) {
  // Every change lowers the larger one of two loads, so this ends; the bound
  // only caps the time.
  constexpr int maxRounds = 64;
  bool changed = true;
  for (int round = 0; changed && round < maxRounds; ++round) {
    changed = false;
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      RowCut &a = cuts[i], &b = cuts[i + 1];
      if (a.head != b.head || a.rows.end != b.rows.begin)
        continue;
      int64_t &loadA = loads[static_cast<size_t>(a.bin)];
      int64_t &loadB = loads[static_cast<size_t>(b.bin)];
      if (std::max(loadA, loadB) <= target || a.bin == b.bin)
        continue;
      if (loadA > loadB && a.rows.size() > 1) {
        int64_t cost = costs.ofRow(a.head, a.rows.end - 1);
        if (loadB + cost < loadA) {
          --a.rows.end;
          --b.rows.begin;
          loadA -= cost;
          loadB += cost;
          changed = true;
        }
      } else if (loadB > loadA && b.rows.size() > 1) {
        int64_t cost = costs.ofRow(b.head, b.rows.begin);
        if (loadA + cost < loadB) {
          ++a.rows.end;
          ++b.rows.begin;
          loadA += cost;
          loadB -= cost;
          changed = true;
        }
      }
    }
  }
}

std::vector<SplitPiece> sart::realizeEdges(const SplitProblem &problem,
                                           std::vector<SplitEdge> edges,
                                           int64_t target) {
  return Realizer(problem, target).run(edges);
}

//===- SplitBalancer.cpp - Row ranges that leave loaded ranks -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fractional repair of a mask under a head-parallel placement. Per axis: the
// fewest transfers for each allowed excess (SplitEdges.cpp), rows for them
// (SplitRows.cpp), and a gate that predicts the slowest rank's time.
//
//===----------------------------------------------------------------------===//
#include "SplitProblem.h"

#include <algorithm>

using namespace sart;

namespace {

/// The best pieces for one axis; none when nothing is gained.
std::vector<SplitPiece> balanceAxis(const SplitProblem &problem,
                                    int64_t least) {
  WideCost sum = 0;
  for (int64_t load : problem.loads)
    sum += load;
  WideCost price =
      (WideCost(problem.options.cost.scheduleNs) * 1000) >> problem.costs.shift;
  WideCost best = problem.predict({}) - price;
  std::vector<SplitPiece> chosen;
  size_t lastEdges = 0;
  bool first = true;
  for (int64_t epsilon : problem.options.epsilonMilli) {
    WideCost parts = WideCost(1000) * problem.bins;
    int64_t ceiling =
        static_cast<int64_t>((sum * (1000 + epsilon) + parts - 1) / parts);
    int64_t target = 0;
    std::vector<SplitEdge> edges =
        planEdges(problem.loads, ceiling, least, target);
    // No more edges means no other answer.
    if (first || edges.size() != lastEdges) {
      first = false;
      lastEdges = edges.size();
      std::vector<SplitPiece> pieces =
          realizeEdges(problem, std::move(edges), target);
      WideCost time = problem.predict(pieces);
      if (!pieces.empty() && time < best) {
        best = time;
        chosen = std::move(pieces);
      }
    }
    // A wider excess saves transfers only with loads above this one's ceiling.
    if (lastEdges == 0 || std::max(ceiling, least) >= best)
      break;
  }
  return chosen;
}

} // namespace

Status SplitOptions::verify() const {
  int64_t least = 0;
  for (int64_t epsilon : epsilonMilli) {
    if (epsilon < least || epsilon > 1000)
      return makeError("excess of the largest load out of range: got ", epsilon,
                       ", expected ascending thousandths, ", least, " to 1000");
    least = epsilon + 1;
  }
  if (maxPieces < 1)
    return makeError("row moves per rank out of range: got ", maxPieces,
                     ", expected at least 1");
  return Status::success();
}

std::vector<RowMove> sart::planSplits(const MaskSummary &summary,
                                      const std::vector<int64_t> &owners,
                                      const Placement &placement,
                                      const SplitOptions &options) {
  std::vector<RowMove> moves;
  const Mesh &mesh = placement.mesh;
  if (mesh.ranks() < 2)
    return moves;
  RowCosts costs(summary.loads, summary.rowTiles, placement.shape.qBlocks(),
                 options.cost);
  bool alongRing = mesh.ring > 1;
  int64_t groups = alongRing ? mesh.ulysses : 1;
  std::vector<SplitProblem> axes;
  axes.reserve(static_cast<size_t>(groups));
  for (int64_t group = 0; group < groups; ++group)
    axes.emplace_back(summary, costs, owners, placement, alongRing, group,
                      options);
  // No rank need be faster than the mean of the slowest group.
  int64_t least = 0;
  for (const SplitProblem &axis : axes) {
    int64_t sum = 0;
    for (int64_t load : axis.loads)
      sum += load;
    least = std::max(least, (sum + axis.bins - 1) / axis.bins);
  }
  for (const SplitProblem &axis : axes)
    for (const SplitPiece &piece : balanceAxis(axis, least))
      moves.push_back({axis.items[static_cast<size_t>(piece.item)].head,
                       piece.rows, axis.rankOf(piece.from),
                       axis.rankOf(piece.to)});
  std::sort(moves.begin(), moves.end(), [](const RowMove &a, const RowMove &b) {
    return a.head != b.head ? a.head < b.head
                            : a.qBlocks.begin < b.qBlocks.begin;
  });
  return moves;
}

//===- RunCollector.cpp - Statistics of a run from its ranks --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutorState.h"

#include <algorithm>
#include <tuple>

using namespace sart;

void sart::collectStats(const ExecutorShared &shared, RunStats &stats) {
  const Placement &placement = shared.program.placement;
  const LayerShape &shape = placement.shape;
  auto ranks = static_cast<size_t>(shared.ranks());
  stats = RunStats();
  stats.programHash = shared.programHash;
  stats.bytesSent.assign(ranks * ranks, 0);
  for (size_t rank = 0; rank < ranks; ++rank) {
    const RankRecord &record = shared.records[rank];
    std::copy(record.sent.begin(), record.sent.end(),
              stats.bytesSent.begin() + static_cast<int64_t>(rank * ranks));
    stats.bytesExchange += record.exchange;
    stats.bytesMoved += record.moved;
    stats.bytesRouted += record.routed;
    stats.loadsAfter.push_back(record.tiles);
    stats.tiles += record.tiles;
    stats.routing += record.routing;
    stats.planNs = std::max(stats.planNs, record.planNs);
    stats.events.insert(stats.events.end(), record.events.begin(),
                        record.events.end());
  }
  std::sort(stats.events.begin(), stats.events.end(),
            [](const TraceEvent &a, const TraceEvent &b) {
              return std::tie(a.beginNs, a.rank, a.instruction) <
                     std::tie(b.beginNs, b.rank, b.instruction);
            });
  const RankRecord &first =
      shared.records[static_cast<size_t>(shared.localRanks().front())];
  if (first.plan) {
    stats.plan = *first.plan;
    stats.loadsBefore = first.routedLoads;
  } else if (shared.program.bound) {
    stats.plan = derivePlan(shared.program);
    stats.loadsBefore = stats.plan.loadsBefore;
  }
  if (stats.plan.heads > 0)
    stats.predicted = countTraffic(stats.plan, placement);
  stats.planHash = stats.plan.hash();
  stats.rhoBefore = imbalance(stats.loadsBefore);
  stats.rhoAfter = imbalance(stats.loadsAfter);
  double all = static_cast<double>(shape.heads) *
               static_cast<double>(shape.qBlocks()) *
               static_cast<double>(shape.kvBlocks());
  int64_t selected = shared.program.bound ? shared.program.mask->tiles() : 0;
  for (const RankRecord &record : shared.records)
    selected += record.rows.tiles() + record.selected;
  stats.density = all > 0 ? static_cast<double>(selected) / all : 0;
}

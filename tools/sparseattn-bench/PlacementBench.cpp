//===- PlacementBench.cpp - Demand placements over traces -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PlacementBench.h"

#include "sparseattn-rt/Plan.h"
#include "sparseattn-rt/Rounds.h"
#include "sparseattn-rt/TraceFile.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>

using namespace sart;

namespace {

/// One trace and its masks as bits.
struct Trace {
  std::string path;
  BlockGrid grid;
  std::vector<MaskBits> masks;
};

Expected<Trace> readTrace(const std::string &path,
                          const PlacementOptions &options) {
  Expected<TraceFile> file = TraceFile::read(path);
  if (!file)
    return file.status();
  Trace trace;
  trace.path = path;
  trace.grid = {file->order, file->tileQ, file->tileK};
  trace.grid.order.hilbertBits = options.hilbertBits;
  for (size_t i = 0; i < file->instances.size(); ++i) {
    Expected<BlockMask> mask = file->mask(static_cast<int64_t>(i));
    if (!mask)
      return makeError(path, ": ", mask.message());
    trace.masks.emplace_back(*mask);
  }
  if (trace.masks.empty())
    return makeError(path, ": trace has no instances: got 0, expected at "
                           "least 1");
  return trace;
}

using Clock = std::chrono::steady_clock;

int64_t microseconds(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() -
                                                               start)
      .count();
}

int64_t median(std::vector<int64_t> &times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

Status addRounds(const RingDemand &demand, PlacementRow &row,
                 std::vector<int64_t> &times) {
  Clock::time_point start = Clock::now();
  Expected<Rounds> rounds = scheduleRounds(demand.ranks, demand.blocks);
  if (!rounds)
    return rounds.status();
  times.push_back(microseconds(start));
  std::vector<int64_t> distances(static_cast<size_t>(demand.ranks - 1));
  std::iota(distances.begin(), distances.end(), 1);
  auto over = [&](int64_t makespan) {
    return rounds->lowerBound == 0
               ? 1
               : static_cast<double>(makespan) /
                     static_cast<double>(rounds->lowerBound);
  };
  row.rounds += over(rounds->makespan);
  row.worstRounds = std::max(row.worstRounds, over(rounds->makespan));
  row.ringRounds += over(ringMakespan(demand.ranks, demand.blocks, distances));
  row.barrierRounds += over(barrierMakespan(demand.ranks, demand.blocks));
  return Status::success();
}

/// What one rule costs over all masks, in the repair's unit.
struct Measured {
  PlacementRow row;
  int64_t cost = 0; ///< of the first instances
};

Expected<Measured> measure(const Trace &trace, const BlockRule &rule,
                           const PlacementOptions &options) {
  Expected<BlockOwners> owners = placeBlocks(rule, trace.grid, options.ranks);
  if (!owners)
    return owners.status();
  RepairOptions repair = options.repair;
  repair.rowTokens = trace.grid.blockQ;
  repair.kvTokens = trace.grid.blockK;
  Measured result;
  PlacementRow &row = result.row;
  row.file = trace.path;
  row.placement = toString(rule);
  row.ranks = options.ranks;
  row.instances = static_cast<int64_t>(trace.masks.size());
  int64_t looked = options.first > 0 ? options.first : row.instances;
  std::vector<int64_t> times, roundsTimes;
  for (const MaskBits &mask : trace.masks) {
    RingDemand before = countRingDemand(mask, *owners);
    row.shareOfRing += before.shareOfRing();
    row.maxPort += before.maxPort();
    row.rho += imbalance(before.loads);
    row.worstRho = std::max(row.worstRho, imbalance(before.loads));
    Clock::time_point start = Clock::now();
    Expected<RowRepair> repaired = repairRows(mask, *owners, repair);
    if (!repaired)
      return repaired.status();
    times.push_back(microseconds(start));
    RingDemand after = countRingDemand(mask, *owners, repaired->rowOwners);
    row.shareRepaired += after.shareOfRing();
    row.maxPortRepaired += after.maxPort();
    row.rhoRepaired += imbalance(after.loads);
    row.worstRhoRepaired =
        std::max(row.worstRhoRepaired, imbalance(after.loads));
    int64_t cost = after.total() * repair.kvTokens +
                   repaired->movedRows * repair.rowTokens;
    int64_t dense = (options.ranks - 1) * mask.kvBlocks() * mask.heads();
    if (dense > 0)
      row.shareWithRows += static_cast<double>(cost) /
                           static_cast<double>(dense * repair.kvTokens);
    row.movedRows += static_cast<double>(repaired->movedRows) /
                     static_cast<double>(mask.heads() * mask.qBlocks());
    row.shifts += static_cast<double>(repaired->shifts.size());
    row.multicastShare += after.multicastShare();
    SART_RETURN_IF_ERROR(addRounds(after, row, roundsTimes));
    if (looked-- > 0)
      result.cost += cost;
  }
  for (double *sum :
       {&row.shareOfRing, &row.rho, &row.maxPort, &row.shareRepaired,
        &row.shareWithRows, &row.rhoRepaired, &row.maxPortRepaired,
        &row.movedRows, &row.shifts, &row.multicastShare, &row.rounds,
        &row.ringRounds, &row.barrierRounds})
    *sum /= static_cast<double>(row.instances);
  row.planUs = median(times);
  row.roundsUs = median(roundsTimes);
  return result;
}

} // namespace

Expected<PlacementResults>
sart::runPlacementBench(const PlacementOptions &options) {
  bool all = options.placement == "all", chooses = options.placement == "auto";
  PlacementResults results;
  for (const std::string &path : options.traces) {
    Expected<Trace> trace = readTrace(path, options);
    if (!trace)
      return trace.status();
    std::vector<BlockRule> rules = blockRules(options.ranks);
    if (!all && !chooses) {
      Expected<BlockRule> rule = parseBlockRule(options.placement);
      if (!rule)
        return rule.status();
      rules = {*rule};
    }
    std::optional<Measured> best;
    for (const BlockRule &rule : rules) {
      Expected<Measured> one = measure(*trace, rule, options);
      if (!one)
        return one.status();
      if (!chooses)
        results.push_back(one->row);
      if (!best || one->cost < best->cost)
        best = std::move(*one);
    }
    if (!all && !chooses)
      continue;
    // It places rows beside blocks, so that it is what travels that counts.
    PlacementRow &row = best->row;
    row.chosen = row.placement;
    row.placement = "auto";
    row.shareOfRule = row.shareOfRing;
    row.shareOfRing = row.shareRepaired;
    row.maxPort = row.maxPortRepaired;
    results.push_back(row);
  }
  return results;
}

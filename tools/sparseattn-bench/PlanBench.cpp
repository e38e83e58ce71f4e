//===- PlanBench.cpp - Planners over traces -------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PlanBench.h"
#include "PlanTraces.h"
#include "Sample.h"

#include "MachineOption.h"

#include "sparseattn-rt/Balance.h"
#include "sparseattn-rt/StepPlanner.h"

#include <algorithm>
#include <map>

using namespace sart;

namespace {

class TraceBench {
public:
  TraceBench(const PlanOptions &options, const TraceFile &trace,
             const Placement &placement, const PlannerOptions &planner)
      : options(options), trace(trace), placement(placement), planner(planner) {
  }

  Status run(PlanRow &row) {
    row.instances = static_cast<int64_t>(trace.instances.size());
    row.hasRows = trace.hasRows;
    row.hasMasks = trace.hasMasks;
    Sample times;
    for (size_t i = 0; i < trace.instances.size(); ++i)
      SART_RETURN_IF_ERROR(runInstance(i, row, times));
    row.planUs = times.empty() ? 0 : times.median();
    for (const auto &[layer, steps] : planners)
      row.planned += steps.decided();
    return Status::success();
  }

private:
  Status runInstance(size_t i, PlanRow &row, Sample &times) {
    MaskSummary summary = summaryOf(trace, static_cast<int64_t>(i), placement);
    auto [steps, isNew] = planners.try_emplace(
        trace.instances[i].layer, placement, planner, options.reuseMilli);
    // Each repetition begins from what the step before left.
    StepPlanner before = steps->second;
    Sample own;
    Plan plan;
    for (int64_t repetition = 0; repetition < options.repetitions;
         ++repetition) {
      steps->second = before;
      int64_t ns = 0;
      Expected<Plan> made = steps->second.plan(summary, &ns);
      if (!made)
        return made.status();
      own.add(static_cast<double>(ns) / 1000);
      plan = std::move(*made);
    }
    times.add(own.median());
    SART_RETURN_IF_ERROR(plan.verify(placement));
    addPlan(plan, summary, row);
    addTails(summary, row);
    return Status::success();
  }

  void addPlan(const Plan &plan, const MaskSummary &summary, PlanRow &row) {
    std::vector<int64_t> loads =
        rankLoads(summary.loads, plan.owners(placement), placement.mesh);
    applyRowMoves(summary, plan.rowMoves, loads);
    row.before.add(imbalance(plan.loadsBefore));
    row.after.add(imbalance(loads));
    row.augmented.add(imbalance(plan.loadsAfter));
    auto largest = [](const std::vector<int64_t> &values) {
      return static_cast<double>(
          *std::max_element(values.begin(), values.end()));
    };
    row.growth.add(
        largest(loads) == 0 ? 1 : largest(plan.loadsAfter) / largest(loads));
    auto heads = static_cast<double>(plan.moves.size());
    auto rows = static_cast<double>(plan.rowMoves.size());
    row.movedHeads.add(heads);
    row.rowMoves.add(rows);
    // Before the exchange, whole heads travel once anyway.
    bool pre = planner.balance == Balance::Pre;
    row.transfers.add(pre ? rows : heads + rows);
    Plan none = plan;
    none.moves.clear();
    none.rowMoves.clear();
    TrafficBytes moved = countTraffic(plan, placement);
    int64_t extra =
        pre ? moved.exchange - countTraffic(none, placement).exchange
            : moved.moved;
    // Shards of unequal length can make it smaller.
    row.bytes.add(static_cast<double>(std::max<int64_t>(extra, 0)));
  }

  /// Over the multiprocessors of each rank's device, heads where they begin.
  void addTails(const MaskSummary &summary, PlanRow &row) {
    if (!trace.hasRows)
      return;
    for (int64_t rank = 0; rank < placement.mesh.ranks(); ++rank) {
      Range rows = placement.qBlocksOf(placement.mesh.ringIndex(rank));
      Range heads = placement.headsOf(placement.mesh.ulyssesIndex(rank));
      if (heads.empty() || rows.empty())
        continue;
      std::vector<int64_t> costs;
      for (int64_t head = heads.begin; head < heads.end; ++head)
        for (int64_t i = rows.begin; i < rows.end; ++i)
          costs.push_back(
              summary.rowTiles[static_cast<size_t>(head * trace.qTiles + i)]);
      for (RowOrder order :
           {RowOrder::Natural, RowOrder::LongestPerHead, RowOrder::Longest}) {
        std::vector<int64_t> ordered = costs;
        orderRows(ordered, rows.size(), order);
        row.tails[static_cast<size_t>(order)].add(
            tailImbalance(ordered, options.processors));
      }
    }
  }

  const PlanOptions &options;
  const TraceFile &trace;
  const Placement &placement;
  const PlannerOptions &planner;
  std::map<int64_t, StepPlanner> planners; ///< of each layer
};

Status benchTrace(const PlanOptions &options, const Machine *machine,
                  const std::string &file, PlanRow &row) {
  row.file = file;
  Expected<TraceFile> trace = TraceFile::read(file);
  if (!trace)
    return trace.status();
  auto inFile = [&](const Status &status) {
    return makeError(file, ": ", status.message());
  };
  Placement placement =
      placementOf(*trace, options.mesh, options.kvHeads, options.headDim);
  placement.blockShards = options.planner.balance == Balance::Pre;
  if (Status status = placement.verify(); !status.ok())
    return inFile(status);
  PlannerOptions planner = options.planner;
  if (machine) {
    if (placement.mesh.ranks() > machine->ranks())
      return makeError("--machine: got ", machine->ranks(),
                       " ranks, expected at least ", placement.mesh.ranks());
    planner.cost = machine->costModel(placement);
  }
  Status status = TraceBench(options, *trace, placement, planner).run(row);
  return status.ok() ? status : inFile(status);
}

} // namespace

Expected<PlanResults> sart::runPlanBench(const PlanOptions &options) {
  Machine machine;
  if (!options.machine.empty()) {
    Expected<Machine> parsed = loadMachine(options.machine);
    if (!parsed)
      return parsed.status();
    machine = std::move(*parsed);
  }
  PlanResults results;
  for (const std::string &file : options.traces) {
    PlanRow row;
    SART_RETURN_IF_ERROR(benchTrace(
        options, options.machine.empty() ? nullptr : &machine, file, row));
    results.rows.push_back(std::move(row));
  }
  return results;
}

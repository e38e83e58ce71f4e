//===- HybridBench.cpp - Ulysses x ring meshes over traces ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PlacementBench.h"

#include "MachineOption.h"

#include "sparseattn-rt/TraceFile.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <chrono>

using namespace sart;

Expected<HybridResults> sart::runHybridBench(const PlacementOptions &options) {
  Expected<Machine> machine = loadMachine(options.machine);
  if (!machine)
    return machine.status();
  HybridResults results;
  for (const std::string &path : options.traces) {
    Expected<TraceFile> file = TraceFile::read(path);
    if (!file)
      return file.status();
    Expected<BlockMask> mask = file->mask(0);
    if (!mask)
      return makeError(path, ": ", mask.message());
    BlockGrid grid = {file->order, file->tileQ, file->tileK};
    grid.order.hilbertBits = options.hilbertBits;
    HybridResult result;
    result.file = path;
    result.machine = machine->name;
    for (bool pipelined : {false, true}) {
      HybridOptions hybrid;
      hybrid.ranks = options.ranks;
      hybrid.headDim = options.headDim;
      hybrid.pipelined = pipelined;
      auto start = std::chrono::steady_clock::now();
      Expected<std::vector<HybridPlan>> plans =
          planHybrids(*mask, grid, *machine, hybrid);
      if (!plans)
        return makeError(path, ": ", plans.message());
      HybridChoice &choice = pipelined ? result.pipelined : result.plain;
      choice.planUs = std::chrono::duration_cast<std::chrono::microseconds>(
                          std::chrono::steady_clock::now() - start)
                          .count();
      choice.chosen = bestHybrid(*plans, *machine, hybrid);
      choice.plans = std::move(*plans);
    }
    results.push_back(std::move(result));
  }
  return results;
}

static double milliseconds(int64_t ps) {
  return static_cast<double>(ps) * 1e-9;
}

static int64_t timeOf(const HybridPlan &plan, bool pipelined) {
  return pipelined ? plan.pipelinedPs : plan.plainPs;
}

/// Time of the mesh without a ring over that of the chosen one; 0 when there is
/// none.
static double gainOf(const HybridChoice &choice, bool pipelined) {
  for (const HybridPlan &plan : choice.plans)
    if (plan.mesh.ring == 1)
      return static_cast<double>(timeOf(plan, pipelined)) /
             static_cast<double>(
                 timeOf(choice.plans[choice.chosen], pipelined));
  return 0;
}

void sart::printTable(const PlacementOptions &, const HybridResults &results,
                      llvm::raw_ostream &os) {
  for (const HybridResult &result : results)
    for (bool pipelined : {false, true}) {
      const HybridChoice &choice = pipelined ? result.pipelined : result.plain;
      os << result.file << " on " << result.machine << ", "
         << (pipelined ? "head by head" : "whole exchanges")
         << "; ms, * is chosen"
         << llvm::format(" (%.2f x a mesh without a ring)\n",
                         gainOf(choice, pipelined))
         << "mesh   placement           rho  demand     in    out  compute   "
            "ring   time\n";
      for (size_t i = 0; i < choice.plans.size(); ++i) {
        const HybridPlan &plan = choice.plans[i];
        os << llvm::format("%2dx%-3d ", static_cast<int>(plan.mesh.ulysses),
                           static_cast<int>(plan.mesh.ring))
           << llvm::format("%-16s", toString(plan.rule).c_str())
           << llvm::format("  %5.3f  %6.3f", plan.rho, plan.demandShare)
           << llvm::format(" %6.2f %6.2f", milliseconds(plan.exchangeInPs),
                           milliseconds(plan.exchangeOutPs))
           << llvm::format("  %7.2f %6.2f %6.2f", milliseconds(plan.computePs),
                           milliseconds(plan.ringPs),
                           milliseconds(timeOf(plan, pipelined)))
           << (i == choice.chosen ? " *\n" : "\n");
      }
    }
}

static void writePlan(llvm::json::OStream &json, const HybridPlan &plan) {
  json.object([&] {
    json.attribute("ulysses", plan.mesh.ulysses);
    json.attribute("ring", plan.mesh.ring);
    json.attribute("placement", toString(plan.rule));
    writeNumber(json, "rho_heads", plan.rhoHeads);
    writeNumber(json, "rho", plan.rho);
    writeNumber(json, "demand_share", plan.demandShare);
    json.attribute("moved_rows", plan.movedRows);
    writeNumber(json, "exchange_in_ms", milliseconds(plan.exchangeInPs));
    writeNumber(json, "exchange_out_ms", milliseconds(plan.exchangeOutPs));
    writeNumber(json, "compute_ms", milliseconds(plan.computePs));
    writeNumber(json, "ring_ms", milliseconds(plan.ringPs));
    writeNumber(json, "busy_ms", milliseconds(plan.busyPs));
    writeNumber(json, "plain_ms", milliseconds(plan.plainPs));
    writeNumber(json, "pipelined_ms", milliseconds(plan.pipelinedPs));
  });
}

void sart::printJson(const PlacementOptions &, const HybridResults &results,
                     llvm::raw_ostream &os) {
  llvm::json::OStream json(os, 2);
  json.array([&] {
    for (const HybridResult &result : results)
      json.object([&] {
        json.attribute("file", result.file);
        json.attribute("machine", result.machine);
        for (bool pipelined : {false, true})
          json.attributeObject(pipelined ? "pipelined" : "plain", [&] {
            const HybridChoice &choice =
                pipelined ? result.pipelined : result.plain;
            const HybridPlan &plan = choice.plans[choice.chosen];
            json.attributeArray("chosen", [&] {
              json.value(plan.mesh.ulysses);
              json.value(plan.mesh.ring);
            });
            json.attribute("placement", toString(plan.rule));
            writeNumber(json, "ulysses_over_chosen", gainOf(choice, pipelined));
            json.attribute("plan_us", choice.planUs);
            json.attributeArray("meshes", [&] {
              for (const HybridPlan &one : choice.plans)
                writePlan(json, one);
            });
          });
      });
  });
  os << "\n";
}

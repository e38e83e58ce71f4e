//===- PlanReport.cpp - Table and JSON of sparseattn-bench plan -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PlanBench.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace sart;

static std::string balanceText(const PlanOptions &options) {
  return std::string(toString(options.planner.balance)) +
         (options.planner.repair ? ", repaired" : "");
}

void sart::printTable(const PlanOptions &options, const PlanResults &results,
                      llvm::raw_ostream &os) {
  os << options.mesh.ulysses << " ulysses x " << options.mesh.ring
     << " ring, balance " << balanceText(options)
     << "; means over the instances (worst)\n";
  os << "file                          rows      rho before         rho after  "
        "        transfers      bytes   plan us\n";
  for (const PlanRow &row : results.rows) {
    os << llvm::format("%-28s  %-8s",
                       llvm::sys::path::filename(row.file).str().c_str(),
                       row.hasRows ? "recorded" : "uniform");
    os << llvm::format("  %.4f (%.4f)  %.4f (%.4f)  %9.2f  %9.3e  %8.1f\n",
                       row.before.mean(), row.before.worst, row.after.mean(),
                       row.after.worst, row.transfers.mean(), row.bytes.mean(),
                       row.planUs);
    if (options.planner.augment)
      os << llvm::format("  with extra tiles: rho %.4f (%.4f), largest load x "
                         "%.4f (%.4f)\n",
                         row.augmented.mean(), row.augmented.worst,
                         row.growth.mean(), row.growth.worst);
    if (options.reuseMilli > 0)
      os << "  planned anew: " << row.planned << " of " << row.instances
         << "\n";
  }
}

static void writeTail(llvm::json::OStream &json, llvm::StringRef name,
                      const Figure &tail) {
  json.attributeObject(name, [&] {
    json.attribute("mean", tail.mean());
    json.attribute("worst", tail.worst);
  });
}

void sart::printJson(const PlanOptions &options, const PlanResults &results,
                     llvm::raw_ostream &os) {
  llvm::json::OStream json(os, 2);
  json.array([&] {
    for (const PlanRow &row : results.rows)
      json.object([&] {
        json.attribute("file", row.file);
        json.attribute("ranks", options.mesh.ranks());
        json.attribute("ulysses", options.mesh.ulysses);
        json.attribute("ring", options.mesh.ring);
        json.attribute("balance",
                       std::string(toString(options.planner.balance)));
        json.attribute("repair", options.planner.repair);
        json.attribute("instances", row.instances);
        json.attribute("rows", row.hasRows ? "recorded" : "uniform");
        json.attribute("demand", row.hasMasks ? "recorded" : "full");
        json.attribute("mean_rho_before", row.before.mean());
        json.attribute("worst_rho_before", row.before.worst);
        json.attribute("mean_rho_after", row.after.mean());
        json.attribute("worst_rho_after", row.after.worst);
        json.attribute("transfers", row.transfers.mean());
        json.attribute("moved_heads", row.movedHeads.mean());
        json.attribute("row_moves", row.rowMoves.mean());
        json.attribute("bytes", row.bytes.mean());
        json.attribute("plan_us", row.planUs);
        json.attribute("planned_anew", row.planned);
        if (options.planner.augment)
          json.attributeObject("augmented", [&] {
            json.attribute("mean_rho", row.augmented.mean());
            json.attribute("worst_rho", row.augmented.worst);
            json.attribute("mean_growth", row.growth.mean());
            json.attribute("worst_growth", row.growth.worst);
          });
        if (row.hasRows)
          json.attributeObject("tail", [&] {
            json.attribute("multiprocessors", options.processors);
            writeTail(json, "natural", row.tails[0]);
            writeTail(json, "longest_per_head", row.tails[1]);
            writeTail(json, "longest", row.tails[2]);
          });
      });
  });
  os << "\n";
}

//===- PlacementReport.cpp - Table and JSON of placements -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PlacementBench.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace sart;

void sart::writeNumber(llvm::json::OStream &json, llvm::StringRef name,
                       double value) {
  json.attributeBegin(name);
  json.rawValue(
      [&](llvm::raw_ostream &os) { os << llvm::format("%.6f", value); });
  json.attributeEnd();
}

void sart::printTable(const PlacementOptions &options,
                      const PlacementResults &results, llvm::raw_ostream &os) {
  os << options.ranks
     << " ranks; shares of a dense ring, means over the instances; left as "
        "placed, right after rows moved: rho up to "
     << options.repair.rhoMilli << " and moved rows up to "
     << options.repair.movedMilli << " thousandths\n";
  std::string file;
  for (const PlacementRow &row : results) {
    if (row.file != file) {
      file = row.file;
      os << file << ", " << row.instances << " instances\n"
         << "placement           share    rho   port |    share  +q,o    rho "
            "  port   moved  shifts\n";
    }
    os << llvm::format("%-16s", row.placement.c_str())
       << llvm::format("  %7.4f  %5.3f  %5.3f |", row.shareOfRing, row.rho,
                       row.maxPort)
       << llvm::format("  %7.4f  %6.4f  %5.3f  %5.3f", row.shareRepaired,
                       row.shareWithRows, row.rhoRepaired, row.maxPortRepaired)
       << llvm::format("  %6.4f  %6.1f", row.movedRows, row.shifts);
    if (!row.chosen.empty())
      os << "  " << row.chosen;
    os << "\n";
  }
}

void sart::printJson(const PlacementOptions &, const PlacementResults &results,
                     llvm::raw_ostream &os) {
  llvm::json::OStream json(os, 2);
  json.array([&] {
    for (const PlacementRow &row : results)
      json.object([&] {
        json.attribute("file", row.file);
        json.attribute("placement", row.placement);
        if (!row.chosen.empty()) {
          json.attribute("chosen", row.chosen);
          writeNumber(json, "share_of_rule", row.shareOfRule);
        }
        json.attribute("ranks", row.ranks);
        json.attribute("instances", row.instances);
        writeNumber(json, "share_of_ring", row.shareOfRing);
        writeNumber(json, "rho", row.rho);
        writeNumber(json, "worst_rho", row.worstRho);
        writeNumber(json, "max_port", row.maxPort);
        writeNumber(json, "rho_repaired", row.rhoRepaired);
        writeNumber(json, "worst_rho_repaired", row.worstRhoRepaired);
        writeNumber(json, "share_repaired", row.shareRepaired);
        writeNumber(json, "share_with_rows", row.shareWithRows);
        writeNumber(json, "max_port_repaired", row.maxPortRepaired);
        writeNumber(json, "moved_rows", row.movedRows);
        writeNumber(json, "shifts", row.shifts);
        writeNumber(json, "multicast_share", row.multicastShare);
        json.attribute("plan_us", row.planUs);
        writeNumber(json, "rounds_over_bound", row.rounds);
        writeNumber(json, "worst_rounds_over_bound", row.worstRounds);
        writeNumber(json, "ring_order_over_bound", row.ringRounds);
        writeNumber(json, "barriers_over_bound", row.barrierRounds);
        json.attribute("rounds_us", row.roundsUs);
      });
  });
  os << "\n";
}

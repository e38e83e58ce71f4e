//===- Explain.cpp - A bound program in plain words -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NumberText.h"
#include "ProgramAccount.h"
#include "sparseattn-rt/Executor.h"

#include <algorithm>

using namespace sart;

namespace {

constexpr const char *trafficNames[numTraffic] = {
    "exchange (q, k, v and o between shards and heads)",
    "moved heads (q, k and v)", "kv-blocks over the ring", "masks and lse"};
constexpr const char *shortNames[numTraffic] = {"exchange", "moved heads",
                                                "ring", "masks and lse"};

class Explainer {
public:
  Explainer(const ValidatorContext &context, const ProgramAccount &account)
      : context(context), account(account) {}

  std::string text() {
    head();
    work();
    bytes();
    criticalPath();
    return out.str();
  }

private:
  void head() {
    const LayerShape &shape = context.shape();
    const BlockMask &mask = *context.program.mask;
    out << "layer " << context.program.name << ": "
        << countText(shape.heads, "head") << " ("
        << countText(shape.kvHeads, "kv head") << ") of " << shape.headDim
        << " " << toString(shape.dtype) << ", " << withCommas(shape.sq)
        << " queries x " << withCommas(shape.skv) << " keys, blocks "
        << shape.blockQ << "x" << shape.blockK
        << (shape.causal ? ", causal" : "") << "\n";
    out << "mesh: " << countText(context.numRanks(), "rank") << ", ulysses "
        << context.mesh().ulysses << " x ring " << context.mesh().ring << "\n";
    out << "mask: " << withCommas(mask.tiles()) << " of "
        << withCommas(mask.heads() * mask.qBlocks() * mask.kvBlocks())
        << " tiles selected (density " << fixed(mask.density(), 3) << ")\n";
  }

  void work() {
    int64_t all = 0;
    std::vector<int64_t> loads;
    for (const ProgramAccount::RankWork &rank : account.work) {
      loads.push_back(rank.tiles);
      all += rank.tiles;
    }
    out << "\nwork per rank\n";
    for (size_t rank = 0; rank < loads.size(); ++rank) {
      const ProgramAccount::RankWork &mine = account.work[rank];
      out << "  rank " << rank << ": " << countText(mine.tiles, "tile");
      if (all > 0)
        out << " ("
            << fixed(100.0 * static_cast<double>(mine.tiles) /
                         static_cast<double>(all),
                     1)
            << " %)";
      out << " in " << countText(mine.rows, "row") << " of "
          << countText(static_cast<int64_t>(mine.heads.size()), "head");
      for (size_t h = 0; h < mine.heads.size(); ++h)
        out << (h == 0 ? " " : ", ") << mine.heads[h];
      out << "\n";
    }
    const Placement &placement = context.program.placement;
    std::vector<int64_t> before =
        rankLoads(countLoads(*context.program.mask, placement),
                  Plan().owners(placement), placement.mesh);
    out << "  imbalance (largest / mean): " << fixed(imbalance(loads), 3)
        << ", with every head where it began " << fixed(imbalance(before), 3)
        << "\n";
  }

  void bytes() {
    out << "\nbytes per link\n";
    int64_t totals[numTraffic] = {};
    int64_t ranks = context.numRanks();
    bool any = false;
    for (int64_t from = 0; from < ranks; ++from) {
      for (int64_t to = 0; to < ranks; ++to) {
        const ProgramAccount::Bytes &link = account.bytes(from, to);
        int64_t sum = 0;
        for (int kind = 0; kind < numTraffic; ++kind) {
          sum = saturatingAdd(sum, link.of[kind]);
          totals[kind] = saturatingAdd(totals[kind], link.of[kind]);
        }
        if (sum == 0)
          continue;
        any = true;
        out << "  rank " << from << " -> rank " << to << ": " << bytesText(sum);
        const char *separator = " (";
        for (int kind = 0; kind < numTraffic; ++kind) {
          if (link.of[kind] == 0)
            continue;
          out << separator << shortNames[kind] << " "
              << bytesText(link.of[kind]);
          separator = ", ";
        }
        out << ")\n";
      }
    }
    if (!any)
      out << "  nothing leaves a rank\n";
    for (int kind = 0; kind < numTraffic; ++kind)
      if (totals[kind] > 0)
        out << "  in all " << trafficNames[kind] << ": "
            << bytesText(totals[kind]) << "\n";
  }

  void criticalPath() {
    const CostModel &cost = context.program.planner.cost;
    out << "\ncritical path (" << withCommas(cost.tilePs) << " ps a tile, "
        << withCommas(cost.rowPs) << " ps a row, "
        << withCommas(cost.transferPs) << " ps a transfer, "
        << withCommas(cost.bytePs) << " ps a byte)\n";
    int32_t at = -1;
    for (int32_t id : account.last)
      if (id >= 0 &&
          (at < 0 || account.at(id).finishPs > account.at(at).finishPs))
        at = id;
    int64_t end = at < 0 ? 0 : account.at(at).finishPs;
    std::vector<int32_t> path;
    for (; at >= 0; at = account.at(at).cause)
      if (account.at(at).costPs > 0)
        path.push_back(at);
    std::reverse(path.begin(), path.end());
    int64_t tiles = 0, bytes = 0;
    for (int32_t id : path) {
      const ProgramAccount::Step &step = account.at(id);
      int64_t rank = account.rankOf(id);
      size_t index = account.schedule.indexOf(id);
      const Instruction &instruction = context.list(rank)[index];
      out << "  rank " << rank << " phase " << instruction.phase
          << " instruction " << index << ", " << toString(instruction.opcode)
          << ": ";
      if (step.tiles > 0)
        out << countText(step.tiles, "tile");
      else
        out << bytesText(step.bytes);
      out << ", " << fixed(static_cast<double>(step.costPs) / 1e6, 3)
          << " us\n";
      tiles += step.tiles;
      bytes = saturatingAdd(bytes, step.bytes);
    }
    out << "  in all " << countText(tiles, "tile") << " and "
        << bytesText(bytes) << ", " << fixed(static_cast<double>(end) / 1e6, 3)
        << " us\n";
  }

  const ValidatorContext &context;
  const ProgramAccount &account;
  std::ostringstream out;
};

} // namespace

std::string sart::explainProgram(const Program &bound) {
  std::vector<Violation> violations = validateBound(bound);
  if (!violations.empty()) {
    std::string text = "the program is not valid:\n";
    for (const Violation &violation : violations)
      text += concat("  ", violation.toString(), "\n");
    return text;
  }
  ValidatorOptions options;
  ValidatorContext context(bound, options);
  checkHeader(context);
  Schedule schedule;
  matchSchedule(context, schedule);
  ProgramAccount account(context, schedule);
  (void)walkSchedule(bound, schedule, account);
  return Explainer(context, account).text();
}

//===- Explain.cpp - A bound program in plain words -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"
#include "ScheduleWalker.h"
#include "ValidatorContext.h"
#include "sparseattn-rt/Executor.h"

#include <algorithm>
#include <iomanip>

using namespace sart;

namespace {

std::string withCommas(int64_t value) {
  std::string digits = std::to_string(value);
  for (size_t at = digits.size(); at > 3; at -= 3)
    digits.insert(at - 3, ",");
  return digits;
}

std::string fixed(double value, int digits) {
  std::ostringstream stream;
  stream << std::fixed << std::setprecision(digits) << value;
  return stream.str();
}

std::string bytesText(int64_t bytes) {
  if (bytes < 10000)
    return concat(withCommas(bytes), " bytes");
  if (bytes < 10000000)
    return concat(fixed(static_cast<double>(bytes) / 1e3, 1), " kB");
  return concat(fixed(static_cast<double>(bytes) / 1e6, 1), " MB");
}

std::string countText(int64_t count, const char *what) {
  return concat(withCommas(count), " ", what, count == 1 ? "" : "s");
}

/// Why bytes travel.
enum Traffic { Exchange, Moved, Ring, Small, numTraffic };
constexpr const char *trafficNames[numTraffic] = {
    "exchange (q, k, v and o between shards and heads)",
    "moved heads (q, k and v)", "kv-blocks over the ring", "masks and lse"};
constexpr const char *shortNames[numTraffic] = {"exchange", "moved heads",
                                                "ring", "masks and lse"};

struct RankWork {
  int64_t tiles = 0, rows = 0;
  std::vector<int64_t> heads;
};

/// What one instruction contributes to a path.
struct Step {
  int64_t finishPs = 0; ///< when it is done
  int64_t costPs = 0;
  int64_t tiles = 0, bytes = 0;
  int32_t cause = -1; ///< instruction that had to finish before
};

/// Walks the program once: work, bytes and times under the cost model.
class Account : public ScheduleVisitor {
public:
  Account(const ValidatorContext &context, const Schedule &schedule)
      : context(context), schedule(schedule),
        cost(context.program.planner.cost), work(context.program.ranks.size()),
        steps(schedule.rankOf.size()), last(context.program.ranks.size(), -1),
        sent(context.program.ranks.size() * context.program.ranks.size()) {}

  void execute(int64_t rank, size_t index) override {
    int32_t id = schedule.idOf(rank, index);
    const Instruction &instruction = context.list(rank)[index];
    int64_t tiles = 0, rows = 0;
    switch (instruction.opcode) {
    case Opcode::Attend:
      attend(rank, instruction, tiles, rows);
      break;
    case Opcode::Send:
    case Opcode::Put:
      count(rank, instruction.peer.values[0], instruction,
            rowsOf(ChunkList(instruction.lists[0].values)), false);
      break;
    default:
      break;
    }
    Step step = after(last[static_cast<size_t>(rank)]);
    auto at = static_cast<size_t>(id);
    if (instruction.opcode == Opcode::Wait)
      for (int32_t a = schedule.awaitedFirst[at];
           a < schedule.awaitedFirst[at + 1]; ++a)
        await(step, schedule.awaited[static_cast<size_t>(a)]);
    else if (instruction.opcode == Opcode::WaitSignal)
      delay(step, schedule.partner[at], 0);
    int64_t compute =
        saturatingAdd(priced(tiles, cost.tilePs), priced(rows, cost.rowPs));
    step.costPs = saturatingAdd(step.costPs, compute);
    step.finishPs = saturatingAdd(step.finishPs, compute);
    step.tiles = tiles;
    steps[at] = step;
    last[static_cast<size_t>(rank)] = id;
  }

  void meet(const Meeting &meeting) override {
    Step start;
    for (int32_t member : meeting.members) {
      int32_t before = last[static_cast<size_t>(rankOf(member))];
      if (before >= 0 &&
          (start.cause < 0 || at(before).finishPs > start.finishPs))
        start = after(before);
    }
    for (size_t i = 0; i < meeting.members.size(); ++i) {
      int64_t rank = rankOf(meeting.members[i]);
      const Instruction &instruction =
          context.list(rank)[schedule.indexOf(meeting.members[i])];
      int64_t remote = 0;
      bool gather = instruction.opcode == Opcode::AllGather;
      int64_t begin = 0;
      for (size_t j = 0; j < meeting.members.size(); ++j) {
        ChunkList chunks(instruction.lists[0].values);
        if (!gather) {
          int64_t parts = instruction.lists[1].values[j];
          chunks = chunks.slice(begin, parts);
          begin += parts;
        }
        if (i != j)
          remote += count(rank, rankOf(meeting.members[j]), instruction,
                          rowsOf(chunks), true);
      }
      Step step = start;
      step.bytes = remote;
      step.costPs = remote > 0 ? transferCost(remote) : 0;
      step.finishPs = saturatingAdd(step.finishPs, step.costPs);
      at(meeting.members[i]) = step;
      last[static_cast<size_t>(rank)] = meeting.members[i];
    }
  }

  const Step &at(int32_t id) const { return steps[static_cast<size_t>(id)]; }
  Step &at(int32_t id) { return steps[static_cast<size_t>(id)]; }
  int64_t rankOf(int32_t id) const {
    return schedule.rankOf[static_cast<size_t>(id)];
  }

  const ValidatorContext &context;
  const Schedule &schedule;
  const CostModel &cost;
  std::vector<RankWork> work;
  std::vector<Step> steps;
  std::vector<int32_t> last; ///< per rank: last instruction that ran
  struct Bytes {
    int64_t of[numTraffic] = {};
  };
  std::vector<Bytes> sent; ///< from * ranks + to

private:
  /// Costs are the user's and may be anything.
  static int64_t priced(int64_t count, int64_t picoseconds) {
    return saturatingMul(count, std::max<int64_t>(picoseconds, 0));
  }
  int64_t transferCost(int64_t bytes) const {
    return saturatingAdd(std::max<int64_t>(cost.transferPs, 0),
                         priced(bytes, cost.bytePs));
  }

  Step after(int32_t before) const {
    Step step;
    step.cause = before;
    if (before >= 0)
      step.finishPs = at(before).finishPs;
    return step;
  }

  /// `step` cannot end before `cause` has, plus `extra`.
  void delay(Step &step, int32_t cause, int64_t extra) {
    int64_t ready = saturatingAdd(at(cause).finishPs, extra);
    if (ready <= step.finishPs)
      return;
    step.finishPs = ready;
    step.cause = cause;
    step.costPs = extra;
  }

  void await(Step &step, int32_t transfer) {
    int32_t partner = schedule.partner[static_cast<size_t>(transfer)];
    const Instruction &own =
        context.list(rankOf(transfer))[schedule.indexOf(transfer)];
    if (own.opcode == Opcode::Send)
      return delay(step, partner, 0);
    int64_t bytes = rowsOf(ChunkList(own.lists[0].values)) *
                    context.window(own.windows[0]).rowBytes();
    int64_t before = step.finishPs;
    delay(step, partner, transferCost(bytes));
    if (step.finishPs > before)
      step.bytes = bytes;
  }

  void attend(int64_t rank, const Instruction &instruction, int64_t &tiles,
              int64_t &rows) {
    const BlockMask &mask = *context.program.mask;
    int64_t first = context.geometry[static_cast<size_t>(rank)].qBlocks.begin;
    RankWork &mine = work[static_cast<size_t>(rank)];
    for (Work entry : WorkList(instruction.lists[0].values)) {
      for (int64_t row = first + entry.qBegin; row < first + entry.qEnd;
           ++row) {
        const int32_t *begin = mask.row(entry.head, row);
        const int32_t *end = begin + mask.count(entry.head, row);
        tiles += std::lower_bound(begin, end, entry.kvEnd) -
                 std::lower_bound(begin, end, entry.kvBegin);
      }
      rows += entry.qEnd - entry.qBegin;
      if (std::find(mine.heads.begin(), mine.heads.end(), entry.head) ==
          mine.heads.end())
        mine.heads.push_back(entry.head);
    }
    mine.tiles += tiles;
    mine.rows += rows;
  }

  int64_t count(int64_t from, int64_t to, const Instruction &instruction,
                int64_t rows, bool collective) {
    const Window &window = context.window(instruction.windows[0]);
    int64_t bytes = rows * window.rowBytes();
    const Mesh &mesh = context.mesh();
    bool small = window.rowElements == 1 || window.dtype == DType::I32;
    Traffic kind = small                                        ? Small
                   : collective                                 ? Exchange
                   : mesh.ringIndex(from) != mesh.ringIndex(to) ? Ring
                                                                : Moved;
    sent[static_cast<size_t>(from * context.numRanks() + to)].of[kind] += bytes;
    return bytes;
  }
};

class Explainer {
public:
  Explainer(const ValidatorContext &context, const Account &account)
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
    out << "layer " << context.program.name << ": " << shape.heads << " heads ("
        << shape.kvHeads << " kv heads) of " << shape.headDim << " "
        << toString(shape.dtype) << ", " << withCommas(shape.sq)
        << " queries x " << withCommas(shape.skv) << " keys, blocks "
        << shape.blockQ << "x" << shape.blockK
        << (shape.causal ? ", causal" : "") << "\n";
    out << "mesh: " << context.numRanks() << " ranks, ulysses "
        << context.mesh().ulysses << " x ring " << context.mesh().ring << "\n";
    out << "mask: " << withCommas(mask.tiles()) << " of "
        << withCommas(mask.heads() * mask.qBlocks() * mask.kvBlocks())
        << " tiles selected (density " << fixed(mask.density(), 3) << ")\n";
  }

  void work() {
    int64_t all = 0;
    std::vector<int64_t> loads;
    for (const RankWork &rank : account.work) {
      loads.push_back(rank.tiles);
      all += rank.tiles;
    }
    out << "\nwork per rank\n";
    for (size_t rank = 0; rank < loads.size(); ++rank) {
      const RankWork &mine = account.work[rank];
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
    std::vector<int64_t> owners;
    for (int64_t head = 0; head < placement.shape.heads; ++head)
      owners.push_back(placement.ownerOfHead(head));
    std::vector<int64_t> before = rankLoads(
        countLoads(*context.program.mask, placement), owners, placement.mesh);
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
        const Account::Bytes &link =
            account.sent[static_cast<size_t>(from * ranks + to)];
        int64_t sum = 0;
        for (int kind = 0; kind < numTraffic; ++kind) {
          sum += link.of[kind];
          totals[kind] += link.of[kind];
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
      const Step &step = account.at(id);
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
      bytes += step.bytes;
    }
    out << "  in all " << countText(tiles, "tile") << " and "
        << bytesText(bytes) << ", " << fixed(static_cast<double>(end) / 1e6, 3)
        << " us\n";
  }

  const ValidatorContext &context;
  const Account &account;
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
  Account account(context, schedule);
  (void)walkSchedule(bound, schedule, account);
  return Explainer(context, account).text();
}

//===- TimelineText.cpp - A timeline in words -----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NumberText.h"
#include "sparseattn-rt/CheckedMath.h"
#include "sparseattn-rt/Timeline.h"

#include <algorithm>

using namespace sart;

namespace {

/// More ranks than this are summed up.
constexpr size_t mostRanksListed = 16;

class TimelineText {
public:
  TimelineText(const Program &program, const Machine &machine,
               const Timeline &timeline)
      : program(program), machine(machine), timeline(timeline) {}

  std::string text() {
    kernel();
    times();
    links();
    otherRates();
    path();
    return out.str();
  }

private:
  Evidence evidenceOf(const MachineNumber &number) const {
    return machine.sources[static_cast<size_t>(number.source)].evidence;
  }

  void kernel() {
    const LayerShape &shape = program.placement.shape;
    const KernelCost &cost = timeline.kernel;
    out << "\npredicted on " << machine.name << "\n";
    out << "  kernel " << toString(shape.dtype) << " " << shape.blockQ << "x"
        << shape.blockK << " of head dimension " << shape.headDim << ": "
        << withCommas(cost.tilePs) << " ps a tile, " << withCommas(cost.rowPs)
        << " ps a row, " << toString(evidenceOf(cost.kernel.tilePs));
    if (!cost.exact)
      out << "; in proportion to " << toString(cost.kernel.dtype) << " "
          << cost.kernel.blockQ << "x" << cost.kernel.blockK
          << " of head dimension " << cost.kernel.headDim
          << ", since the machine file has no such kernel";
    out << "\n";
  }

  void rank(size_t index, const char *which) {
    const TimelineRank &rank = timeline.ranks[index];
    out << "  " << which << "rank " << index << ": ends at "
        << usText(rank.finishPs) << ", works " << usText(rank.computePs)
        << ", waits " << usText(rank.exposedPs);
    if (rank.turnPs > 0)
      out << ", stands in line for its device " << usText(rank.turnPs);
    out << "; sends " << usText(rank.sendPs) << ", receives "
        << usText(rank.recvPs) << "\n";
  }

  void times() {
    auto least = [](const TimelineRank &a, const TimelineRank &b) {
      return a.computePs < b.computePs;
    };
    const std::vector<TimelineRank> &ranks = timeline.ranks;
    auto [idle, busy] = std::minmax_element(ranks.begin(), ranks.end(), least);
    int64_t all = 0, exposed = 0;
    for (const TimelineRank &rank : ranks) {
      all = saturatingAdd(all, rank.computePs);
      exposed = std::max(exposed, rank.exposedPs);
    }
    double mean = static_cast<double>(all) / static_cast<double>(ranks.size());
    out << "  ends at " << usText(timeline.makespanPs)
        << "; most work of a rank " << usText(busy->computePs);
    if (all > 0)
      out << " (" << fixed(static_cast<double>(busy->computePs) / mean, 3)
          << " of the mean)";
    out << ", most exposed communication " << usText(exposed) << "\n";
    if (ranks.size() <= mostRanksListed) {
      for (size_t i = 0; i < ranks.size(); ++i)
        rank(i, "");
      return;
    }
    rank(static_cast<size_t>(busy - ranks.begin()), "most work: ");
    rank(static_cast<size_t>(idle - ranks.begin()), "least work: ");
  }

  void links() {
    std::vector<int64_t> bytes(machine.links.size(), 0);
    for (const TimelineLink &link : timeline.links) {
      int64_t &sum = bytes[machine.levelOf(link.from, link.to)];
      sum = saturatingAdd(sum, link.bytes);
    }
    for (size_t level = 0; level < bytes.size(); ++level)
      if (bytes[level] > 0)
        out << "  over " << machine.links[level].name << ": "
            << bytesText(bytes[level]) << "\n";
  }

  void otherRates() {
    if (timeline.links.empty())
      return;
    const char *separator = "  ";
    for (auto [milli, what] :
         {std::pair<int64_t, const char *>{500, "half"}, {2000, "twice"}}) {
      Expected<Timeline> other = simulate(program, machine.withLinkRate(milli));
      if (other)
        out << separator << "with links of " << what << " the rate it ends at "
            << usText(other->makespanPs);
      separator = ", ";
    }
    out << "\n";
  }

  std::string reason(const TimelineStep &step) const {
    int64_t other = step.before < 0 ? -1 : timeline.rankOf(step.before);
    switch (step.cause) {
    case Cause::Start:
    case Cause::Order:
      return "";
    case Cause::Meet:
      return concat(", when rank ", other, " had come");
    case Cause::Port:
      return concat(", after a transfer of rank ", other);
    case Cause::Device:
      return concat(", after rank ", other, " on the same device");
    }
    return "";
  }

  void path() {
    out << "predicted critical path\n";
    for (const TimelinePart &part : timeline.path) {
      const TimelineStep &step = timeline.steps[static_cast<size_t>(part.step)];
      int64_t rank = timeline.rankOf(part.step);
      int64_t index = timeline.instructionOf(part.step);
      const Instruction &instruction =
          program.ranks[static_cast<size_t>(rank)][static_cast<size_t>(index)];
      out << "  " << usText(part.beginPs) << " to " << usText(part.endPs)
          << ": rank " << rank << " phase " << instruction.phase
          << " instruction " << index << ", " << toString(instruction.opcode);
      if (!instruction.peer.values.empty())
        out << " to rank " << instruction.peer.values[0];
      if (step.tiles > 0)
        out << ", " << countText(step.tiles, "tile");
      if (step.bytes > 0)
        out << ", " << bytesText(step.bytes);
      out << reason(step) << "\n";
    }
  }

  const Program &program;
  const Machine &machine;
  const Timeline &timeline;
  std::ostringstream out;
};

} // namespace

std::string sart::explainTimeline(const Program &bound,
                                  const Machine &machine) {
  Expected<Timeline> timeline = simulate(bound, machine);
  if (!timeline)
    return timeline.message() + "\n";
  return TimelineText(bound, machine, *timeline).text();
}

//===- ValidatorProgress.cpp - No rank waits for ever ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolicRun.h"

using namespace sart;

namespace {

/// Says what a blocked instruction waits for, in terms of the ranks that do
/// not come because they are blocked themselves.
class BlockReport {
public:
  BlockReport(ValidatorContext &context, const Schedule &schedule,
              const std::vector<size_t> &next)
      : context(context), schedule(schedule), next(next) {}

  void report(int64_t rank) {
    size_t index = next[static_cast<size_t>(rank)];
    auto id = static_cast<size_t>(schedule.idOf(rank, index));
    if (int32_t meeting = schedule.meetingOf[id]; meeting >= 0) {
      const Meeting &met = schedule.meetings[static_cast<size_t>(meeting)];
      for (int32_t member : met.members)
        if (rankOf(member) != rank && !standsAt(member))
          return add(rank, index, concat("rank ", rankOf(member), " to enter"),
                     member);
      return;
    }
    const Instruction &instruction = context.list(rank)[index];
    if (instruction.opcode == Opcode::WaitSignal)
      return add(rank, index,
                 concat("the signal of rank ", instruction.peer.values[0]),
                 schedule.partner[id]);
    for (int32_t a = schedule.awaitedFirst[id];
         a < schedule.awaitedFirst[id + 1]; ++a) {
      int32_t transfer = schedule.awaited[static_cast<size_t>(a)];
      int32_t partner = schedule.partner[static_cast<size_t>(transfer)];
      if (posted(partner))
        continue;
      const Instruction &own = context.list(rank)[schedule.indexOf(transfer)];
      return add(rank, index,
                 concat("token ", own.token, ", the ",
                        own.opcode == Opcode::Send ? "recv" : "send",
                        " of rank ", rankOf(partner)),
                 partner);
    }
  }

private:
  int64_t rankOf(int32_t id) const {
    return schedule.rankOf[static_cast<size_t>(id)];
  }
  bool posted(int32_t id) const {
    return schedule.indexOf(id) < next[static_cast<size_t>(rankOf(id))];
  }
  bool standsAt(int32_t id) const {
    return schedule.indexOf(id) == next[static_cast<size_t>(rankOf(id))];
  }

  void add(int64_t rank, size_t index, const std::string &awaited,
           int32_t missing) {
    int64_t other = rankOf(missing);
    size_t otherNext = next[static_cast<size_t>(other)];
    context.add("progress", rank, index, "never completes: got blocked on ",
                awaited, ", expected instruction ", schedule.indexOf(missing),
                " there, but rank ", other, " is blocked at instruction ",
                otherNext, " (",
                toString(context.list(other)[otherNext].opcode), ")");
  }

  ValidatorContext &context;
  const Schedule &schedule;
  const std::vector<size_t> &next;
};

} // namespace

void sart::executeSymbolically(ValidatorContext &context,
                               const Schedule &schedule, bool prefix) {
  SymbolicRun run(context, schedule);
  std::vector<size_t> next = walkSchedule(context.program, schedule, run);
  BlockReport blocked(context, schedule, next);
  for (int64_t rank = 0; rank < context.numRanks(); ++rank)
    if (next[static_cast<size_t>(rank)] < context.list(rank).size())
      blocked.report(rank);
  if (context.clean() && !prefix)
    checkResults(context, run);
}

//===- ScheduleWalker.cpp - Executes all ranks once, symbolically ---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleWalker.h"

#include <algorithm>

using namespace sart;

namespace {

class Walker {
public:
  Walker(const Program &program, const Schedule &schedule,
         ScheduleVisitor &visitor)
      : program(program), schedule(schedule), visitor(visitor),
        next(program.ranks.size(), 0) {}

  std::vector<size_t> run() {
    for (bool progress = true; progress;) {
      progress = false;
      for (size_t rank = 0; rank < next.size(); ++rank)
        while (step(rank))
          progress = true;
    }
    return next;
  }

private:
  bool posted(int32_t id) const {
    auto rank = static_cast<size_t>(schedule.rankOf[static_cast<size_t>(id)]);
    return schedule.indexOf(id) < next[rank];
  }

  /// Advances one rank by one instruction; false: blocked or done.
  bool step(size_t rank) {
    size_t index = next[rank];
    if (index >= program.ranks[rank].size())
      return false;
    int32_t id = schedule.idOf(static_cast<int64_t>(rank), index);
    auto at = static_cast<size_t>(id);
    if (schedule.meetingOf[at] >= 0)
      return enter(id);
    Opcode opcode = program.ranks[rank][index].opcode;
    if (opcode == Opcode::WaitSignal && !posted(schedule.partner[at]))
      return false;
    if (opcode == Opcode::Wait)
      for (int32_t a = schedule.awaitedFirst[at];
           a < schedule.awaitedFirst[at + 1]; ++a) {
        int32_t transfer = schedule.awaited[static_cast<size_t>(a)];
        if (!posted(schedule.partner[static_cast<size_t>(transfer)]))
          return false;
      }
    ++next[rank];
    visitor.execute(static_cast<int64_t>(rank), index);
    return true;
  }

  bool enter(int32_t id) {
    const Meeting &meeting = schedule.meetings[static_cast<size_t>(
        schedule.meetingOf[static_cast<size_t>(id)])];
    // Members are here when each stands at its own part.
    bool complete = std::all_of(
        meeting.members.begin(), meeting.members.end(), [&](int32_t member) {
          auto rank =
              static_cast<size_t>(schedule.rankOf[static_cast<size_t>(member)]);
          return schedule.indexOf(member) == next[rank];
        });
    if (!complete)
      return false;
    for (int32_t member : meeting.members)
      ++next[static_cast<size_t>(schedule.rankOf[static_cast<size_t>(member)])];
    visitor.meet(meeting);
    return true;
  }

  const Program &program;
  const Schedule &schedule;
  ScheduleVisitor &visitor;
  std::vector<size_t> next;
};

} // namespace

std::vector<size_t> sart::walkSchedule(const Program &program,
                                       const Schedule &schedule,
                                       ScheduleVisitor &visitor) {
  return Walker(program, schedule, visitor).run();
}

//===- ScheduleWalker.h - Executes all ranks once, symbolically -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_SCHEDULEWALKER_H
#define SPARSEATTN_RT_CORE_SCHEDULEWALKER_H

#include "Schedule.h"
#include "sparseattn-rt/Program.h"

namespace sart {

/// Sees every instruction in an order in which it could run.
class ScheduleVisitor {
public:
  virtual ~ScheduleVisitor() = default;
  /// An instruction of one rank; waits only when what they await is there.
  virtual void execute(int64_t rank, size_t index) = 0;
  /// A collective, when its last member has entered.
  virtual void meet(const Meeting &meeting) = 0;
};

/// Walks the ranks under the model of communication: sends and receives are
/// posted in order without blocking; a wait blocks until each awaited transfer
/// has both ends posted; a collective blocks until all members have entered; a
/// wait_signal blocks until its signal was raised. Which instructions can run
/// does not depend on the order in which ranks take turns, so one walk decides.
/// Returns, per rank, the instruction at which it blocks, or the list's size.
std::vector<size_t> walkSchedule(const Program &program,
                                 const Schedule &schedule,
                                 ScheduleVisitor &visitor);

} // namespace sart

#endif // SPARSEATTN_RT_CORE_SCHEDULEWALKER_H

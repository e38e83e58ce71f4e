//===- TimelineRun.h - Ranks, ports and devices in virtual time -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_TIMELINERUN_H
#define SPARSEATTN_RT_CORE_TIMELINERUN_H

#include "Schedule.h"
#include "ValidatorContext.h"
#include "sparseattn-rt/Timeline.h"

#include <map>
#include <queue>
#include <set>
#include <tuple>

namespace sart {

/// Times that machine files allow may add up to more than 64 bits hold.
inline void addTo(int64_t &sum, int64_t part) {
  sum = saturatingAdd(sum, part);
}

/// One run of the events of a valid bound program.
class TimelineRun {
public:
  TimelineRun(const ValidatorContext &context, const Schedule &schedule,
              const Machine &machine);
  /// Refuses nothing that was validated.
  Status run();
  Timeline timeline;

private:
  /// In the order in which events of one time happen.
  enum Event { Done, Resume, PortFree };

  struct Rank {
    size_t next = 0;
    int64_t nowPs = 0;
    int32_t last = -1; ///< step whose end is nowPs
    bool planned = false;
    bool blocked = false; ///< in a wait
  };
  struct Port {
    int64_t freePs = 0;
    int32_t holder = -1;
    std::set<std::pair<int64_t, int32_t>> waiting; ///< (ready, transfer)
  };
  struct Transfer {
    int64_t readyPs = -1; ///< all ends posted
    bool done = false;
    int32_t ends = 0;             ///< posted
    int64_t awaitedPuts = 0;      ///< of a signal
    std::vector<int32_t> signals; ///< behind a put
  };

  TimelineStep &at(int32_t id) {
    return timeline.steps[static_cast<size_t>(id)];
  }
  int64_t rankOf(int32_t id) const {
    return schedule.rankOf[static_cast<size_t>(id)];
  }
  const Instruction &instructionOf(int32_t id) const {
    return context.list(rankOf(id))[schedule.indexOf(id)];
  }
  size_t portOf(int64_t rank, size_t level, bool receiving) const;
  void push(int64_t timePs, Event event, int64_t index);

  void advance(int64_t rank);
  bool execute(int64_t rank, int32_t id);
  bool work(int64_t rank, int32_t id, int64_t costPs);
  bool wait(int64_t rank, int32_t id);
  void reach(Rank &rank, int32_t id, int32_t awaited);
  void post(int64_t rank, int32_t id);
  void raise(int64_t rank, int32_t id);
  void complete(int32_t id);
  void tryPort(size_t port);
  void begin(int32_t id, size_t sendPort, size_t recvPort, size_t level);
  std::pair<size_t, size_t> portsOf(int32_t transfer, size_t &level) const;
  void countLink(int64_t from, int64_t to, int64_t bytes);

  // TimelineMeet.cpp: collectives, and the path that decides the end.
  bool enter(int64_t rank, int32_t id);
  void meet(const Meeting &meeting, int32_t lastIn);
  std::vector<std::vector<int64_t>> bytesOf(const Meeting &meeting) const;
  std::vector<size_t> radicesOf(const Meeting &meeting) const;
  void tracePath();

  // TimelineCosts.cpp: what instructions take.
  int64_t costOf(int64_t rank, int32_t id);
  int64_t attendCost(int64_t rank, const Instruction &instruction,
                     TimelineStep &step) const;
  int64_t routingCost(int64_t rank, const Instruction &instruction);
  int64_t bytesOf(int32_t window, const std::vector<int64_t> &chunks) const;

  const ValidatorContext &context;
  const Schedule &schedule;
  const Machine &machine;
  KernelCost kernel;
  size_t levels;
  int64_t nowPs = 0;
  std::vector<Rank> ranks;
  std::vector<Port> ports;
  std::vector<Transfer> transfers; ///< by id of the sending end
  std::vector<int32_t> entered;    ///< per meeting: members that came
  std::vector<std::pair<int64_t, int32_t>> devices; ///< free, last step
  std::map<std::pair<int64_t, int64_t>, std::vector<int32_t>> openPuts;
  std::map<std::pair<int64_t, int64_t>, size_t> linkIndex;
  std::priority_queue<std::tuple<int64_t, int, int64_t>,
                      std::vector<std::tuple<int64_t, int, int64_t>>,
                      std::greater<>>
      events;
};

} // namespace sart

#endif // SPARSEATTN_RT_CORE_TIMELINERUN_H

//===- Timeline.h - A bound program in virtual time -------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_TIMELINE_H
#define SPARSEATTN_RT_TIMELINE_H

#include "sparseattn-rt/Machine.h"
#include "sparseattn-rt/Program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sart {

/// Why something began when it did.
enum class Cause : uint8_t {
  Start,  ///< nothing had to be done before
  Order,  ///< the rank had come to it
  Meet,   ///< another rank had come to the other end, or was the last to enter
  Port,   ///< a transfer had held a port
  Device, ///< another rank had had its turn on the device that they share
};

std::string_view toString(Cause cause);

/// One instruction of one rank. Picoseconds since the ranks began.
struct TimelineStep {
  int64_t postedPs = 0; ///< the rank came to it
  /// What it does: of attend, merge, pack, convert, load_mask the work on the
  /// device; of a send, recv or put the transfer; of a collective from the last
  /// entry to the rank's last byte; of a wait the waiting; of a signal its way.
  int64_t beginPs = 0, endPs = 0;
  int64_t tiles = 0, rows = 0; ///< of an attend
  int64_t bytes = 0;           ///< that it sends to other ranks
  Cause cause = Cause::Start;
  int32_t before = -1; ///< step that had to end before this one began
};

struct TimelineRank {
  int64_t finishPs = 0;  ///< end of the last instruction
  int64_t computePs = 0; ///< working
  int64_t exposedPs = 0; ///< in waits and collectives, for communication
  int64_t turnPs = 0;    ///< waiting for its turn on a shared device
  int64_t sendPs = 0, recvPs = 0; ///< its ports were in use
  int64_t tiles = 0;
};

struct TimelineLink {
  int64_t from = 0, to = 0;
  int64_t bytes = 0, transfers = 0;
};

/// Part of the path that decided the end: each part began when the one before
/// it was done.
struct TimelinePart {
  int32_t step = -1;
  int64_t beginPs = 0, endPs = 0;
};

/// Predicted times of a bound program.
struct Timeline {
  int64_t makespanPs = 0;
  std::vector<int32_t> first; ///< per rank the id of its first step; the end
  std::vector<TimelineStep> steps; ///< by id
  std::vector<TimelineRank> ranks;
  std::vector<TimelineLink> links; ///< that carry bytes, by (from, to)
  std::vector<TimelinePart> path;  ///< critical path, from 0 to makespanPs
  KernelCost kernel;               ///< that attend was priced by
  int64_t rankOf(int32_t step) const;
  int64_t instructionOf(int32_t step) const {
    return step - first[static_cast<size_t>(rankOf(step))];
  }
};

/// Executes all ranks' instruction lists in virtual time. A rank works through
/// its list in order:
///
/// - attend takes the kernel's affine time; pack, merge and convert a launch
///   and their bytes of memory; load_mask of a layer that routes stands for
///   routing (pooling, scores, three launches), and on several ranks once for
///   reading the loads and planning.
/// - send, recv and put are posted without waiting. A transfer begins when both
///   ends are posted (a put: its own) and both ports are free; among several,
///   the one that was ready first, then the lower rank's. It runs beside the
///   work of both ranks.
/// - a collective begins when its last member has entered; each member sends to
///   the next, the one after it and so on (of its own island first, then of the
///   next one), without barriers, all with one latency together.
/// - a wait ends with the last transfer that it awaits; a signal arrives behind
///   the puts before it.
///
/// Transfers do not slow kernels down, and hosts issue in no time.
/// Refuses a machine or a program that does not verify, and more ranks than the
/// machine has. The same inputs give the same timeline everywhere.
Expected<Timeline> simulate(const Program &bound, const Machine &machine);

/// The timeline in words: where the kernel's costs come from, times per rank,
/// bytes per level of links, the critical path, and the end at half and twice
/// the link rate. The message of `simulate` where there is none.
std::string explainTimeline(const Program &bound, const Machine &machine);
/// All of a timeline as one JSON object; times in microseconds.
std::string timelineJson(const Program &bound, const Machine &machine,
                         const Timeline &timeline);
/// The same as a Chrome trace (a JSON array): a process a rank, with threads
/// for its work and waits, for what it sends and for what it receives.
std::string timelineTrace(const Program &bound, const Timeline &timeline);

} // namespace sart

#endif // SPARSEATTN_RT_TIMELINE_H

//===- Stats.h - What a run did, and when -----------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_STATS_H
#define SPARSEATTN_RT_STATS_H

#include "sparseattn-rt/Backend.h"

#include <string>
#include <vector>

namespace sart {

/// One executed instruction. Times in nanoseconds since the run's start.
struct TraceEvent {
  std::string name; ///< opcode, and the window for transfers
  int64_t rank = 0, phase = 0, instruction = 0;
  int64_t beginNs = 0, endNs = 0;
  int64_t bytes = 0; ///< remote bytes sent by this rank
  int64_t tiles = 0; ///< attend
};

/// Statistics of one run of one layer.
struct RunStats {
  double density = 0;
  std::vector<int64_t> loadsBefore, loadsAfter; ///< tiles per rank
  double rhoBefore = 1, rhoAfter = 1;
  Plan plan;
  TrafficBytes predicted; ///< from the plan
  std::vector<int64_t>
      bytesSent; ///< [from * ranks + to], measured, Q K V O payload
  int64_t bytesExchange = 0, bytesMoved = 0, bytesRouted = 0; ///< measured
  int64_t tiles = 0; ///< computed, all ranks
  RouteStats routing;
  int64_t planNs = 0;
  int64_t totalNs = 0;
  std::vector<TraceEvent> events; ///< all ranks, by begin
  uint64_t planHash = 0, programHash = 0;
};

/// Perfetto (Chrome trace event) JSON; one process, one thread per rank.
/// `offsetNs` shifts a run in a longer trace. Returns the events joined by
/// commas, without the enclosing brackets, so that several runs concatenate.
std::string toTraceEvents(const RunStats &stats, const std::string &label,
                          int64_t offsetNs);

} // namespace sart

#endif // SPARSEATTN_RT_STATS_H

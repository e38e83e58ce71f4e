//===- ExecutorState.h - What the ranks of an executor share ----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_CORE_EXECUTORSTATE_H
#define SPARSEATTN_RUNTIME_CORE_EXECUTORSTATE_H

#include "WindowArena.h"

#include <chrono>

namespace sart {

using Clock = std::chrono::steady_clock;

inline int64_t nanosecondsSince(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() -
                                                              begin)
      .count();
}

/// Mask rows of one rank's segment as routing, augmentation or a constant mask
/// left them. Kept because the windows themselves are moved and released.
class RecordedRows {
public:
  /// Forgets all rows, for `heads` heads of `qBlocks` q-blocks.
  void reset(int64_t heads, int64_t qBlocks);
  void record(int64_t head, int64_t qBlock, const int32_t *row, int64_t count);
  /// Null: nothing was recorded.
  const std::vector<int32_t> *find(int64_t head, int64_t qBlock) const;
  /// Sum of the recorded rows' lengths.
  int64_t tiles() const { return total; }
  /// What was recorded, and back; of as many heads and q-blocks.
  std::string toBytes() const;
  Status fromBytes(const std::string &bytes, int64_t kvBlocks);

private:
  int64_t qBlocksPerHead = 0, total = 0;
  std::vector<std::vector<int32_t>> rows;
  std::vector<uint8_t> known;
};

/// What one rank reports about a run.
struct RankRecord {
  std::vector<TraceEvent> events;
  std::vector<int64_t> sent; ///< payload bytes to each rank
  int64_t exchange = 0, moved = 0, routed = 0;
  int64_t tiles = 0;
  RouteStats routing;
  RecordedRows rows;
  std::optional<Plan> plan; ///< after the plan instruction
  int64_t selected = 0;     ///< routed tiles whose rows are not in `rows`
  std::vector<int64_t> routedLoads; ///< per rank, before any move
  int64_t planNs = 0;

  void reset(const Placement &placement);
  /// For the process of rank 0, which has the plan itself. Without `withRows`
  /// their number is sent alone.
  std::string toBytes(bool withRows) const;
  /// After reset; refuses bytes that are none of a rank of this placement.
  Status fromBytes(const std::string &bytes, int64_t kvBlocks);
};

/// Everything the rank threads read. Only the members below `start` change
/// from run to run, between runs or by rank 0 before a rendezvous.
struct ExecutorShared {
  Program program;
  std::shared_ptr<Backend> backend;
  ExecutorOptions options;
  uint64_t programHash = 0;
  // By rank; of another process's rank: null, null, what it gathered.
  std::vector<std::shared_ptr<Backend>> rankBackends; ///< null: `backend`
  std::vector<std::unique_ptr<WindowArena>> arenas;
  std::vector<RankRecord> records;
  /// Goes first: until then others may bring data into the arenas.
  std::unique_ptr<Transport> transport;

  Clock::time_point start;
  std::optional<Plan> givenPlan;
  bool dense = false;
  bool trace = true, gatherMask = true;
  /// Why a rank's exception ends the others; made before memory runs out.
  const std::string thrownReason = "got an exception, expected none";

  int64_t ranks() const { return program.placement.mesh.ranks(); }
  const std::vector<int64_t> &localRanks() const {
    return transport->localRanks();
  }
  /// Whether all ranks are in this process.
  bool allLocal() const {
    return static_cast<int64_t>(localRanks().size()) == ranks();
  }
  bool isLocal(int64_t rank) const {
    return arenas[static_cast<size_t>(rank)] != nullptr;
  }
  Backend &backendOf(int64_t rank) const {
    const auto &own = rankBackends[static_cast<size_t>(rank)];
    return own ? *own : *backend;
  }
  /// The routed mask, from the rows that the ranks recorded; refuses gaps.
  Expected<BlockMask> assembleMask() const;
};

/// Checks what the interpreter relies on: operand counts, window and symbol
/// numbers, one instruction list per rank, statics of every rank. Cheap, and
/// done whether or not the program is validated.
Status checkStructure(const Program &program);

/// Refuses programs whose windows, of `localRanks` ranks, cannot fit this
/// machine, before the system ends the process for touching them.
Status checkMemory(const Program &program, size_t localRanks);

/// Fills the mask row `row` by the rule of a policy without scores (dense,
/// window): [count, kv-blocks below `visible`...].
Status fillRowByRule(const Program &program, bool dense, int64_t qBlock,
                     int64_t visible, int32_t *row);

/// Tiles and demand of all ranks from the gathered summary records.
Expected<MaskSummary> readSummaries(const Program &program,
                                    const WindowArena &arena, int32_t window);

/// Binds the program to `plan` and validates the result: with the routed mask
/// when the options ask for coverage, else with its demand.
Status validatePlan(ExecutorShared &shared, const Plan &plan,
                    const MaskSummary &summary);

/// The plan that a bound program carries out, read off its instructions: heads
/// that another Ulysses index attends to, kv-blocks that arrive over the ring,
/// loads. Extra tiles are part of the mask by then.
Plan derivePlan(const Program &bound);

/// Fills `stats` from the records of all ranks, totalNs excepted.
void collectStats(const ExecutorShared &shared, RunStats &stats);

} // namespace sart

#endif // SPARSEATTN_RUNTIME_CORE_EXECUTORSTATE_H

//===- RankExecutor.h - Interprets the instructions of one rank -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_CORE_RANKEXECUTOR_H
#define SPARSEATTN_RUNTIME_CORE_RANKEXECUTOR_H

#include "ExecutorState.h"

namespace sart {

/// How a rank's part of a run ended.
struct RankOutcome {
  Status status;
  bool followsAbort = false; ///< another rank failed first
};

/// The instruction interpreter of one rank. Used by one thread at a time.
class RankExecutor {
public:
  RankExecutor(ExecutorShared &shared, int64_t rank);

  /// Back to the first instruction. Errors are those of work that a run left
  /// under way.
  Status restart();
  /// Runs instructions up to index `end`. On an error it aborts the transport
  /// and leaves no transfer of this rank in flight.
  RankOutcome runUntil(size_t end);
  /// Waits for all ranks, and compares their programs. Over processes.
  RankOutcome meet();
  /// Brings the records of all ranks to rank 0. Over processes, after the
  /// program.
  RankOutcome report();
  /// Fills the rank's memory before a run, see ExecutorOptions::poison.
  Status poison(bool internal, bool outputs);
  /// Records the routed rows that only the rank's memory holds yet.
  Status fetchRows();

private:
  using Ints = std::vector<int64_t>;

  Status execute(const Instruction &instruction);
  /// Ends transfers nobody waited for. Their errors count unless `ignore`.
  Status drain(bool ignore);
  /// Gives outputs and counts to the host at the end of the program.
  Status finishPart();
  /// Notes where the work stands, for the trace; see timeEvents.
  Status markWork();
  /// The trace's times, from those of the work itself.
  Status timeEvents();
  /// Names the rank, ends all ranks and leaves nothing under way.
  RankOutcome fail(const std::string &where, const Status &status);

  // RankTransfer.cpp
  Status allToAll(const Instruction &instruction);
  Status allGather(const Instruction &instruction);
  Status exchange(const Instruction &instruction,
                  const std::vector<SegmentList> &from,
                  const std::vector<SegmentList> &to);
  Status sendOrRecv(const Instruction &instruction, bool isSend);
  Status put(const Instruction &instruction);
  Status signalOrWait(const Instruction &instruction, bool isSignal);
  Status waitTokens(const Instruction &instruction);
  Status copyLocal(const Instruction &instruction);
  Expected<std::optional<int64_t>> peerOf(const Instruction &instruction) const;
  void countSent(int32_t window, int64_t peer, int64_t bytes, bool collective);

  // RankCompute.cpp
  Status attend(const Instruction &instruction);
  Status merge(const Instruction &instruction);
  Status convert(const Instruction &instruction);
  Status pool(const Instruction &instruction);
  Status release(const Instruction &instruction);

  // RankRouting.cpp
  Status route(const Instruction &instruction);
  Status augment(const Instruction &instruction);
  Status loadMask(const Instruction &instruction);
  Status plan(const Instruction &instruction);
  /// The routed rows of all processes, on rank 0. Host memory.
  Status gatherRows();
  Status writeSummary(int32_t window, const Work &work, const SlotView &mask,
                      bool first);
  Expected<std::vector<RouteTask>> routeTasks(const Instruction &instruction,
                                              const std::vector<Work> &work,
                                              bool scored);

  // RankElsewhere.cpp: the same where the host cannot reach the memory
  Status scoreElsewhere(const std::vector<Work> &work,
                        const std::vector<RouteTask> &tasks);
  Status routeByRuleElsewhere(const std::vector<Work> &work,
                              const std::vector<RouteTask> &tasks, bool dense);
  Status clearSummaries(const std::vector<Work> &work,
                        const std::vector<RouteTask> &tasks);

  const Ints &values(const Operand &operand) const {
    return operand.isSymbol() ? symbols[static_cast<size_t>(operand.symbol)]
                              : operand.values;
  }
  const Ints &list(const Instruction &instruction, size_t index) const {
    return values(instruction.lists[index]);
  }
  /// Work entries whose q-block and kv-block ranges fit this rank.
  Expected<std::vector<Work>> workOf(const Instruction &instruction) const;
  /// Global q-block from which an entry's rows count.
  int64_t originOf(const Work &entry) const;
  /// Blocks and rows of queries that an entry may look at, from its origin on:
  /// the segment, or what it works on.
  int64_t blocksOf(const Work &entry) const;
  int64_t rowsOf(const Work &entry) const;

  const Placement &placement() const { return shared.program.placement; }
  const LayerShape &shape() const { return shared.program.placement.shape; }
  RankRecord &record() { return shared.records[static_cast<size_t>(rank)]; }

  ExecutorShared &shared;
  const int64_t rank;
  const int64_t ringIndex;
  const Range qBlocks;       ///< of this rank's segment, global numbers
  const int64_t segmentRows; ///< query tokens of the segment
  Endpoint &endpoint;
  WindowArena &arena;
  Backend &backend;
  const bool onHost; ///< whether the host reads and writes the windows
  const std::vector<Instruction> &instructions;
  /// By window: whether it holds Q, K, V or O, whose bytes the reports count.
  std::vector<bool> payload;
  std::vector<bool> queries; ///< by window: attend reads queries from it

  size_t next = 0;
  std::vector<Ints> symbols;
  std::vector<std::shared_ptr<TransferHandle>> tokens;

  // Where not on the host: routed rows, [count, kv-blocks...] each, of which
  // the host has no copy yet, and the trace events of the attend calls.
  struct RoutedRows {
    int64_t head = 0;
    Range qBlocks;
    int64_t firstRow = 0; ///< in `routedRows`
  };
  std::shared_ptr<char> routedRows;
  int64_t routedCapacity = 0, routedCount = 0; ///< rows
  std::vector<RoutedRows> unfetched;
  bool rowsFetched = false; ///< in this run
  static constexpr size_t noEvent = ~size_t(0);
  std::vector<size_t> attendEvents;
  /// Marks of a part of a run: before it, and after each of its events.
  struct MarkedPart {
    size_t firstEvent = 0;
    int64_t beginNs = 0; ///< of the first mark
    std::vector<std::shared_ptr<Fence>> marks;
  };
  std::vector<MarkedPart> parts;

  // Of the instruction that runs.
  bool skipped = false;
  int64_t eventBytes = 0, eventTiles = 0;
};

} // namespace sart

#endif // SPARSEATTN_RUNTIME_CORE_RANKEXECUTOR_H

//===- SymbolicRun.h - Lifetimes and contents of rows -----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a program on symbols: instead of numbers, every row carries what it is
// (query 17 of head 3; a partial result of it over kv-blocks 0..4). A program
// whose rows are all what its instructions take them for computes attention,
// however it moves data; one that mixes up heads, tokens or blocks is caught at
// the first instruction that reads the wrong rows.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_SYMBOLICRUN_H
#define SPARSEATTN_RT_CORE_SYMBOLICRUN_H

#include "MaskDemand.h"
#include "ScheduleWalker.h"
#include "SymbolicMemory.h"

namespace sart {

/// Rows of keys or values that came from another ring segment.
struct Arrival {
  int32_t id; ///< instruction that received them
  int64_t from;
  int64_t kvHead;
  Range tokens;
};

/// One attend entry that ran.
struct AttendRecord {
  int32_t id;
  Work work;
};

class SymbolicRun : public ScheduleVisitor {
public:
  SymbolicRun(ValidatorContext &context, const Schedule &schedule);

  void execute(int64_t rank, size_t index) override;
  void meet(const Meeting &meeting) override;

  ValidatorContext &context;
  const Schedule &schedule;
  SymbolicMemory memory;
  Covers covers;
  MaskDemand demand;
  std::vector<Arrival> arrivals;
  std::vector<AttendRecord> attends;

private:
  // ValidatorLifetime.cpp: reading, writing, transfers.
  void enterSite(int32_t id);
  template <typename... Parts>
  void fail(const char *rule, const Parts &...parts) {
    if (failedAt == id)
      return;
    failedAt = id;
    context.add(rule, rank, index, parts...);
  }
  const Instruction &here() const { return context.list(rank)[index]; }
  const Window &windowOf(int32_t w) const { return context.window(w); }
  std::string placeOf(int32_t other) const;
  void reportUnreadable(int32_t window, int64_t slot, Range rows,
                        const Piece *piece, Range unwritten);
  /// Appends what `rows` hold; reports rows that cannot be read.
  void read(int64_t atRank, int32_t window, int64_t slot, Range rows,
            std::vector<Run> &runs);
  void read(int64_t atRank, int32_t window, ChunkList chunks,
            std::vector<Run> &runs);
  /// Reports rows that do not hold exactly `expected`.
  void expect(int32_t window, int64_t slot, Range rows,
              const Content &expected);
  /// Writes rows that must be unwritten.
  void write(int64_t atRank, int32_t window, int64_t slot, Range rows,
             const Content &content, RowState state = RowState::Written,
             int32_t owner = -1);
  void write(int64_t atRank, int32_t window, ChunkList chunks,
             const std::vector<Run> &runs);
  /// Replaces rows in transit by what arrived from rank `from`.
  void arrive(int32_t window, ChunkList chunks, const std::vector<Run> &runs,
              int64_t from, int32_t receiver);
  void noteArrival(const Run &run, int64_t from, int32_t receiver);
  void transfer(const Meeting &meeting);
  void send();
  void recv();
  void put();
  void raiseSignal();
  void awaitSignal();
  void awaitTokens();
  void pack();
  void release();
  /// Reports a send or put in flight that still reads the rows.
  void checkNotInFlight(int32_t window, int64_t slot, Range rows,
                        const char *what);
  void join(const std::vector<int32_t> &clock);

  // ValidatorContent.cpp: instructions that compute.
  void attend();
  Range queryRows(const Work &work, int64_t &firstToken) const;
  void expectKeys(int32_t window, RowKind kind, const Work &work);
  bool findMissingKeys(const RowMap &rows, RowKind kind, const Work &work,
                       const std::vector<uint64_t> &needed, Range &missing,
                       const Piece *&wrong) const;
  void merge();
  void mergeChunk(const Chunk &chunk);
  void convert();
  void loadMask();
  void pool();
  void route();
  void plan(int32_t window);

  // The instruction that runs.
  int64_t rank = 0;
  size_t index = 0;
  int32_t id = -1;
  int32_t failedAt = -1;

  struct OpenRead {
    int32_t id;
    int64_t putTo; ///< -1: a send
  };
  std::vector<std::vector<OpenRead>> openReads; ///< per rank
  std::vector<std::vector<Run>> inFlight;       ///< per id of a send or put
  std::vector<Run> scratch;
  std::vector<Run> parts[4];

  // One-sided transfers only.
  bool oneSided = false;
  std::vector<std::vector<int32_t>> clocks; ///< per rank: steps known of others
  std::vector<std::vector<int32_t>> postedClocks; ///< per id
  struct Flag {
    int32_t lastSignal = -1;
    std::vector<int32_t> puts; ///< not yet completed, ascending ids
  };
  std::map<std::pair<int64_t, int64_t>, Flag> flags; ///< (from, to)
};

/// Output, demand and coverage of a run without violations.
void checkResults(ValidatorContext &context, SymbolicRun &run);

} // namespace sart

#endif // SPARSEATTN_RT_CORE_SYMBOLICRUN_H

//===- ProgramAccount.h - Work, bytes and times of a program ----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_PROGRAMACCOUNT_H
#define SPARSEATTN_RT_CORE_PROGRAMACCOUNT_H

#include "Schedule.h"
#include "ScheduleWalker.h"
#include "ValidatorContext.h"

#include <map>

namespace sart {

/// Why bytes travel.
enum Traffic { Exchange, Moved, Ring, Small };
constexpr int numTraffic = 4;

/// Walks a valid bound program once and adds up what its instructions do:
/// tiles and rows per rank, bytes per link, and when each instruction ends
/// under the program's cost model. Computing takes tilePs a tile and rowPs a
/// row of q-blocks; a transfer takes transferPs and bytePs a byte, the
/// transfers of one link follow each other, and they run beside the computing.
/// Everything else takes no time.
class ProgramAccount : public ScheduleVisitor {
public:
  ProgramAccount(const ValidatorContext &context, const Schedule &schedule);

  void execute(int64_t rank, size_t index) override;
  void meet(const Meeting &meeting) override;

  struct RankWork {
    int64_t tiles = 0, rows = 0;
    std::vector<int64_t> heads; ///< in order of their first attend
  };
  /// One instruction as a part of a path.
  struct Step {
    int64_t finishPs = 0; ///< when it is done
    int64_t costPs = 0;   ///< time since `cause` was done
    int64_t tiles = 0, bytes = 0;
    int32_t cause = -1; ///< instruction that had to be done before
  };
  struct Bytes {
    int64_t of[numTraffic] = {};
  };

  const Step &at(int32_t id) const { return steps[static_cast<size_t>(id)]; }
  int64_t rankOf(int32_t id) const {
    return schedule.rankOf[static_cast<size_t>(id)];
  }
  const Bytes &bytes(int64_t from, int64_t to) const {
    return sent[linkOf(from, to)];
  }

  const ValidatorContext &context;
  const Schedule &schedule;
  std::vector<RankWork> work; ///< per rank
  std::vector<int32_t> last;  ///< per rank: last instruction that ran, or -1

private:
  /// State of the transfers from one rank to another.
  struct Link {
    int64_t freePs = 0;
    int64_t bytes = 0;  ///< since the link was last idle
    int32_t begin = -1; ///< transfer that it took up then
  };

  Step &at(int32_t id) { return steps[static_cast<size_t>(id)]; }
  size_t linkOf(int64_t from, int64_t to) const {
    return static_cast<size_t>(from * context.numRanks() + to);
  }
  int64_t transferCost(int64_t bytes) const;
  Step after(int32_t before) const;
  void post(int64_t rank, int32_t id, const Instruction &instruction,
            int64_t nowPs);
  void arrive(Step &step, int32_t transfer);
  void attend(int64_t rank, const Instruction &instruction, Step &step);
  int64_t count(int64_t from, int64_t to, const Instruction &instruction,
                int64_t rows, bool collective);

  const CostModel &cost;
  std::vector<Step> steps; ///< per id
  std::vector<Bytes> sent; ///< per link
  std::vector<Link> links;
  std::vector<bool> queries;      ///< by window: attend reads queries from it
  std::map<int32_t, Link> posted; ///< the link when each transfer was posted
};

} // namespace sart

#endif // SPARSEATTN_RT_CORE_PROGRAMACCOUNT_H

//===- ProgramWorld.h - A program over the ranks of a world -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_TRANSPORT_PROGRAMWORLD_H
#define SPARSEATTN_TEST_UNIT_TRANSPORT_PROGRAMWORLD_H

#include "Executor/ExecutorTestSupport.h"
#include "TransportWorld.h"

namespace sart::test {

/// Executors of one program, one for each part of a world. Every process that
/// is played here sees the whole tensors and writes its own shards.
class ProgramWorld {
public:
  /// `before` is called before each attend of a rank; `change` may make a
  /// rank's program another one.
  ProgramWorld(std::unique_ptr<World> world, const Program &program,
               const ExecutorOptions &options,
               std::function<Status(int64_t rank)> before = {},
               const std::function<void(int64_t rank, Program &)> &change = {});

  /// Runs on all ranks here, and gathers the outputs in rank 0's process. The
  /// first error, or "".
  std::string run(LayerData &data, const RunOptions &options = {},
                  RunStats *stats = nullptr);
  std::string begin(LayerData &data);
  std::string finish(LayerData &data);
  /// One run with options of each rank; the errors by rank. The process of
  /// `withoutTensors` brings none.
  std::vector<std::string>
  runEach(LayerData &data, const std::function<RunOptions(int64_t)> &options,
          int64_t withoutTensors = -1);

  bool has(int64_t rank) const;
  bool hasRankZero() const { return has(0); }
  Executor &rankZero() { return *executors.front(); }
  Executor &local(size_t part) { return *executors[part]; }
  const Program &program() const { return executors.front()->program(); }

private:
  /// Calls body(executor, its shards, all shards) on a thread for each part;
  /// the errors by part.
  std::vector<std::string> onParts(
      LayerData &data,
      const std::function<Status(Executor &, const std::vector<RankTensors> &,
                                 const std::vector<RankTensors> &)> &body);
  std::vector<std::unique_ptr<Executor>> executors;
};

} // namespace sart::test

#endif // SPARSEATTN_TEST_UNIT_TRANSPORT_PROGRAMWORLD_H

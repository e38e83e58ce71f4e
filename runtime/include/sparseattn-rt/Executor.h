//===- Executor.h - Runs the ranks of a program -----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_EXECUTOR_H
#define SPARSEATTN_RT_EXECUTOR_H

#include "sparseattn-rt/Stats.h"
#include "sparseattn-rt/Transport.h"

#include <array>
#include <functional>
#include <memory>
#include <optional>

namespace sart {

/// A caller's tensor [heads, rows, elements]; strides in elements, the last
/// one must be 1. lse: [heads, rows, 1].
struct Tensor {
  void *data = nullptr;
  DType dtype = DType::F32;
  std::array<int64_t, 3> sizes = {0, 0, 0};
  std::array<int64_t, 3> strides = {0, 0, 1};
  static Tensor contiguous(void *data, DType dtype, int64_t heads, int64_t rows,
                           int64_t elements);
};

/// Tensors of one rank: its shards (Placement::qShardOf, kvShardOf).
struct RankTensors {
  Tensor q, k, v, o, lse;
};

/// Shards of all ranks as views into whole tensors; nothing is copied.
std::vector<RankTensors> shardViews(const Placement &placement, const Tensor &q,
                                    const Tensor &k, const Tensor &v,
                                    const Tensor &o, const Tensor &lse);

struct ExecutorOptions {
  bool poison = false;   ///< fill unwritten and released rows with NaN
  bool validate = true;  ///< validate the template once and each bound program
  bool coverage = false; ///< also prove coverage of each bound mask
  int64_t timeoutMs = 60000;
};

struct RunOptions {
  /// Runs this plan instead of making one (still verified; templates only).
  const Plan *plan = nullptr;
  /// Routes densely whatever the policy says (first steps of a schedule).
  bool dense = false;
  bool trace = true;
  /// Over processes: brings the mask to rank 0 as well, for boundProgram and
  /// lastMask. The same on every rank, as `trace`.
  bool gatherMask = true;
};

/// Executes one template or bound program. The order of work is the program's;
/// nothing is done that no instruction asks for. One thread per local rank.
///
/// Over processes, each has an executor of the same program with its own ranks
/// of the transport, and all make the same calls in the same order. What
/// follows says "all ranks" of all processes together, and tensors are those of
/// the process's ranks. Statistics of a run and the mask are on rank 0; the
/// others know of their own ranks alone.
class Executor {
public:
  /// Null `transport`: all ranks as threads of this process.
  static Expected<std::unique_ptr<Executor>>
  create(Program program, std::shared_ptr<Backend> backend,
         const ExecutorOptions &options = {},
         std::unique_ptr<Transport> transport = nullptr);
  ~Executor();

  const Program &program() const;
  /// Ranks of this process, ascending.
  const std::vector<int64_t> &localRanks() const;

  /// Runs the whole program. An error of one rank ends all ranks in bounded
  /// time, outputs are then unspecified, and the executor can run again. The
  /// message names rank, phase and instruction of the lowest rank that failed
  /// by itself.
  Status run(const std::vector<RankTensors> &tensors, const RunOptions &options,
             RunStats &stats);
  /// The same in two parts: begin runs up to the first phase in which any rank
  /// reads v (exchange of q and k, routing, planning), finish the rest. In
  /// begin the tensors' v, o and lse are not touched and may be null; in finish
  /// q and k are those of begin. A begin without its finish is dropped by the
  /// next begin or run.
  Status begin(const std::vector<RankTensors> &tensors,
               const RunOptions &options);
  Status finish(const std::vector<RankTensors> &tensors, RunStats &stats);
  /// Copies o and lse of `own`, the tensors of a run, into those of `all`, of
  /// every rank, where rank 0 is; elsewhere `all` is not looked at. Host
  /// memory. Nothing to do where all ranks are local.
  Status gatherOutputs(const std::vector<RankTensors> &own,
                       const std::vector<RankTensors> &all);

  /// The bound program and the mask of the last run (extras included); an
  /// error and null before the first successful one, and errors where rows of
  /// the mask cannot be fetched. Not while a run is going on; the mask lives
  /// until the next. Over processes: on rank 0.
  Expected<Program> boundProgram() const;
  Expected<const BlockMask *> lastMask() const;

private:
  struct State;
  explicit Executor(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// Plain-word account of a bound program: work per rank, bytes per link,
/// imbalance, critical path (by tiles and bytes).
std::string explainProgram(const Program &bound);

} // namespace sart

#endif // SPARSEATTN_RT_EXECUTOR_H

//===- Executor.h - Runs programs over ranks of a process -------*- C++ -*-===//
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
};

/// Executes one template or bound program. The order of work is the program's;
/// nothing is done that no instruction asks for. One thread per local rank.
class Executor {
public:
  static Expected<std::unique_ptr<Executor>>
  create(Program program, std::shared_ptr<Backend> backend,
         const ExecutorOptions &options = {});
  ~Executor();

  const Program &program() const;

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

  /// The bound program and the mask of the last run (extras included); an
  /// error and null before the first successful one, and errors where rows of
  /// the mask cannot be fetched. Not while a run is going on; the mask lives
  /// until the next.
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

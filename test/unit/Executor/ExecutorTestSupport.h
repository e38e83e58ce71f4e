//===- ExecutorTestSupport.h - Layers that tests run ------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_EXECUTOR_EXECUTORTESTSUPPORT_H
#define SPARSEATTN_TEST_UNIT_EXECUTOR_EXECUTORTESTSUPPORT_H

#include "Support/TemplateBuilder.h"
#include "sparseattn-rt/Executor.h"

#include "gtest/gtest.h"

#include <atomic>

namespace sart::test {

/// Blocks of 16 x 24 tokens, head dimension 32.
Placement placementOf(int64_t ulysses, int64_t ring, int64_t heads,
                      int64_t kvHeads, int64_t sq, int64_t skv,
                      bool causal = false);

/// Whole tensors of a layer, [heads, tokens, 32]; outputs hold NaN. Scores
/// have magnitudes of 10 to 60; the scores of every third head are all far
/// below zero.
struct LayerData {
  LayerData(const LayerShape &shape, uint32_t seed,
            std::optional<DType> outDtype = {});

  std::vector<RankTensors> shards(const Placement &placement);
  /// Fills the outputs with NaN.
  void forget();
  float oAt(int64_t head, int64_t row, int64_t element) const;

  LayerShape shape;
  DType outDtype;
  std::vector<uint8_t> q, k, v, o;
  std::vector<float> lse;
};

/// Compares every row with the oracle over `mask`. The bound is
/// 1e-6 * max(1, |lse|) * max |v| for float outputs (rounding of a result, and
/// of LSE values that weigh the partial results of a ring), plus one rounding
/// step of a 16-bit output.
void expectOracle(const LayerData &data, const BlockMask &mask, float scale);

std::shared_ptr<Backend> referenceBackend();

/// Poisons, validates with coverage, and gives up after two minutes, so
/// that a busy machine fails no test.
ExecutorOptions strictOptions();

std::unique_ptr<Executor>
executorOf(Program program, const ExecutorOptions &options = strictOptions(),
           std::shared_ptr<Backend> backend = referenceBackend());

/// The template of a placement; fails the test when it is none.
Program templateOf(const Placement &placement,
                   const TemplateOptions &options = {});
Program boundOf(const Placement &placement, const BlockMask &mask,
                const TemplateOptions &options = {});

/// Runs with the data's shards; fails the test on an error.
RunStats runAll(Executor &executor, LayerData &data,
                const RunOptions &options = {});

/// The mask of the last run; fails the test when there is none.
BlockMask maskOf(const Executor &executor);

/// A top-p policy.
TemplateOptions topP(float p, int64_t minBlocks = 1);

/// Forwards to the reference backend; `before` may delay or fail each attend
/// call (numbered from 0 over all ranks).
class HookedBackend : public Backend {
public:
  explicit HookedBackend(std::function<Status(int64_t)> before)
      : inner(referenceBackend()), before(std::move(before)) {}

  const char *name() const override { return "hooked"; }
  Status supports(const Program &program) const override {
    return inner->supports(program);
  }
  Status attend(const Program &program,
                const std::vector<AttendTask> &tasks) override;
  Status pool(const Program &program, bool keySide,
              const std::vector<PoolTask> &tasks) override {
    return inner->pool(program, keySide, tasks);
  }
  Status route(const Program &program, const std::vector<RouteTask> &tasks,
               RouteStats &stats) override {
    return inner->route(program, tasks, stats);
  }

private:
  std::shared_ptr<Backend> inner;
  std::function<Status(int64_t)> before;
  std::atomic<int64_t> calls{0};
};

} // namespace sart::test

#endif // SPARSEATTN_TEST_UNIT_EXECUTOR_EXECUTORTESTSUPPORT_H

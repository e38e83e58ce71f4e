//===- ReferenceBackend.cpp - Plain loops in double precision -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ReferenceKernels.h"

#include <algorithm>

using namespace sart;

namespace {

class ReferenceBackend final : public Backend {
public:
  explicit ReferenceBackend(std::shared_ptr<ThreadPool> pool)
      : threads(std::move(pool)) {}

  const char *name() const override { return "reference"; }
  Status supports(const Program &program) const override;
  Status attend(const Program &program,
                const std::vector<AttendTask> &tasks) override;
  Status pool(const Program &program, bool keySide,
              const std::vector<PoolTask> &tasks) override;
  Status route(const Program &program, const std::vector<RouteTask> &tasks,
               RouteStats &stats) override;

private:
  std::shared_ptr<ThreadPool> threads;
};

bool isFloat(DType type) {
  return type == DType::F32 || type == DType::BF16 || type == DType::F16;
}

/// Every index of a mask row, unlike the compiled kernels, which trust them.
Status checkRow(const int32_t *row, int64_t kvBlocks) {
  int32_t last = -1;
  for (int32_t i = 1; i <= row[0]; ++i) {
    if (row[i] <= last || row[i] >= kvBlocks)
      return makeError("kv-blocks of a mask row not ascending within the mask: "
                       "got ",
                       row[i], " after ", last, ", expected more and below ",
                       kvBlocks);
    last = row[i];
  }
  return Status::success();
}

/// Attends the rows of one q-block.
void attendBlock(const LayerShape &shape, float scale, const AttendTask &task,
                 const std::vector<double> &k, const std::vector<double> &v,
                 int64_t firstKey, int64_t block) {
  const int32_t *row = static_cast<const int32_t *>(task.mask.data) +
                       block * task.mask.rowStride;
  int64_t begin = block * shape.blockQ;
  int64_t end = std::min(begin + shape.blockQ, task.q.rows);
  std::vector<double> q = widen(task.q, {begin, end});
  std::vector<double> o(static_cast<size_t>(shape.headDim));
  ReferenceRow kernel(k.data(), v.data(), shape.headDim);
  for (int64_t i = begin; i < end; ++i) {
    kernel.begin(q.data() + (i - begin) * shape.headDim,
                 static_cast<double>(scale));
    for (int32_t entry = 1; entry <= row[0]; ++entry) {
      int64_t kvBlock = row[entry];
      if (kvBlock < task.kvBlocks.begin || kvBlock >= task.kvBlocks.end)
        continue;
      int64_t last = std::min((kvBlock + 1) * shape.blockK, task.k.rows);
      if (shape.causal)
        last = std::min(last, i + task.diag + 1);
      kernel.add({kvBlock * shape.blockK - firstKey, last - firstKey});
    }
    double lse = kernel.finish(o.data());
    for (int64_t d = 0; d < shape.headDim; ++d)
      storeFromFloat(task.o.data, task.o.dtype, i * task.o.rowStride + d,
                     static_cast<float>(o[static_cast<size_t>(d)]));
    static_cast<float *>(task.lse.data)[i * task.lse.rowStride] =
        static_cast<float>(lse);
  }
}

Status ReferenceBackend::supports(const Program &program) const {
  for (const KernelSpec &spec : requiredKernels(program))
    if (!isFloat(spec.dtype) || !isFloat(spec.outDtype))
      return makeError("dtype of ", spec.name(),
                       " not supported: expected f32, bf16 or f16");
  return Status::success();
}

Status ReferenceBackend::attend(const Program &program,
                                const std::vector<AttendTask> &tasks) {
  const LayerShape &shape = program.placement.shape;
  for (const AttendTask &task : tasks) {
    if (task.lse.dtype != DType::F32)
      return makeError("dtype of lse does not match: got ",
                       toString(task.lse.dtype), ", expected f32");
    for (int64_t block = task.qBegin; block < task.qEnd; ++block)
      SART_RETURN_IF_ERROR(
          checkRow(static_cast<const int32_t *>(task.mask.data) +
                       block * task.mask.rowStride,
                   shape.kvBlocks()));
  }
  for (const AttendTask &task : tasks) {
    int64_t firstKey =
        std::min(task.kvBlocks.begin * shape.blockK, task.k.rows);
    Range keys{firstKey,
               std::min(task.kvBlocks.end * shape.blockK, task.k.rows)};
    std::vector<double> k = widen(task.k, keys), v = widen(task.v, keys);
    threads->parallelFor(task.qEnd - task.qBegin, [&](int64_t i, int64_t) {
      attendBlock(shape, program.scale, task, k, v, firstKey, task.qBegin + i);
    });
  }
  return Status::success();
}

Status ReferenceBackend::pool(const Program &program, bool keySide,
                              const std::vector<PoolTask> &tasks) {
  const LayerShape &shape = program.placement.shape;
  int64_t size = keySide ? shape.blockK : shape.blockQ;
  for (const PoolTask &task : tasks) {
    for (int64_t block = task.blockBegin; block < task.blockEnd; ++block) {
      Range rows{block * size, std::min((block + 1) * size, task.x.rows)};
      std::vector<double> x = widen(task.x, rows);
      auto *y = static_cast<float *>(task.y.data) + block * task.y.rowStride;
      for (int64_t d = 0; d < shape.headDim; ++d) {
        double sum = 0;
        for (int64_t i = 0; i < rows.size(); ++i)
          sum += x[static_cast<size_t>(i * shape.headDim + d)];
        y[d] = rows.empty()
                   ? 0.0f
                   : static_cast<float>(sum / static_cast<double>(rows.size()));
      }
    }
  }
  return Status::success();
}

Status ReferenceBackend::route(const Program &program,
                               const std::vector<RouteTask> &tasks,
                               RouteStats &stats) {
  const RoutingPolicy &policy = program.policy;
  bool topK = policy.kind == RoutingPolicy::Kind::TopK;
  for (const RouteTask &task : tasks) {
    if (task.pooledQ.dtype != DType::F32 || task.pooledK.dtype != DType::F32)
      return makeError("dtype of pooled values does not match: expected f32");
    std::vector<double> k = widen(task.pooledK, {0, task.pooledK.rows});
    std::vector<RouteStats> rowStats(
        static_cast<size_t>(task.qEnd - task.qBegin));
    threads->parallelFor(task.qEnd - task.qBegin, [&](int64_t i, int64_t) {
      auto index = static_cast<size_t>(i);
      int64_t block = task.qBegin + i;
      std::vector<double> q = widen(task.pooledQ, {block, block + 1});
      std::vector<double> scores(static_cast<size_t>(task.visible[index]));
      for (size_t j = 0; j < scores.size(); ++j) {
        double dot = 0;
        for (size_t d = 0; d < q.size(); ++d)
          dot += q[d] * k[j * q.size() + d];
        scores[j] = static_cast<double>(program.scale) * dot;
      }
      referenceRoute(scores, topK ? 0.0 : static_cast<double>(policy.p),
                     topK ? policy.k : policy.minBlocks, policy.keep,
                     static_cast<int32_t *>(task.mask.data) +
                         block * task.mask.rowStride,
                     rowStats[index]);
    });
    for (const RouteStats &row : rowStats)
      stats += row;
  }
  return Status::success();
}

} // namespace

std::unique_ptr<Backend>
sart::createReferenceBackend(std::shared_ptr<ThreadPool> pool) {
  if (!pool)
    pool = std::make_shared<ThreadPool>(1);
  return std::make_unique<ReferenceBackend>(std::move(pool));
}

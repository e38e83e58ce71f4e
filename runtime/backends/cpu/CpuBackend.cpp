//===- CpuBackend.cpp - Runs compiled kernels over the thread pool --------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One kernel call handles one q-block row of one head. The rows of all tasks
// of an instruction go to the threads longest list first, which keeps the
// threads even however uneven the heads are. Rows write disjoint memory, so
// that results do not depend on which thread takes which row.
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Backend.h"
#include "sparseattn-rt/CheckedMath.h"

#include <algorithm>
#include <new>
#include <tuple>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

using namespace sart;

namespace {

// Element types do not change the layout of a descriptor.
using Matrix = MemRef<void, 2>;
using Vector = MemRef<void, 1>;
using AttendEntry = void (*)(Matrix *q, Matrix *k, Matrix *v, Matrix *o,
                             Vector *lse, Vector *idx, Vector *scratch,
                             intptr_t qRow, intptr_t diag, float scale);
using PoolEntry = void (*)(Matrix *x, Matrix *y, intptr_t blockBegin,
                           intptr_t blockEnd);
using RouteEntry = void (*)(Matrix *pooledQ, Matrix *pooledK, Vector *out,
                            Vector *scratch, intptr_t row, intptr_t visible,
                            float scale, float p, intptr_t minBlocks,
                            Vector *keep, Vector *stats);

// Compiled kernels carry no type information for the function sanitizer.
#if defined(__clang__)
#define SART_CALLS_KERNEL __attribute__((no_sanitize("function")))
#else
#define SART_CALLS_KERNEL
#endif
template <typename Entry, typename... Arguments>
SART_CALLS_KERNEL void callKernel(const LoadedKernel &kernel,
                                  Arguments... arguments) {
  reinterpret_cast<Entry>(kernel.entry)(arguments...);
}

Matrix matrixOf(const SlotView &view) {
  Matrix matrix;
  matrix.allocated = matrix.aligned = view.data;
  matrix.sizes[0] = view.rows;
  matrix.sizes[1] = view.rowElements;
  matrix.strides[0] = view.rowStride;
  matrix.strides[1] = 1;
  return matrix;
}

Vector vectorOf(const void *data, int64_t size, int64_t stride = 1) {
  Vector vector;
  vector.allocated = vector.aligned = const_cast<void *>(data);
  vector.sizes[0] = size;
  vector.strides[0] = stride;
  return vector;
}

/// Working memory of the calling thread, kept for its next kernel.
class Scratch {
public:
  ~Scratch() { release(); }
  /// At least `bytes` on a 64-byte border; null when there is no memory.
  void *get(int64_t bytes) {
    if (bytes <= capacity)
      return memory;
    release();
    if (bytes > most)
      return nullptr;
    memory =
        ::operator new(static_cast<size_t>(bytes), alignment, std::nothrow);
    capacity = memory ? bytes : 0;
    return memory;
  }

private:
  static constexpr std::align_val_t alignment{64};
  /// Above it, sizes are those of a damaged executable.
  static constexpr int64_t most = int64_t(1) << 40;
  void release() {
    ::operator delete(memory, alignment);
    memory = nullptr;
    capacity = 0;
  }
  void *memory = nullptr;
  int64_t capacity = 0;
};

thread_local Scratch threadScratch;

Status noScratch(int64_t bytes) {
  return makeError("working memory of a kernel not available: got no ", bytes,
                   " bytes");
}

class CpuBackend final : public Backend {
public:
  CpuBackend(std::shared_ptr<KernelTable> kernels,
             std::shared_ptr<ThreadPool> pool)
      : kernels(std::move(kernels)), threads(std::move(pool)) {}

  const char *name() const override { return "cpu"; }

  Status supports(const Program &program) const override {
    for (const KernelSpec &spec : requiredKernels(program)) {
      auto kernel = find(spec);
      if (!kernel)
        return kernel.status();
    }
    return Status::success();
  }

  Status attend(const Program &program,
                const std::vector<AttendTask> &tasks) override;
  Status pool(const Program &program, bool keySide,
              const std::vector<PoolTask> &tasks) override;
  Status route(const Program &program, const std::vector<RouteTask> &tasks,
               RouteStats &stats) override;

private:
  Expected<const LoadedKernel *> find(const KernelSpec &spec) const {
    const LoadedKernel *kernel = kernels->find(spec);
    if (kernel && kernel->entry)
      return kernel;
    return makeError("kernel ", spec.name(), " is missing: got ",
                     kernels->size(),
                     " other kernels, expected it compiled for "
                     "the program (dtypes, head dimension, "
                     "block sizes and causal must agree)");
  }

  std::shared_ptr<KernelTable> kernels;
  std::shared_ptr<ThreadPool> threads;
};

/// Results below the smallest normal number become zero while this lives.
/// Weights of far keys and sums rescaled by a much larger maximum are that
/// small where attention is concentrated, and x86 takes some hundred cycles for
/// each operation on them: a dense layer of sharp heads ran a third slower.
/// What is lost is below 1.2e-38.
class FlushToZero {
public:
#if defined(__SSE__)
  FlushToZero() : before(_mm_getcsr()) {
    _mm_setcsr(before | _MM_FLUSH_ZERO_ON);
  }
  ~FlushToZero() { _mm_setcsr(before); }

private:
  unsigned before;
#endif
};

/// One kernel call: a q-block of a task, and the part of its list that counts.
struct AttendRow {
  const AttendTask *task;
  int64_t block;
  const int32_t *list;
  int64_t count;
};

void appendRows(const AttendTask &task, int64_t kvBlocks,
                std::vector<AttendRow> &rows) {
  bool whole = task.kvBlocks.begin == 0 && task.kvBlocks.end == kvBlocks;
  for (int64_t block = task.qBegin; block < task.qEnd; ++block) {
    const auto *row = static_cast<const int32_t *>(task.mask.data) +
                      block * task.mask.rowStride;
    const int32_t *begin = row + 1, *end = begin + row[0];
    // Lists ascend: a range of kv-blocks is a slice.
    if (!whole) {
      begin = std::lower_bound(begin, end, task.kvBlocks.begin);
      end = std::lower_bound(begin, end, task.kvBlocks.end);
    }
    rows.push_back({&task, block, begin, end - begin});
  }
}

Status CpuBackend::attend(const Program &program,
                          const std::vector<AttendTask> &tasks) {
  if (tasks.empty())
    return Status::success();
  const LayerShape &shape = program.placement.shape;
  auto kernel =
      find(attendKernel(program, tasks.front().q.dtype, tasks.front().o.dtype));
  if (!kernel)
    return kernel.status();
  std::vector<AttendRow> rows;
  for (const AttendTask &task : tasks) {
    // One instruction names one window per operand.
    DType inputs = tasks.front().q.dtype;
    if (task.k.dtype != inputs || task.v.dtype != inputs ||
        task.lse.dtype != DType::F32 || task.mask.dtype != DType::I32)
      return makeError(
          "dtypes of attend do not match: got ", toString(task.q.dtype), ", ",
          toString(task.k.dtype), ", ", toString(task.v.dtype), ", lse ",
          toString(task.lse.dtype), ", mask ", toString(task.mask.dtype),
          ", expected ", toString(inputs), " three times, f32 and i32");
    appendRows(task, shape.kvBlocks(), rows);
  }
  // Ties in task order, so that the order is the same everywhere.
  std::sort(rows.begin(), rows.end(),
            [](const AttendRow &a, const AttendRow &b) {
              return std::tie(b.count, a.task, a.block) <
                     std::tie(a.count, b.task, b.block);
            });
  int64_t scratchBytes = (*kernel)->scratchBytes;
  std::vector<char> failed(rows.size(), 0);
  threads->parallelFor(static_cast<int64_t>(rows.size()), [&](int64_t i,
                                                              int64_t) {
    auto index = static_cast<size_t>(i);
    const AttendRow &row = rows[index];
    const AttendTask &task = *row.task;
    void *memory = threadScratch.get(scratchBytes);
    if (!memory && scratchBytes > 0) {
      failed[index] = 1;
      return;
    }
    Matrix q = matrixOf(task.q), k = matrixOf(task.k), v = matrixOf(task.v),
           o = matrixOf(task.o);
    Vector lse = vectorOf(task.lse.data, task.lse.rows, task.lse.rowStride);
    Vector list = vectorOf(row.list, row.count);
    Vector scratch = vectorOf(memory, scratchBytes);
    [[maybe_unused]] FlushToZero flush;
    callKernel<AttendEntry>(**kernel, &q, &k, &v, &o, &lse, &list, &scratch,
                            row.block * shape.blockQ, task.diag, program.scale);
  });
  if (std::find(failed.begin(), failed.end(), 1) != failed.end())
    return noScratch(scratchBytes);
  return Status::success();
}

Status CpuBackend::pool(const Program &program, bool keySide,
                        const std::vector<PoolTask> &tasks) {
  if (tasks.empty())
    return Status::success();
  auto kernel = find(poolKernel(program, tasks.front().x.dtype, keySide));
  if (!kernel)
    return kernel.status();
  // Small enough to even out, large enough to be worth a call.
  constexpr int64_t blocksPerCall = 8;
  struct Piece {
    const PoolTask *task;
    int64_t begin, end;
  };
  std::vector<Piece> pieces;
  for (const PoolTask &task : tasks) {
    if (task.y.dtype != DType::F32 || task.x.dtype != tasks.front().x.dtype)
      return makeError("dtypes of pool do not match: got ",
                       toString(task.x.dtype), " to ", toString(task.y.dtype),
                       ", expected ", toString(tasks.front().x.dtype),
                       " to f32");
    for (int64_t begin = task.blockBegin; begin < task.blockEnd;
         begin += blocksPerCall)
      pieces.push_back(
          {&task, begin, std::min(begin + blocksPerCall, task.blockEnd)});
  }
  threads->parallelFor(
      static_cast<int64_t>(pieces.size()), [&](int64_t i, int64_t) {
        const Piece &piece = pieces[static_cast<size_t>(i)];
        Matrix x = matrixOf(piece.task->x);
        Matrix y = matrixOf(piece.task->y);
        callKernel<PoolEntry>(**kernel, &x, &y, piece.begin, piece.end);
      });
  return Status::success();
}

Status CpuBackend::route(const Program &program,
                         const std::vector<RouteTask> &tasks,
                         RouteStats &stats) {
  if (tasks.empty())
    return Status::success();
  auto kernel = find(routeKernel(program));
  if (!kernel)
    return kernel.status();
  const RoutingPolicy &policy = program.policy;
  bool topK = policy.kind == RoutingPolicy::Kind::TopK;
  float p = topK ? 0.0f : policy.p;
  int64_t minBlocks = topK ? policy.k : policy.minBlocks;
  int64_t kvBlocks = program.placement.shape.kvBlocks();
  // Sizes that come from an executable; too much is no memory.
  int64_t scratchBytes =
      saturatingAdd((*kernel)->scratchBytes,
                    saturatingMul((*kernel)->scratchBytesPerKvBlock, kvBlocks));
  std::vector<int32_t> keepPairs;
  for (const Range &range : policy.keep)
    for (int64_t border : {range.begin, range.end})
      keepPairs.push_back(
          static_cast<int32_t>(std::clamp<int64_t>(border, 0, kvBlocks)));

  struct Row {
    const RouteTask *task;
    int64_t index; ///< into visible
  };
  std::vector<Row> rows;
  for (const RouteTask &task : tasks) {
    if (task.pooledQ.dtype != DType::F32 || task.pooledK.dtype != DType::F32 ||
        task.mask.dtype != DType::I32)
      return makeError(
          "dtypes of route do not match: got ", toString(task.pooledQ.dtype),
          ", ", toString(task.pooledK.dtype), ", mask ",
          toString(task.mask.dtype), ", expected f32, f32 and i32");
    for (int64_t i = 0; i < task.qEnd - task.qBegin; ++i)
      rows.push_back({&task, i});
  }
  struct RowStats {
    float keptMass = 0, near = 0;
    bool failed = false;
  };
  std::vector<RowStats> results(rows.size());
  threads->parallelFor(static_cast<int64_t>(rows.size()), [&](int64_t i,
                                                              int64_t) {
    auto index = static_cast<size_t>(i);
    const RouteTask &task = *rows[index].task;
    int64_t block = task.qBegin + rows[index].index;
    void *memory = threadScratch.get(scratchBytes);
    if (!memory && scratchBytes > 0) {
      results[index].failed = true;
      return;
    }
    float rowStats[2] = {0, 0};
    Matrix pooledQ = matrixOf(task.pooledQ);
    Matrix pooledK = matrixOf(task.pooledK);
    auto *out =
        static_cast<int32_t *>(task.mask.data) + block * task.mask.rowStride;
    Vector list = vectorOf(out, 1 + kvBlocks);
    Vector scratch = vectorOf(memory, scratchBytes);
    Vector keep =
        vectorOf(keepPairs.data(), static_cast<int64_t>(keepPairs.size()));
    Vector statistics = vectorOf(rowStats, 2);
    callKernel<RouteEntry>(**kernel, &pooledQ, &pooledK, &list, &scratch, block,
                           task.visible[static_cast<size_t>(rows[index].index)],
                           program.scale, p, minBlocks, &keep, &statistics);
    results[index] = {rowStats[0], rowStats[1], false};
  });
  // Summed in row order: the same bits whichever threads ran.
  for (const RowStats &row : results) {
    if (row.failed)
      return noScratch(scratchBytes);
    stats.keptPooledMass += static_cast<double>(row.keptMass);
    stats.nearThreshold += static_cast<int64_t>(row.near);
    ++stats.rows;
  }
  return Status::success();
}

} // namespace

std::unique_ptr<Backend>
sart::createCpuBackend(std::shared_ptr<KernelTable> kernels,
                       std::shared_ptr<ThreadPool> pool) {
  if (!kernels)
    kernels = std::make_shared<KernelTable>();
  if (!pool)
    pool = std::make_shared<ThreadPool>();
  return std::make_unique<CpuBackend>(std::move(kernels), std::move(pool));
}

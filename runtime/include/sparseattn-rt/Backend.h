//===- Backend.h - Kernels an executor calls --------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_BACKEND_H
#define SPARSEATTN_RT_BACKEND_H

#include "sparseattn-rt/Executable.h"
#include "sparseattn-rt/MemorySpace.h"

#include <functional>
#include <memory>
#include <vector>

namespace sart {

/// One slot of a window: rows x rowElements, strided rows, dense elements.
struct SlotView {
  void *data = nullptr;
  DType dtype = DType::F32;
  int64_t rows = 0;      ///< valid rows
  int64_t rowStride = 0; ///< elements between rows
  int64_t rowElements = 0;
  /// Its place in a window of `slots` slots, `slotStride` elements from one to
  /// the next.
  int64_t slot = 0, slots = 1, slotStride = 0;
};

/// Attention of q-blocks [qBegin, qEnd) of one head. Mask row i of `mask` is
/// [count, kv-blocks ascending]; only kv-blocks in `kvBlocks` count.
struct AttendTask {
  SlotView q, k, v, o, lse, mask;
  int64_t qBegin = 0, qEnd = 0;
  Range kvBlocks;
  int64_t diag = 0; ///< causal: row i of q sees key j iff j <= i + diag
};

/// Routing of q-blocks [qBegin, qEnd) of one head into rows of `mask`.
/// visible[i - qBegin]: kv-blocks row i may see, a prefix.
struct RouteTask {
  SlotView pooledQ, pooledK, mask;
  int64_t qBegin = 0, qEnd = 0;
  std::vector<int64_t> visible;
  /// The record of the head, [tiles, demand bits...], to which a backend that
  /// works elsewhere than in host memory adds what it selects.
  SlotView summary;
};

/// Rows [rowBegin, rowEnd): the partial joins o and lse in place (f32 all).
struct MergeTask {
  SlotView oPart, lsePart, o, lse;
  int64_t rowBegin = 0, rowEnd = 0;
};

/// Rows [rowBegin, rowEnd) of `to` become those of `from`, in to's dtype.
struct ConvertTask {
  SlotView from, to;
  int64_t rowBegin = 0, rowEnd = 0;
};

struct PoolTask {
  SlotView x, y;
  int64_t blockBegin = 0, blockEnd = 0;
};

struct RouteStats {
  double keptPooledMass = 0; ///< sum over rows
  int64_t rows = 0;
  int64_t nearThreshold = 0; ///< blocks with |cumulative - p| <= 1e-5
  RouteStats &operator+=(const RouteStats &o) {
    keptPooledMass += o.keptPooledMass;
    rows += o.rows;
    nearThreshold += o.nearThreshold;
    return *this;
  }
};

/// What a backend that works behind the host's back found out.
struct BackendCounts {
  RouteStats routing;
  int64_t selected = 0;       ///< tiles that routing selected
  std::vector<int64_t> tiles; ///< of each attend call, in order
};

/// Runs tasks of one program. A backend is shared by all local ranks and is
/// safe to call from several threads at once. Results do not depend on the
/// number of threads.
class Backend {
public:
  virtual ~Backend() = default;
  virtual const char *name() const = 0;
  /// Whether every instruction of `program` can be run; asked once, before the
  /// first run.
  virtual Status supports(const Program &program) const = 0;
  virtual Status attend(const Program &program,
                        const std::vector<AttendTask> &tasks) = 0;
  virtual Status pool(const Program &program, bool keySide,
                      const std::vector<PoolTask> &tasks) = 0;
  virtual Status route(const Program &program,
                       const std::vector<RouteTask> &tasks,
                       RouteStats &stats) = 0;
  /// In host memory unless a backend has other memory.
  virtual Status merge(const Program &program,
                       const std::vector<MergeTask> &tasks);
  virtual Status convert(const Program &program,
                         const std::vector<ConvertTask> &tasks);

  /// The backend for the work of one rank, with memory and an order of its
  /// own, used by one thread at a time; null: this one serves all ranks.
  virtual Expected<std::shared_ptr<Backend>> ofRank(const Program &program,
                                                    int64_t rank);
  /// Where the tasks' memory lies.
  virtual MemorySpace &memory();
  /// Waits for all work and adds what was counted since the last call. Backends
  /// of other memory alone count here; others give counts in their calls.
  virtual Status finish(BackendCounts &counts);
};

/// Worker threads of the process, `threads` in all (0: one per core). The
/// calling thread works too; calls from several threads share the workers.
class ThreadPool {
public:
  explicit ThreadPool(int64_t threads = 0);
  ~ThreadPool();
  int64_t threads() const;
  /// Calls body(i, worker) for i in [0, count), in ascending order of start;
  /// returns when all are done. worker < threads() is the index of the
  /// executing thread within this call, 0 the caller.
  void parallelFor(int64_t count,
                   const std::function<void(int64_t, int64_t)> &body);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Compiled kernels (runtime/backends/cpu). Rows go to threads longest first.
std::unique_ptr<Backend> createCpuBackend(std::shared_ptr<KernelTable> kernels,
                                          std::shared_ptr<ThreadPool> pool);
/// Compiled kernels of device `device` of the CUDA driver (runtime/backends/
/// cuda), opened now: fails, saying why, where there is none. Each rank has a
/// stream and windows in device memory.
Expected<std::unique_ptr<Backend>>
createCudaBackend(std::shared_ptr<KernelTable> kernels, int device = 0);
/// Plain loops in double precision (runtime/backends/reference), the oracle of
/// the interpreter. Slow.
std::unique_ptr<Backend>
createReferenceBackend(std::shared_ptr<ThreadPool> pool);

/// Dense masked reference of selected query rows in double precision.
/// q, k, v: strided views of one head; `allowed` (null: all) says whether a
/// kv-block is visible to the row's q-block: allowed(qBlock, kvBlock).
/// Writes o [rows.size()][headDim] (null: only lse is computed) and lse
/// [rows.size()]. Empty row: 0, -inf. `pool` shares the rows among threads;
/// they do not depend on it.
void referenceAttend(const LayerShape &shape, const SlotView &q,
                     const SlotView &k, const SlotView &v,
                     const std::vector<int64_t> &rows, float scale,
                     const std::function<bool(int64_t, int64_t)> &allowed,
                     double *o, double *lse, ThreadPool *pool = nullptr);

/// Merges the partial (oPart, lsePart) into (o, lse) over `rows` rows of
/// headDim float elements, in place, in the max-subtracted form; two empty
/// partials give empty (0, -inf).
void mergePartials(const float *oPart, int64_t oPartStride,
                   const float *lsePart, int64_t lsePartStride, float *o,
                   int64_t oStride, float *lse, int64_t lseStride, int64_t rows,
                   int64_t headDim);

} // namespace sart

#endif // SPARSEATTN_RT_BACKEND_H

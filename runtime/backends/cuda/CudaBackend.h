//===- CudaBackend.h - Runs compiled kernels on a GPU -----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDABACKEND_H
#define SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDABACKEND_H

#include "CudaScratch.h"
#include "CudaTensorMap.h"
#include "sparseattn-rt/Backend.h"
#include "sparseattn-rt/DeviceRouting.h"

#include <map>

namespace sart::cuda {

/// q, k and v of own and of received rows.
constexpr int64_t maxSources = 2;

/// One head's rows of an attend launch; kernels know the layout.
struct EntryRecord {
  uint64_t o = 0;    ///< row 0 of this head's o
  uint64_t lse = 0;  ///< fp32, unit stride
  uint64_t mask = 0; ///< mask row of q-block 0
  int32_t source = 0;
  int32_t qHead = 0; ///< coordinates in the source's maps
  int32_t kvHead = 0;
  int32_t qRows = 0; ///< valid rows
  int32_t kvRows = 0;
  int32_t qBatch = 0;
  int32_t kvBatch = 0;
  int32_t reserved[3] = {};
};
static_assert(sizeof(EntryRecord) == 64, "kernels know the layout");

/// What all ranks of a backend share. `modules` may be shared by backends: a
/// binary is then loaded once for all of them; null: a table of their own.
struct CudaShared {
  CudaShared(std::shared_ptr<CudaDevice> device,
             std::shared_ptr<KernelTable> kernels,
             std::shared_ptr<CudaModuleTable> modules = nullptr)
      : device(std::move(device)), kernels(std::move(kernels)),
        modules(std::move(modules)) {
    if (!this->kernels)
      this->kernels = std::make_shared<KernelTable>();
    if (!this->modules)
      this->modules = std::make_shared<CudaModuleTable>(this->device);
  }
  std::shared_ptr<CudaDevice> device;
  std::shared_ptr<KernelTable> kernels;
  std::shared_ptr<CudaModuleTable> modules;
};

/// The work of one rank, or of a caller without ranks: a stream, and what its
/// launches need. Calls queue work and return.
class CudaBackend final : public Backend {
public:
  static Expected<std::unique_ptr<CudaBackend>>
  create(std::shared_ptr<CudaShared> shared);

  const char *name() const override { return "cuda"; }
  Status supports(const Program &program) const override;
  Status attend(const Program &program,
                const std::vector<AttendTask> &tasks) override;
  Status pool(const Program &program, bool keySide,
              const std::vector<PoolTask> &tasks) override;
  Status route(const Program &program, const std::vector<RouteTask> &tasks,
               RouteStats &stats) override;
  Status merge(const Program &program,
               const std::vector<MergeTask> &tasks) override;
  Status convert(const Program &program,
                 const std::vector<ConvertTask> &tasks) override;

  Expected<std::shared_ptr<Backend>> ofRank(const Program &program,
                                            int64_t rank) override;
  MemorySpace &memory() override { return *space; }
  Status finish(BackendCounts &counts) override;

  CudaStream &stream() { return space->stream(); }
  const CudaDevice &device() const { return *shared->device; }

private:
  CudaBackend(std::shared_ptr<CudaShared> shared,
              std::unique_ptr<CudaSpace> own)
      : shared(std::move(shared)), space(std::move(own)), scratch(*space) {}

  /// A kernel of the table, or an error that names what is missing.
  Expected<const LoadedKernel *> find(const KernelSpec &spec) const;
  Expected<const LoadedKernel *> find(const std::string &entry) const;
  /// All that a program needs.
  Expected<std::vector<const LoadedKernel *>>
  kernelsOf(const Program &program) const;
  Expected<const CudaFunction *> functionOf(const LoadedKernel &kernel);
  /// Launches a kernel of DeviceRouting.h.
  Status launch(const DeviceRoutingLaunch &launch,
                const KernelArguments &arguments);

  // CudaAttend.cpp
  Status checkAttend(const std::vector<AttendTask> &tasks) const;
  Expected<TensorMap> mapOf(const SlotView &view, const DeviceLaunch &launch,
                            int32_t boxRows, const char *what);
  Status orderTiles(const std::vector<AttendTask> &tasks, DevicePtr tiles);

  struct MapKey {
    const void *base;
    DType dtype;
    int64_t rows, rowStride, slots, slotStride, columns;
    int32_t boxColumns, boxRows;
    bool operator<(const MapKey &o) const;
  };
  struct Tiles {
    const DeviceTileRecord *records = nullptr; ///< after the work is done
    int64_t count = 0;
    int64_t mostBlocks = 0; ///< kv-blocks of a mask row
  };
  struct Totals {
    const DeviceRouteTotals *records = nullptr;
    int64_t count = 0;
  };

  std::shared_ptr<CudaShared> shared;
  std::unique_ptr<CudaSpace> space;
  CudaScratch scratch;
  std::map<MapKey, TensorMap> maps;
  std::vector<Tiles> attended;
  std::vector<Totals> routed;
};

} // namespace sart::cuda

#endif // SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDABACKEND_H

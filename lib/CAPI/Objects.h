//===- Objects.h - What the C API's handles point to ------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_CAPI_OBJECTS_H
#define SPARSEATTN_LIB_CAPI_OBJECTS_H

#include "sparseattn-c/sparseattn.h"

#include "sparseattn/Jit/LayerCompiler.h"

#include "sparseattn-rt/Executor.h"
#include "sparseattn-rt/TransportHub.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sart::cuda {
class CudaDevice;
class CudaModuleTable;
} // namespace sart::cuda

struct sa_engine {
  std::shared_ptr<mlir::sparseattn::LayerCompiler> compiler;
  std::shared_ptr<sart::DiskCache> cache;
  double createMs = 0;
  std::shared_ptr<sart::ThreadPool> pool;
  bool reference = false;
  std::string device;
  bool compileOnly = false;
  /// Of device cuda, unless it only compiles.
  std::shared_ptr<sart::cuda::CudaDevice> gpu;
  std::shared_ptr<sart::cuda::CudaModuleTable> gpuModules;
  int64_t timeoutMs = 60000;
  std::shared_ptr<sart::TransportHub> hub; ///< null: ranks are threads
};

struct sa_layer {
  /// The engine's, which may be gone before the layer.
  std::shared_ptr<mlir::sparseattn::LayerCompiler> compiler;
  std::shared_ptr<sart::ThreadPool> pool;
  mlir::sparseattn::CompiledLayer compiled;
  std::string choice; ///< of mesh and balance
  double engineMs = 0;
  std::shared_ptr<sart::DiskCache> cache;
  sart::CacheCounters cacheCounters; ///< of sa_layer_get_compile_info
  std::vector<sa_kernel_info> kernelInfos;
  std::string notice;                       ///< of sa_layer_get_compile_info
  std::unique_ptr<sart::Executor> executor; ///< null: compiled only
  std::optional<sart::Plan> fixedPlan;
  int64_t denseSteps = 0;
  std::string device;
  std::shared_ptr<sart::cuda::CudaDevice> gpu; ///< the engine's
  int64_t threads = 0;
  bool overProcesses = false;
  bool hasRun = false;
  sart::RunStats stats;
  bool began = false; ///< a begin without its finish
  std::vector<sart::RankTensors> beganTensors;
  std::string text; ///< of the last text or bytes handed out
};

namespace capi {

/// Ranks whose tensors a call brings.
std::vector<int64_t> ranksHere(const sa_layer &layer);

/// Gives the engine its GPU; refuses machines where none can run a layer.
sart::Status openGpu(sa_engine &engine);
/// Runs the kernels of one layer where the engine computes.
sart::Expected<std::shared_ptr<sart::Backend>>
createBackend(const sa_engine &engine,
              const std::shared_ptr<sart::KernelTable> &kernels);

/// Remembers `message` for sa_last_error and returns SA_ERROR.
sa_status fail(std::string message);
inline sa_status fail(const sart::Status &status) {
  return fail(status.message());
}

/// Turns the exception being handled into SA_ERROR: none crosses the C API.
sa_status failCaught() noexcept;

/// Refuses a struct whose size was not set: what it says would be ignored.
template <typename T>
sart::Status checkStructSize(const char *name, const T *given) {
  if (!given || given->struct_size >= sizeof given->struct_size)
    return sart::Status::success();
  return sart::makeError("struct_size of the ", name, ": got ",
                         given->struct_size, ", expected at least ",
                         sizeof given->struct_size);
}

/// Copies the caller's struct into a zeroed one of today's size, so that
/// callers built against an earlier version work.
template <typename T>
T withDefaults(const T *given) {
  T result = {};
  if (given) {
    size_t size =
        given->struct_size < sizeof(T) ? given->struct_size : sizeof(T);
    __builtin_memcpy(&result, given, size);
  }
  result.struct_size = sizeof(T);
  return result;
}

/// Writes `value` into the caller's struct, as much as it has room for.
template <typename T>
void assignSized(T *target, T value) {
  size_t size =
      target->struct_size < sizeof(T) ? target->struct_size : sizeof(T);
  size_t given = target->struct_size;
  __builtin_memcpy(target, &value, size);
  target->struct_size = given;
}

/// Refuses a tensor that the host reads or writes and that lies in memory of
/// the layer's GPU. `where`: after "GPU memory", for the message.
sart::Status checkOnHost(const sa_layer &layer, const char *name,
                         const sart::Tensor &tensor, const char *where);

/// Checks sizes, dtype, strides and pointer of a caller's tensor.
sart::Expected<sart::Tensor> toTensor(const char *name, const sa_tensor *tensor,
                                      sart::DType dtype, int64_t heads,
                                      int64_t tokens, int64_t elements);

} // namespace capi

#endif // SPARSEATTN_LIB_CAPI_OBJECTS_H

//===- CudaDriver.h - CUDA driver API opened at run time --------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDADRIVER_H
#define SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDADRIVER_H

#include "CudaApi.h"
#include "sparseattn-rt/Status.h"

#include <memory>

namespace sart::cuda {

/// X(member, symbol of the library, parameters): every function that is called.
/// The symbols name the versions whose parameters these are.
#define SART_CUDA_FUNCTIONS(X)                                                 \
  X(init, cuInit, (unsigned flags))                                            \
  X(driverGetVersion, cuDriverGetVersion, (int *version))                      \
  X(getErrorName, cuGetErrorName, (Result error, const char **name))           \
  X(getErrorString, cuGetErrorString, (Result error, const char **text))       \
  X(deviceGetCount, cuDeviceGetCount, (int *count))                            \
  X(deviceGet, cuDeviceGet, (DeviceOrdinal * device, int ordinal))             \
  X(deviceGetName, cuDeviceGetName,                                            \
    (char *name, int length, DeviceOrdinal device))                            \
  X(deviceGetAttribute, cuDeviceGetAttribute,                                  \
    (int *value, DeviceAttribute attribute, DeviceOrdinal device))             \
  X(deviceTotalMem, cuDeviceTotalMem_v2,                                       \
    (size_t *bytes, DeviceOrdinal device))                                     \
  X(devicePrimaryCtxRetain, cuDevicePrimaryCtxRetain,                          \
    (Context * context, DeviceOrdinal device))                                 \
  X(devicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2,                     \
    (DeviceOrdinal device))                                                    \
  X(ctxGetCurrent, cuCtxGetCurrent, (Context * context))                       \
  X(ctxSetCurrent, cuCtxSetCurrent, (Context context))                         \
  X(memGetInfo, cuMemGetInfo_v2, (size_t *free, size_t *total))                \
  X(memAlloc, cuMemAlloc_v2, (DevicePtr * pointer, size_t bytes))              \
  X(memFree, cuMemFree_v2, (DevicePtr pointer))                                \
  X(memHostAlloc, cuMemHostAlloc,                                              \
    (void **pointer, size_t bytes, unsigned flags))                            \
  X(memFreeHost, cuMemFreeHost, (void *pointer))                               \
  X(pointerGetAttribute, cuPointerGetAttribute,                                \
    (void *value, PointerAttribute attribute, DevicePtr pointer))              \
  X(memcpyAsync, cuMemcpyAsync,                                                \
    (DevicePtr to, DevicePtr from, size_t bytes, StreamHandle stream))         \
  X(memcpy2DAsync, cuMemcpy2DAsync_v2,                                         \
    (const Memcpy2D *copy, StreamHandle stream))                               \
  X(memsetD8Async, cuMemsetD8Async,                                            \
    (DevicePtr to, unsigned char value, size_t bytes, StreamHandle stream))    \
  X(memsetD2D8Async, cuMemsetD2D8Async,                                        \
    (DevicePtr to, size_t pitch, unsigned char value, size_t width,            \
     size_t height, StreamHandle stream))                                      \
  X(streamCreate, cuStreamCreate, (StreamHandle * stream, unsigned flags))     \
  X(streamDestroy, cuStreamDestroy_v2, (StreamHandle stream))                  \
  X(streamSynchronize, cuStreamSynchronize, (StreamHandle stream))             \
  X(streamWaitEvent, cuStreamWaitEvent,                                        \
    (StreamHandle stream, EventHandle event, unsigned flags))                  \
  X(streamBeginCapture, cuStreamBeginCapture_v2,                               \
    (StreamHandle stream, CaptureMode mode))                                   \
  X(streamEndCapture, cuStreamEndCapture,                                      \
    (StreamHandle stream, GraphHandle * graph))                                \
  X(eventCreate, cuEventCreate, (EventHandle * event, unsigned flags))         \
  X(eventDestroy, cuEventDestroy_v2, (EventHandle event))                      \
  X(eventRecord, cuEventRecord, (EventHandle event, StreamHandle stream))      \
  X(eventQuery, cuEventQuery, (EventHandle event))                             \
  X(eventSynchronize, cuEventSynchronize, (EventHandle event))                 \
  X(eventElapsedTime, cuEventElapsedTime,                                      \
    (float *milliseconds, EventHandle begin, EventHandle end))                 \
  X(graphInstantiate, cuGraphInstantiateWithFlags,                             \
    (GraphExecHandle * executable, GraphHandle graph,                          \
     unsigned long long flags))                                                \
  X(graphLaunch, cuGraphLaunch,                                                \
    (GraphExecHandle executable, StreamHandle stream))                         \
  X(graphDestroy, cuGraphDestroy, (GraphHandle graph))                         \
  X(graphExecDestroy, cuGraphExecDestroy, (GraphExecHandle executable))        \
  X(moduleLoadDataEx, cuModuleLoadDataEx,                                      \
    (ModuleHandle * module, const void *image, unsigned count,                 \
     JitOption *options, void **values))                                       \
  X(moduleUnload, cuModuleUnload, (ModuleHandle module))                       \
  X(moduleGetFunction, cuModuleGetFunction,                                    \
    (FunctionHandle * function, ModuleHandle module, const char *name))        \
  X(funcGetAttribute, cuFuncGetAttribute,                                      \
    (int *value, FunctionAttribute attribute, FunctionHandle function))        \
  X(funcSetAttribute, cuFuncSetAttribute,                                      \
    (FunctionHandle function, FunctionAttribute attribute, int value))         \
  X(launchKernel, cuLaunchKernel,                                              \
    (FunctionHandle function, unsigned gridX, unsigned gridY, unsigned gridZ,  \
     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,  \
     StreamHandle stream, void **parameters, void **extra))                    \
  X(tensorMapEncodeTiled, cuTensorMapEncodeTiled,                              \
    (TensorMap * map, TensorMapDataType type, unsigned rank, void *address,    \
     const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,      \
     const uint32_t *elementStrides, TensorMapInterleave interleave,           \
     TensorMapSwizzle swizzle, TensorMapPromotion promotion,                   \
     TensorMapFill fill))

/// The functions of the driver. Immutable once made; shared by all devices.
struct CudaDriver {
// A declaration's name and parameters cannot stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define SART_CUDA_MEMBER(member, symbol, parameters)                           \
  Result(*member) parameters = nullptr;
  // NOLINTEND(bugprone-macro-parentheses)
  SART_CUDA_FUNCTIONS(SART_CUDA_MEMBER)
#undef SART_CUDA_MEMBER
  std::shared_ptr<void> library; ///< stays open as long as the table

  /// Opens `path` and initialises the driver. Fails, with what is missing,
  /// where there is no driver, or none that has all of the functions.
  static Expected<std::shared_ptr<const CudaDriver>>
  open(const char *path = "libcuda.so.1");
  /// The table from a function that finds symbols, for open and for tests.
  static Expected<CudaDriver>
  fromSymbols(const char *library, void *(*find)(void *context, const char *),
              void *context);

  /// Success, or the error of a call: "cuMemAlloc(bytes 8): got
  /// CUDA_ERROR_OUT_OF_MEMORY (out of memory), expected success".
  template <typename... Parts>
  Status check(Result result, const Parts &...call) const {
    return result == success ? Status::success()
                             : failed(result, concat(call...));
  }
  /// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
  std::string describe(Result result) const;

private:
  Status failed(Result result, const std::string &call) const;
};

} // namespace sart::cuda

#endif // SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDADRIVER_H

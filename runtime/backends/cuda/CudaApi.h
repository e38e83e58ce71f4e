//===- CudaApi.h - Declarations of the CUDA driver API ----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime calls of the vendor's driver, declared here so that neither
// a toolkit nor its headers are needed to build. The numbers are checked
// against the vendor's header by test/unit/Cuda/VendorHeaderTest.cpp where that
// header is installed.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDAAPI_H
#define SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDAAPI_H

#include <cstddef>
#include <cstdint>

namespace sart::cuda {

using Result = int;
using DeviceOrdinal = int;
using DevicePtr = unsigned long long;
using Context = struct ContextHandle *;
using StreamHandle = struct StreamRecord *;
using EventHandle = struct EventRecord *;
using ModuleHandle = struct ModuleRecord *;
using FunctionHandle = struct FunctionRecord *;
using GraphHandle = struct GraphRecord *;
using GraphExecHandle = struct GraphExecRecord *;

// Enum constants are named as the driver names them, without its prefixes.
// NOLINTBEGIN(readability-identifier-naming)

/// Results the runtime tells apart; the driver names all of them.
enum ResultCode : int {
  success = 0,
  errorInvalidValue = 1,
  errorOutOfMemory = 2,
  errorNotInitialized = 3,
  errorNoDevice = 100,
  errorInvalidDevice = 101,
  errorInvalidImage = 200,
  errorNoBinaryForGpu = 209,
  errorInvalidPtx = 218,
  errorUnsupportedPtxVersion = 222,
  errorNotFound = 500,
  errorNotReady = 600,
  errorIllegalAddress = 700,
  errorLaunchFailed = 719,
};

enum DeviceAttribute : int {
  attributeMaxGridX = 5,
  attributeMaxGridY = 6,
  attributeMaxGridZ = 7,
  attributeMultiprocessorCount = 16,
  attributeL2CacheBytes = 38,
  attributeUnifiedAddressing = 41,
  attributeCapabilityMajor = 75,
  attributeCapabilityMinor = 76,
  attributeMaxSharedBytesOptIn = 97,
};

enum FunctionAttribute : int {
  functionMaxThreads = 0,
  functionLocalBytes = 3,
  functionRegisters = 4,
  functionBinaryVersion = 6,
  functionMaxDynamicSharedBytes = 8,
};

enum JitOption : int {
  jitInfoLogBuffer = 3,
  jitInfoLogBufferBytes = 4,
  jitErrorLogBuffer = 5,
  jitErrorLogBufferBytes = 6,
  jitLogVerbose = 12,
};

enum StreamFlags : unsigned { streamNonBlocking = 1 };
enum EventFlags : unsigned {
  eventDefault = 0,
  eventBlockingSync = 1,
  eventDisableTiming = 2
};
enum HostAllocFlags : unsigned { hostAllocPortable = 1 };
enum CaptureMode : int { captureThreadLocal = 1 };

enum MemoryType : unsigned {
  memoryHost = 1,
  memoryDevice = 2,
  memoryUnified = 4,
};

enum PointerAttribute : int {
  pointerMemoryType = 2, ///< a MemoryType
  pointerIsManaged = 8,  ///< unsigned
};

enum TensorMapDataType : int {
  tensorMapUInt8 = 0,
  tensorMapInt32 = 3,
  tensorMapInt64 = 5,
  tensorMapFloat16 = 6,
  tensorMapFloat32 = 7,
  tensorMapBFloat16 = 9,
};
enum TensorMapInterleave : int { tensorMapInterleaveNone = 0 };
enum TensorMapSwizzle : int {
  tensorMapSwizzleNone = 0,
  tensorMapSwizzle32 = 1,
  tensorMapSwizzle64 = 2,
  tensorMapSwizzle128 = 3,
};
enum TensorMapPromotion : int {
  tensorMapPromotionNone = 0,
  tensorMapPromotion64 = 1,
  tensorMapPromotion128 = 2,
  tensorMapPromotion256 = 3,
};
enum TensorMapFill : int { tensorMapFillZero = 0 };

// NOLINTEND(readability-identifier-naming)

/// What a kernel takes by value; the driver writes it.
struct alignas(128) TensorMap {
  unsigned char bytes[128];
};

/// A copy of `height` rows of `widthInBytes`.
struct Memcpy2D {
  size_t srcX = 0, srcY = 0;
  MemoryType srcType = memoryUnified;
  const void *srcHost = nullptr;
  DevicePtr srcDevice = 0;
  void *srcArray = nullptr;
  size_t srcPitch = 0;
  size_t dstX = 0, dstY = 0;
  MemoryType dstType = memoryUnified;
  void *dstHost = nullptr;
  DevicePtr dstDevice = 0;
  void *dstArray = nullptr;
  size_t dstPitch = 0;
  size_t widthInBytes = 0;
  size_t height = 0;
};

} // namespace sart::cuda

#endif // SPARSEATTN_RUNTIME_BACKENDS_CUDA_CUDAAPI_H

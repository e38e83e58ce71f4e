//===- VendorHeaderTest.cpp - Our declarations against the vendor's header ===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only compiled where cuda.h is found. It runs nothing: the checks are made by
// the compiler.
//
//===----------------------------------------------------------------------===//
// The macros name the versioned functions; the old ones carry other parameters.
#include <cuda.h>

#include "CudaDriver.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace ours = sart::cuda;

#define SAME(mine, vendors)                                                    \
  static_assert(static_cast<long long>(ours::mine) ==                          \
                    static_cast<long long>(vendors),                           \
                #mine " is another number in cuda.h")

SAME(success, CUDA_SUCCESS);
SAME(errorInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(errorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(errorNotInitialized, CUDA_ERROR_NOT_INITIALIZED);
SAME(errorNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(errorInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME(errorInvalidImage, CUDA_ERROR_INVALID_IMAGE);
SAME(errorNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(errorInvalidPtx, CUDA_ERROR_INVALID_PTX);
SAME(errorUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME(errorNotFound, CUDA_ERROR_NOT_FOUND);
SAME(errorNotReady, CUDA_ERROR_NOT_READY);
SAME(errorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(errorLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);

SAME(attributeMaxGridX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
SAME(attributeMaxGridY, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
SAME(attributeMaxGridZ, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
SAME(attributeMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(attributeL2CacheBytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(attributeUnifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
SAME(attributeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(attributeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(attributeMaxSharedBytesOptIn,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);

SAME(functionMaxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(functionLocalBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(functionRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(functionBinaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
SAME(functionMaxDynamicSharedBytes,
     CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);

SAME(jitInfoLogBuffer, CU_JIT_INFO_LOG_BUFFER);
SAME(jitInfoLogBufferBytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME(jitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
SAME(jitErrorLogBufferBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(jitLogVerbose, CU_JIT_LOG_VERBOSE);

SAME(streamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(eventDefault, CU_EVENT_DEFAULT);
SAME(eventBlockingSync, CU_EVENT_BLOCKING_SYNC);
SAME(eventDisableTiming, CU_EVENT_DISABLE_TIMING);
SAME(hostAllocPortable, CU_MEMHOSTALLOC_PORTABLE);
SAME(captureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(pointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(pointerIsManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED);
SAME(memoryHost, CU_MEMORYTYPE_HOST);
SAME(memoryDevice, CU_MEMORYTYPE_DEVICE);
SAME(memoryUnified, CU_MEMORYTYPE_UNIFIED);

SAME(tensorMapUInt8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
SAME(tensorMapInt32, CU_TENSOR_MAP_DATA_TYPE_INT32);
SAME(tensorMapInt64, CU_TENSOR_MAP_DATA_TYPE_INT64);
SAME(tensorMapFloat16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME(tensorMapFloat32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME(tensorMapBFloat16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
SAME(tensorMapInterleaveNone, CU_TENSOR_MAP_INTERLEAVE_NONE);
SAME(tensorMapSwizzleNone, CU_TENSOR_MAP_SWIZZLE_NONE);
SAME(tensorMapSwizzle32, CU_TENSOR_MAP_SWIZZLE_32B);
SAME(tensorMapSwizzle64, CU_TENSOR_MAP_SWIZZLE_64B);
SAME(tensorMapSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
SAME(tensorMapPromotionNone, CU_TENSOR_MAP_L2_PROMOTION_NONE);
SAME(tensorMapPromotion64, CU_TENSOR_MAP_L2_PROMOTION_L2_64B);
SAME(tensorMapPromotion128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
SAME(tensorMapPromotion256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
SAME(tensorMapFillZero, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);

static_assert(sizeof(ours::TensorMap) == sizeof(CUtensorMap), "");
static_assert(alignof(ours::TensorMap) >= alignof(CUtensorMap), "");
static_assert(sizeof(ours::Memcpy2D) == sizeof(CUDA_MEMCPY2D), "");
#define SAME_PLACE(mine, vendors)                                              \
  static_assert(                                                               \
      offsetof(ours::Memcpy2D, mine) == offsetof(CUDA_MEMCPY2D, vendors) &&    \
          sizeof(ours::Memcpy2D::mine) == sizeof(CUDA_MEMCPY2D::vendors),      \
      #mine " stands elsewhere in cuda.h")
SAME_PLACE(srcX, srcXInBytes);
SAME_PLACE(srcY, srcY);
SAME_PLACE(srcType, srcMemoryType);
SAME_PLACE(srcHost, srcHost);
SAME_PLACE(srcDevice, srcDevice);
SAME_PLACE(srcArray, srcArray);
SAME_PLACE(srcPitch, srcPitch);
SAME_PLACE(dstX, dstXInBytes);
SAME_PLACE(dstY, dstY);
SAME_PLACE(dstType, dstMemoryType);
SAME_PLACE(dstHost, dstHost);
SAME_PLACE(dstDevice, dstDevice);
SAME_PLACE(dstArray, dstArray);
SAME_PLACE(dstPitch, dstPitch);
SAME_PLACE(widthInBytes, WidthInBytes);
SAME_PLACE(height, Height);

namespace {

/// Two types that the calling convention passes alike.
template <typename A, typename B>
constexpr bool passedAlike() {
  return sizeof(A) == sizeof(B) &&
         std::is_pointer_v<A> == std::is_pointer_v<B> &&
         std::is_floating_point_v<A> == std::is_floating_point_v<B>;
}

template <typename A, typename B>
struct Alike : std::false_type {};
template <typename RA, typename... A, typename RB, typename... B>
struct Alike<RA (*)(A...), RB (*)(B...)> {
  static constexpr bool check() {
    if constexpr (sizeof...(A) != sizeof...(B))
      return false;
    else
      return passedAlike<RA, RB>() && (passedAlike<A, B>() && ...);
  }
  static constexpr bool value = check();
};

} // namespace

// The old symbol has the parameters of the new one.
#undef cuEventElapsedTime
#define cuEventElapsedTime cuEventElapsedTime_v2
#define SAME_PARAMETERS(member, symbol, parameters)                            \
  static_assert(                                                               \
      Alike<decltype(ours::CudaDriver::member), decltype(&::symbol)>::value,   \
      #symbol " takes other parameters in cuda.h");
SART_CUDA_FUNCTIONS(SAME_PARAMETERS)

TEST(VendorHeader, AgreesWithOurDeclarations) {
  SUCCEED() << "checked by the compiler against cuda.h of version "
            << CUDA_VERSION;
}

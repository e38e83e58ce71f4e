//===- DriverDoubleMemory.h - Memory of the driver double -------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_CUDA_DRIVERDOUBLEMEMORY_H
#define SPARSEATTN_TEST_UNIT_CUDA_DRIVERDOUBLEMEMORY_H

#include "DriverDouble.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace sart::cuda {

inline DriverDouble *&current = DriverDouble::current;
inline thread_local Context currentContext = nullptr;
inline const Context primaryContext = reinterpret_cast<Context>(0x77);

inline std::string liveName(const char *kind, size_t index) {
  return concat(kind, " ", index);
}

#define ENTER(symbol)                                                          \
  std::lock_guard<std::recursive_mutex> lock(current->mutex);                  \
  if (Result result = current->enter(symbol))                                  \
  return result
#define ENTER_IN_CONTEXT(symbol)                                               \
  ENTER(symbol);                                                               \
  if (currentContext != primaryContext)                                        \
  return 201

/// Functions of the table that allocate, copy and fill.
struct DoubleMemoryCalls {
  static Result memGetInfo(size_t *free, size_t *total) {
    ENTER_IN_CONTEXT("cuMemGetInfo_v2");
    *total = static_cast<size_t>(current->memoryBytes);
    *free = static_cast<size_t>(current->memoryBytes - current->allocatedBytes);
    return success;
  }
  static Result memAlloc(DevicePtr *pointer, size_t bytes) {
    ENTER_IN_CONTEXT("cuMemAlloc_v2");
    if (current->allocatedBytes + static_cast<int64_t>(bytes) >
        current->memoryBytes)
      return errorOutOfMemory;
    auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_t mapped = (bytes + page - 1) / page * page;
    void *memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return errorOutOfMemory;
    if (mapped <= size_t(1) << 26) // what nobody wrote is no zero
      std::memset(memory, 0xA5, mapped);
    mprotect(memory, mapped, PROT_NONE);
    *pointer = reinterpret_cast<DevicePtr>(memory);
    current->deviceBlocks[*pointer] = mapped;
    current->allocatedBytes += static_cast<int64_t>(bytes);
    current->live.insert(liveName("memory", *pointer));
    return success;
  }
  static Result memFree(DevicePtr pointer) {
    ENTER_IN_CONTEXT("cuMemFree_v2");
    auto found = current->deviceBlocks.find(pointer);
    if (found == current->deviceBlocks.end())
      return errorInvalidValue;
    for (size_t i = 0; i < current->streams.size(); ++i) // as cuMemFree does
      current->runAll(handleOf<StreamHandle>(i));
    munmap(reinterpret_cast<void *>(pointer), found->second);
    current->deviceBlocks.erase(found);
    current->live.erase(liveName("memory", pointer));
    return success;
  }
  static Result memHostAlloc(void **pointer, size_t bytes, unsigned) {
    ENTER_IN_CONTEXT("cuMemHostAlloc");
    *pointer = std::malloc(bytes);
    current->pinnedBlocks[reinterpret_cast<DevicePtr>(*pointer)] = bytes;
    current->live.insert(
        liveName("pinned", reinterpret_cast<DevicePtr>(*pointer)));
    return success;
  }
  static Result memFreeHost(void *pointer) {
    ENTER_IN_CONTEXT("cuMemFreeHost");
    current->pinnedBlocks.erase(reinterpret_cast<DevicePtr>(pointer));
    current->live.erase(
        liveName("pinned", reinterpret_cast<DevicePtr>(pointer)));
    std::free(pointer);
    return success;
  }
  static Result pointerGetAttribute(void *value, PointerAttribute attribute,
                                    DevicePtr pointer) {
    ENTER_IN_CONTEXT("cuPointerGetAttribute");
    bool onDevice = current->isDevice(pointer, 1);
    if (!onDevice && !current->isPinned(pointer))
      return errorInvalidValue;
    unsigned type = onDevice ? memoryDevice : memoryHost;
    *static_cast<unsigned *>(value) = attribute == pointerMemoryType ? type : 0;
    return success;
  }
  static Result memcpyAsync(DevicePtr to, DevicePtr from, size_t bytes,
                            StreamHandle stream) {
    ENTER_IN_CONTEXT("cuMemcpyAsync");
    return current->copy(to, from, bytes, stream);
  }
  static Result memcpy2DAsync(const Memcpy2D *copy, StreamHandle stream) {
    ENTER_IN_CONTEXT("cuMemcpy2DAsync_v2");
    if (copy->srcPitch < copy->widthInBytes ||
        copy->dstPitch < copy->widthInBytes || copy->srcX || copy->srcY ||
        copy->dstX || copy->dstY || copy->srcType != memoryUnified ||
        copy->dstType != memoryUnified)
      return errorInvalidValue;
    for (size_t row = 0; row < copy->height; ++row)
      if (Result result = current->copy(copy->dstDevice + row * copy->dstPitch,
                                        copy->srcDevice + row * copy->srcPitch,
                                        copy->widthInBytes, stream))
        return result;
    return success;
  }
  static Result memsetD8Async(DevicePtr to, unsigned char value, size_t bytes,
                              StreamHandle stream) {
    ENTER_IN_CONTEXT("cuMemsetD8Async");
    if (!current->isDevice(to, bytes))
      return errorInvalidValue;
    current->queue(stream, [=] {
      std::memset(reinterpret_cast<void *>(to), value, bytes);
    });
    return success;
  }
  static Result memsetD2D8Async(DevicePtr to, size_t pitch, unsigned char value,
                                size_t width, size_t height,
                                StreamHandle stream) {
    ENTER_IN_CONTEXT("cuMemsetD2D8Async");
    if (pitch < width || !current->isDevice(to, (height - 1) * pitch + width))
      return errorInvalidValue;
    current->queue(stream, [=] {
      for (size_t row = 0; row < height; ++row)
        std::memset(reinterpret_cast<void *>(to + row * pitch), value, width);
    });
    return success;
  }
};

} // namespace sart::cuda

#endif // SPARSEATTN_TEST_UNIT_CUDA_DRIVERDOUBLEMEMORY_H

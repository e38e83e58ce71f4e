//===- HostMemory.cpp - Memory for tensors on the CPU ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/HostMemory.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace sart;

/// Kernels load whole cache lines from the start of a slot.
static constexpr size_t kCacheLine = 64;
static constexpr size_t kHugePage = size_t(2) << 20;

void FreeHostMemory::operator()(char *memory) const { std::free(memory); }

HostMemory sart::allocateHostMemory(int64_t bytes) {
  if (bytes < 0)
    return nullptr;
  auto size = static_cast<size_t>(bytes);
  bool large = size >= 2 * kHugePage;
  void *memory = nullptr;
  if (posix_memalign(&memory, large ? kHugePage : kCacheLine,
                     size ? size : kCacheLine) != 0)
    return nullptr;
#ifdef MADV_HUGEPAGE
  // A wish: a kernel without huge pages refuses, and nothing is lost.
  if (large)
    madvise(memory, size, MADV_HUGEPAGE);
#endif
  std::memset(memory, 0, size);
  return HostMemory(static_cast<char *>(memory));
}

//===- HostMemory.h - Memory for tensors on the CPU -------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_HOSTMEMORY_H
#define SPARSEATTN_RT_HOSTMEMORY_H

#include <cstdint>
#include <memory>

namespace sart {

struct FreeHostMemory {
  void operator()(char *memory) const;
};
using HostMemory = std::unique_ptr<char, FreeHostMemory>;

/// `bytes` zero bytes that start on a cache line; null when there is no memory.
/// Large pieces ask for huge pages: kernels jump between kv-blocks all over a
/// tensor, and with 4 KiB pages the address translation alone costs 64x64
/// blocks 10 to 16 %.
HostMemory allocateHostMemory(int64_t bytes);

} // namespace sart

#endif // SPARSEATTN_RT_HOSTMEMORY_H

//===- KernelText.cpp - What was compiled ---------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelText.h"

#include <cstdio>

void sart::printKernels(const sa_compile_info &compileInfo) {
  for (int64_t i = 0; i < compileInfo.kernel_count; ++i) {
    const sa_kernel_info &kernel = compileInfo.kernels[i];
    std::printf("kernel     %s %s%s%s\n", kernel.name,
                kernel.source == SA_KERNEL_CACHED    ? "cached"
                : kernel.source == SA_KERNEL_SHIPPED ? "shipped"
                                                     : "compiled",
                *kernel.key ? ", key " : "", kernel.key);
  }
  std::printf(
      "times      engine %.2f ms, layer %.2f ms, of it kernels %.2f ms\n",
      compileInfo.engine_ms, compileInfo.compile_ms, compileInfo.kernel_ms);
  if (!*compileInfo.cache_dir)
    std::printf("cache      none\n");
  else
    std::printf("cache      %s, %lld hits, %lld misses, %lld stored%s%s\n",
                compileInfo.cache_dir, (long long)compileInfo.cache_hits,
                (long long)compileInfo.cache_misses,
                (long long)compileInfo.cache_stored,
                *compileInfo.cache_problem ? "; " : "",
                compileInfo.cache_problem);
}

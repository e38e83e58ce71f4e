//===- BlasLibrary.h - OpenBLAS, opened at run time -------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_BLASLIBRARY_H
#define SPARSEATTN_TOOLS_BENCH_BLASLIBRARY_H

#include "sparseattn-rt/HostMemory.h"
#include "sparseattn-rt/Status.h"

#include <cstdint>
#include <string>

namespace sart {

/// The matrix product that CPU kernels are measured against. Opened by name, so
/// that the command works, without ratios, where it is not installed.
class BlasLibrary {
public:
  /// Opens `path`, or libopenblas.so.0 where the loader finds it.
  static Expected<BlasLibrary> open(const std::string &path);

  /// Version and build options, as the library says.
  std::string config() const { return getConfig(); }
  /// CPU that its kernels were chosen for; OPENBLAS_CORETYPE changes it.
  std::string core() const { return getCoreName(); }

  /// C = A B^T of n x n fp32 matrices on `threads` threads; seconds taken.
  Expected<double> timeProduct(int64_t n, int64_t threads);

private:
  using SgemmFunction = void (*)(int order, int transA, int transB, int m,
                                 int n, int k, float alpha, const float *a,
                                 int lda, const float *b, int ldb, float beta,
                                 float *c, int ldc);
  SgemmFunction sgemm = nullptr;
  void (*setThreads)(int) = nullptr;
  char *(*getConfig)() = nullptr;
  char *(*getCoreName)() = nullptr;
  HostMemory a, b, c; ///< n x n, kept for the next product
  int64_t edge = 0;
};

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_BLASLIBRARY_H

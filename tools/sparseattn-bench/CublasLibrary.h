//===- CublasLibrary.h - cuBLAS, opened at run time -------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_CUBLASLIBRARY_H
#define SPARSEATTN_TOOLS_BENCH_CUBLASLIBRARY_H

#include "CudaStream.h"
#include "sparseattn-rt/DType.h"

#include <string>

namespace sart {

/// The matrix product that kernels of a GPU are measured against. Opened by
/// name, so that the command works, without ratios, where it is not installed.
class CublasLibrary {
public:
  /// Opens `path`; empty: libcublas.so.13 or .12 where the loader finds one.
  /// The context of the stream's device must be current, here and later.
  static Expected<std::unique_ptr<CublasLibrary>>
  open(const std::string &path, std::shared_ptr<cuda::CudaStream> stream);
  ~CublasLibrary();

  /// Such as "13.0.2".
  const std::string &version() const { return versionText; }

  /// Queues C = A B of n x n matrices of a 16-bit dtype with fp32 sums.
  Status product(int64_t n, DType dtype, cuda::DevicePtr a, cuda::DevicePtr b,
                 cuda::DevicePtr c);

private:
  using Handle = struct CublasContext *;
  explicit CublasLibrary(std::shared_ptr<cuda::CudaStream> stream)
      : stream(std::move(stream)) {}
  Status check(int result, const char *call) const;

  std::shared_ptr<cuda::CudaStream> stream;
  std::string versionText;
  Handle handle = nullptr;
  int (*create)(Handle *) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*getVersion)(Handle, int *) = nullptr;
  int (*setStream)(Handle, cuda::StreamHandle) = nullptr;
  int (*gemm)(Handle, int transA, int transB, int m, int n, int k,
              const void *alpha, const void *a, int typeA, int lda,
              const void *b, int typeB, int ldb, const void *beta, void *c,
              int typeC, int ldc, int compute, int algorithm) = nullptr;
};

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_CUBLASLIBRARY_H

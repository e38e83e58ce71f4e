//===- KernelOptions.h - Options of sparseattn-bench kernels ----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_KERNELOPTIONS_H
#define SPARSEATTN_TOOLS_BENCH_KERNELOPTIONS_H

#include "sparseattn-rt/DType.h"
#include "sparseattn-rt/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sart {

struct BlockSize {
  int64_t q = 128, k = 128;
};

/// What is measured: every combination of the lists.
struct KernelOptions {
  std::vector<BlockSize> blocks{{128, 128}, {64, 64}};
  std::vector<DType> dtypes{DType::F32, DType::BF16};
  std::vector<double> densities{0.1, 0.2, 0.5, 1.0};
  std::vector<int64_t> threads; ///< empty: one, and all cores
  int64_t heads = 4;
  int64_t tokens = 14040;
  int64_t headDim = 128;
  int64_t repetitions = 7;
  int64_t product = 2048; ///< edge of the matrix product
  int64_t seed = 1;
  std::string device = "cpu";
  std::string cpu; ///< LLVM's name of the CPU; empty: this one
  std::string blas;
  bool json = false;
  bool help = false;
};

/// `argv` without the name of the benchmark. Fills `helpText` for --help.
Status parseKernelOptions(int argc, char **argv, KernelOptions &options,
                          std::string &helpText);

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_KERNELOPTIONS_H

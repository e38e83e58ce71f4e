//===- KernelOptions.h - Options of sparseattn-bench kernels ----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_KERNELOPTIONS_H
#define SPARSEATTN_TOOLS_BENCH_KERNELOPTIONS_H

#include "OptionParsers.h"

namespace sart {

/// What is measured: every combination of the lists. Empty lists and zeros
/// mean the device's defaults, which parseKernelOptions puts in their place.
struct KernelOptions {
  std::vector<BlockSize> blocks;
  std::vector<DType> dtypes;
  std::vector<double> densities;
  std::vector<int64_t> threads; ///< empty: one, and all cores
  int64_t heads = 0;
  int64_t tokens = 0;
  int64_t headDim = 128;
  int64_t repetitions = 0;
  int64_t product = 0; ///< edge of the matrix product
  int64_t seed = 1;
  std::string device = "cpu";
  std::string cpu; ///< LLVM's name of the CPU; empty: this one
  std::string blas;
  bool json = false;
  bool help = false;

  // On a GPU alone.
  int64_t kvHeads = 0;            ///< 0: as many as heads
  int64_t kvTokens = 0;           ///< 0: as many as tokens
  std::vector<int64_t> rowBlocks; ///< lists with exactly so many kv-blocks
  std::string trace;              ///< file of block masks
  int64_t instance = 0;           ///< of the trace
  int64_t sets = 3;               ///< of inputs, in turn
  int64_t compilations = 3;
  int64_t preheatMs = 400;
  int64_t spaced = 10; ///< launches with the device idle before
  std::string ptxas;
  std::string cublas;
  std::string python = "python3";
  bool noTorch = false;
  bool noFlex = false;

  bool onGpu() const { return device == "cuda"; }
};

/// `argv` without the name of the benchmark. Fills `helpText` for --help.
Status parseKernelOptions(int argc, char **argv, KernelOptions &options,
                          std::string &helpText);

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_KERNELOPTIONS_H

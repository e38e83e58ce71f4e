//===- RoutingOptions.h - Options of sparseattn-bench routing ---*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_ROUTINGOPTIONS_H
#define SPARSEATTN_TOOLS_BENCH_ROUTINGOPTIONS_H

#include "OptionParsers.h"

namespace sart {

/// What is measured: every combination of blocks, types and p.
struct RoutingOptions {
  std::string device = "cuda";
  std::vector<BlockSize> blocks{{128, 128}};
  std::vector<DType> dtypes{DType::BF16};
  std::vector<double> ps{0.9};
  int64_t minBlocks = 1;
  int64_t heads = 40;
  int64_t kvHeads = 0; ///< 0 until parsed: as many as heads
  int64_t tokens = 75600;
  int64_t headDim = 128;
  /// Deviation of the blocks' means; the rest of an element is unit normal.
  double spread = 1.3;
  int64_t repetitions = 21;
  int64_t sets = 3;
  int64_t compilations = 3;
  int64_t preheatMs = 400;
  int64_t spaced = 10; ///< launches with the device idle before
  int64_t seed = 1;
  std::string ptxas;
  std::string python = "python3";
  bool noTorch = false;
  bool json = false;
  bool help = false;
};

/// `argv` without the name of the benchmark. Fills `helpText` for --help.
Status parseRoutingOptions(int argc, char **argv, RoutingOptions &options,
                           std::string &helpText);

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_ROUTINGOPTIONS_H

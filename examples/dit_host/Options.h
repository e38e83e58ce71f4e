//===- Options.h - Command line of sparseattn-dit-host ----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_EXAMPLES_DITHOST_OPTIONS_H
#define SPARSEATTN_EXAMPLES_DITHOST_OPTIONS_H

#include <array>
#include <cstdint>
#include <string>

namespace dit {

enum class Check { None, Sample, Full };

struct Options {
  std::string out = "build/quickstart";
  std::string latents;                     ///< empty: those of the repository
  std::array<int64_t, 3> grid = {0, 0, 0}; ///< 0: that of the latents
  int64_t steps = 4, layers = 2, heads = 12;
  int64_t ranks = 4, ulysses = 4, ring = 1;
  int64_t seed = 1, threads = 0;
  double sigma = 0.65, shift = 8;
  double p = 0.9;
  int64_t minBlocks = 12;
  int64_t blockQ = 128, blockK = 128;
  std::string order = "hilbert";
  std::array<int64_t, 2> tiles = {1, 1}; ///< of tiles: in time, in space
  std::string dtype = "fp32";            ///< bf16 on a GPU, unless it is given
  std::string device = "cpu";
  std::string balance = "swap";
  bool repair = false, augment = false;
  std::string cacheDir = "default"; ///< as of the C API; empty: no cache
  int64_t denseSteps = 0;
  Check check = Check::Sample;
  bool saveInputs = false; ///< write q, k and v of the last run too
  bool verify = false;     ///< prove coverage of every program, poison memory
};

/// Fills `options`; throws Error for what is malformed or does not fit.
/// Returns false after --help: `help` is to be printed.
bool parseOptions(int argc, char **argv, Options &options, std::string &help);

} // namespace dit

#endif // SPARSEATTN_EXAMPLES_DITHOST_OPTIONS_H

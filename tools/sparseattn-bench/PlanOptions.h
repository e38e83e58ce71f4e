//===- PlanOptions.h - Options of sparseattn-bench plan ---------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_PLANOPTIONS_H
#define SPARSEATTN_TOOLS_BENCH_PLANOPTIONS_H

#include "CommandLine.h"

#include "sparseattn-rt/Planner.h"

#include <string>
#include <vector>

namespace sart {

/// Which planner runs over which traces.
struct PlanOptions {
  std::vector<std::string> traces;
  Mesh mesh{8, 1};
  PlannerOptions planner;
  int64_t kvHeads = 0; ///< 0: as many as heads
  int64_t headDim = 128;
  std::string machine;      ///< file whose costs decide; empty: tiles alone
  int64_t processors = 132; ///< multiprocessors of a device, for the tail
  int64_t reuseMilli = 0;   ///< 0: every mask is planned anew
  int64_t repetitions = 5;  ///< of every plan
  bool json = false;
  bool help = false;
};

/// `argv` without the name of the benchmark. Fills `helpText` for --help.
Status parsePlanOptions(int argc, char **argv, PlanOptions &options,
                        std::string &helpText);

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_PLANOPTIONS_H

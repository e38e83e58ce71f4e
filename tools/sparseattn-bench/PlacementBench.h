//===- PlacementBench.h - Demand placements over traces ---------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_PLACEMENTBENCH_H
#define SPARSEATTN_TOOLS_BENCH_PLACEMENTBENCH_H

#include "sparseattn-rt/Hybrid.h"
#include "sparseattn-rt/RingPlacement.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace sart {

struct PlacementOptions {
  std::vector<std::string> traces;
  int64_t ranks = 8;
  /// contiguous, stripes, tiles<t=N,h=N>, auto or all.
  std::string placement = "all";
  /// Instances that auto looks at; 0: all.
  int64_t first = 0;
  /// A trace does not say over which cube its Hilbert curve runs: at least one
  /// of side 2^hilbertBits. The public ones take 128.
  int64_t hilbertBits = 7;
  RepairOptions repair;
  /// Compare Ulysses x ring meshes on a machine instead.
  bool hybrid = false;
  std::string machine;
  int64_t headDim = 128;
  bool json = false;
  bool help = false;
};

/// `argv` without the name of the benchmark. Fills `helpText` for --help.
Status parsePlacementOptions(int argc, char **argv, PlacementOptions &options,
                             std::string &helpText);

/// One placement over the instances of one trace. Shares are of a dense ring's
/// kv-blocks, and means over the instances, unless they say worst.
struct PlacementRow {
  std::string file, placement;
  /// auto: the rule. auto places rows beside blocks, so its shareOfRing and
  /// maxPort are those after rows moved; shareOfRule is that of the rule alone.
  std::string chosen;
  int64_t ranks = 0, instances = 0;
  double shareOfRing = 0, shareOfRule = 0, maxPort = 0;
  double rho = 0, worstRho = 0; ///< before rows move
  double shareRepaired = 0;     ///< after rows moved
  double shareWithRows = 0;     ///< and with Q and O of moved rows
  double rhoRepaired = 0, worstRhoRepaired = 0, maxPortRepaired = 0;
  double movedRows = 0; ///< share of all rows
  double shifts = 0;    ///< ranges of rows that moved
  /// Blocks sent when each travels once to all its receivers, over those sent
  /// one by one.
  double multicastShare = 0;
  /// Makespans of the repaired demand over the busiest port: the chosen order,
  /// ring order, and ring order with a barrier after every distance.
  double rounds = 0, worstRounds = 0, ringRounds = 0, barrierRounds = 0;
  int64_t roundsUs = 0; ///< choosing the order, median
  int64_t planUs = 0;   ///< repair of one instance, median
};

/// Rows in order of the files, then of the placements.
using PlacementResults = std::vector<PlacementRow>;
Expected<PlacementResults> runPlacementBench(const PlacementOptions &options);
void printTable(const PlacementOptions &options,
                const PlacementResults &results, llvm::raw_ostream &os);
void printJson(const PlacementOptions &options, const PlacementResults &results,
               llvm::raw_ostream &os);

/// Meshes for the first mask of a trace, and the chosen one of them.
struct HybridChoice {
  std::vector<HybridPlan> plans;
  size_t chosen = 0;
  int64_t planUs = 0;
};
struct HybridResult {
  std::string file, machine;
  HybridChoice plain, pipelined; ///< by the time without and with pipelining
};
using HybridResults = std::vector<HybridResult>;
Expected<HybridResults> runHybridBench(const PlacementOptions &options);
void printTable(const PlacementOptions &options, const HybridResults &results,
                llvm::raw_ostream &os);
void printJson(const PlacementOptions &options, const HybridResults &results,
               llvm::raw_ostream &os);

/// Six digits after the point are enough, and read well.
void writeNumber(llvm::json::OStream &json, llvm::StringRef name, double value);

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_PLACEMENTBENCH_H

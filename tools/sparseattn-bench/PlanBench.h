//===- PlanBench.h - Planners over traces -----------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_PLANBENCH_H
#define SPARSEATTN_TOOLS_BENCH_PLANBENCH_H

#include "PlanOptions.h"

#include "llvm/Support/raw_ostream.h"

namespace sart {

/// Mean and largest of one figure over the instances of a trace.
struct Figure {
  double sum = 0, worst = 0;
  int64_t count = 0;
  void add(double value) {
    sum += value;
    worst = count == 0 || value > worst ? value : worst;
    ++count;
  }
  double mean() const {
    return count == 0 ? 0 : sum / static_cast<double>(count);
  }
};

/// What a planner did with one trace. Transfers and bytes: means over the
/// instances, of all ranks together.
struct PlanRow {
  std::string file;
  int64_t instances = 0;
  bool hasRows = false, hasMasks = false;
  Figure before, after; ///< rho
  Figure movedHeads;    ///< whole heads with another owner
  Figure rowMoves;
  Figure transfers;    ///< heads and rows that travel on their own
  Figure bytes;        ///< beyond the layer's exchanges
  Figure augmented;    ///< rho with extra tiles
  Figure growth;       ///< largest load with extra tiles over without
  Figure tails[3];     ///< in the order of RowOrder
  int64_t planned = 0; ///< instances that were planned anew
  double planUs = 0;   ///< median over the instances
};

struct PlanResults {
  std::vector<PlanRow> rows;
};

Expected<PlanResults> runPlanBench(const PlanOptions &options);

void printTable(const PlanOptions &options, const PlanResults &results,
                llvm::raw_ostream &os);
void printJson(const PlanOptions &options, const PlanResults &results,
               llvm::raw_ostream &os);

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_PLANBENCH_H

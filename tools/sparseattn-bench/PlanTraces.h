//===- PlanTraces.h - Placements and summaries of traces --------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_PLANTRACES_H
#define SPARSEATTN_TOOLS_BENCH_PLANTRACES_H

#include "sparseattn-rt/Planner.h"
#include "sparseattn-rt/TraceFile.h"

namespace sart {

/// A bf16 layer of the trace's shape. `kvHeads` 0: as many as heads.
Placement placementOf(const TraceFile &trace, const Mesh &mesh, int64_t kvHeads,
                      int64_t headDim);

/// What the ranks would know of one instance. Without row loads, rows are
/// uniform; without masks, every kv-block counts as needed where there is work.
MaskSummary summaryOf(const TraceFile &trace, int64_t instance,
                      const Placement &placement);

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_PLANTRACES_H

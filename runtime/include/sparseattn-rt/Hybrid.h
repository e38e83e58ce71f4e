//===- Hybrid.h - Ulysses x ring meshes with demand routing -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_HYBRID_H
#define SPARSEATTN_RT_HYBRID_H

#include "sparseattn-rt/Machine.h"
#include "sparseattn-rt/RingPlacement.h"

#include <cstdint>
#include <vector>

namespace sart {

/// What is compared: every Ulysses size that divides the ranks and is at most
/// the number of heads, with every placement rule of its ring.
struct HybridOptions {
  int64_t ranks = 8;
  int64_t headDim = 128;
  DType dtype = DType::BF16;
  /// Choose by the time with head pipelining; otherwise by the plain one.
  bool pipelined = true;
  /// Load over mean that the ranks reach by moving rows, thousandths.
  int64_t rhoMilli = 1005;
  /// A ring is chosen where it is predicted to gain more than that over none,
  /// thousandths: predictions are no better.
  int64_t marginMilli = 50;
};

/// One mesh and its predicted layer. Times in picoseconds.
struct HybridPlan {
  Mesh mesh;
  BlockRule rule;                  ///< of the ring; contiguous on one segment
  std::vector<int64_t> headOwners; ///< Ulysses index of each head
  double rhoHeads = 1;             ///< after heads were given out
  double rho = 1;                  ///< after rows moved
  double demandShare = 0;          ///< kv-blocks of a dense ring, all bins
  int64_t movedRows = 0;
  int64_t exchangeInPs = 0, exchangeOutPs = 0; ///< all-to-alls, whole
  int64_t computePs = 0;   ///< slowest rank: tiles, rows, launches, merges
  int64_t ringPs = 0;      ///< busiest port of K/V over the ring
  int64_t busyPs = 0;      ///< busiest port of everything
  int64_t plainPs = 0;     ///< exchange, max(compute, ring), exchange
  int64_t pipelinedPs = 0; ///< head by head: only the first and last exposed
};

/// Predicts every candidate. Heads go to the Ulysses indices longest first, at
/// most ceil(heads / ulysses) each; the rows of a bin's heads to the segments
/// by the rule; rows move inside a ring until it is balanced, then, if that
/// pays, between the Ulysses indices of a segment; their Q, K and V ride in the
/// all-to-all. Ports
/// are busy for bytes and latencies; a machine with one port sums its levels.
/// Pipelining takes the heads of a rank one by one.
/// Ascending by (ulysses descending, rule). Refuses masks that do not fit the
/// grid, machines with fewer ranks, and what they refuse themselves.
Expected<std::vector<HybridPlan>> planHybrids(const BlockMask &mask,
                                              const BlockGrid &grid,
                                              const Machine &machine,
                                              const HybridOptions &options);
/// Index of the chosen one: the shortest, the first of several; the mesh
/// without a ring unless another one gains more than the margin. Where all
/// ranks talk over links of one level the mesh without a ring is taken whenever
/// there is one: a ring never moves fewer bytes there. `plans` is not empty.
size_t bestHybrid(const std::vector<HybridPlan> &plans, const Machine &machine,
                  const HybridOptions &options);

} // namespace sart

#endif // SPARSEATTN_RT_HYBRID_H

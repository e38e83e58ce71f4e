//===- KernelProblem.h - Tensors and block lists of kernels -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_KERNELPROBLEM_H
#define SPARSEATTN_TOOLS_BENCH_KERNELPROBLEM_H

#include "sparseattn-rt/Backend.h"
#include "sparseattn-rt/HostMemory.h"
#include "sparseattn-rt/Program.h"

#include <cstdint>
#include <vector>

namespace sart {

/// q, k, v and results of all heads, and a list of kv-blocks for every q-block.
class KernelProblem {
public:
  /// Unit normal q, k, v.
  static Expected<KernelProblem> create(const LayerShape &shape, uint32_t seed);

  /// Lists whose lengths are normal around density * kv-blocks with a deviation
  /// of 30 % of that, at least one, of blocks drawn without replacement.
  void drawLists(double density, uint32_t seed);

  /// Shape, scale and head dimension, for Backend::attend.
  const Program &program() const { return carrier; }
  /// `oneBlock`: as many visits, but all of the first block, so that nothing
  /// has to be fetched: the ceiling.
  std::vector<AttendTask> tasks(bool oneBlock);

  /// Multiplications and additions of Q K^T and P V over visited blocks, tails
  /// as they are.
  double usefulFlops() const;
  /// Visited share of all blocks.
  double density() const;
  /// Largest difference to the double precision reference over some rows of
  /// every head, relative to the bound that fp32 sums allow; at most 1 when
  /// right. The results are overwritten by NaN afterwards.
  double checkAndPoison();
  void poisonResults();

private:
  explicit KernelProblem(const LayerShape &shape) : shape(shape) {}
  SlotView rowsOf(const HostMemory &tensor, int64_t head) const;
  size_t positionOf(int64_t head, int64_t qBlock) const;

  LayerShape shape;
  Program carrier;
  HostMemory q, k, v, o;
  std::vector<float> lse;
  std::vector<int32_t> lists;         ///< [head][q-block][1 + kv-blocks]
  std::vector<int32_t> oneBlockLists; ///< the same with one block only
};

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_KERNELPROBLEM_H

//===- AttendLayout.cpp - Tiles and scratch of the attend kernel ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttendLayout.h"

#include "sparseattn/Conversion/SparseAttnToVector/KernelBuilder.h"

using namespace mlir::sparseattn;

static int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

AttendLayout::AttendLayout(const sart::KernelSpec &spec,
                           const CpuTarget &target) {
  // The widest panel that leaves no more lanes idle than a narrower one.
  vectors = 1;
  for (int64_t candidate = 2; candidate <= target.tileVectors; ++candidate)
    if (roundUp(spec.blockQ, candidate * target.lanes) <=
        roundUp(spec.blockQ, vectors * target.lanes))
      vectors = candidate;
  width = vectors * target.lanes;
  panels = roundUp(spec.blockQ, width) / width;

  // Narrower panels take more rows, to keep as many accumulators in flight.
  auto rows = [&](int64_t wanted, int64_t extent) -> RowTiles {
    if (vectors == target.tileVectors)
      return {wanted, wanted == 6 ? 4 : 0};
    int64_t most = wanted * target.tileVectors / vectors, count = 1;
    while (count * 2 <= most && extent % (count * 2) == 0)
      count *= 2;
    return {count, 0};
  };
  scoreTiles = rows(target.scoreRows, spec.blockK);
  outputTiles = rows(target.outputRows, spec.headDim);
  widened = spec.dtype != sart::DType::F32;
  // One cache line more than the row: rows a power of two apart would share few
  // sets of the first-level cache.
  widePitch = spec.headDim + 16;

  int64_t next = 0;
  auto take = [&](int64_t elements) {
    int64_t offset = next;
    next += roundUp(elements * 4, 64);
    return offset;
  };
  queries = take(panels * spec.headDim * width);
  outputs = take(panels * spec.headDim * width);
  weights = take(spec.blockK * width);
  maxima = take(panels * width);
  sums = take(panels * width);
  keys = take(widened ? spec.blockK * widePitch : 0);
  values = take(widened ? spec.blockK * widePitch : 0);
  bytes = next;
}

int64_t mlir::sparseattn::attendScratchBytes(const sart::KernelSpec &spec,
                                             const CpuTarget &target) {
  return AttendLayout(spec, target).bytes;
}

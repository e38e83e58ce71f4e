//===- Tensor.cpp - Views of the caller's tensors -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Executor.h"

using namespace sart;

Tensor Tensor::contiguous(void *data, DType dtype, int64_t heads, int64_t rows,
                          int64_t elements) {
  Tensor tensor;
  tensor.data = data;
  tensor.dtype = dtype;
  tensor.sizes = {heads, rows, elements};
  tensor.strides = {rows * elements, elements, 1};
  return tensor;
}

/// Rows [rows.begin, rows.end) of a whole tensor.
static Tensor sliceRows(const Tensor &whole, Range rows) {
  Tensor part = whole;
  part.sizes[1] = rows.size();
  if (whole.data)
    part.data = static_cast<char *>(whole.data) +
                rows.begin * whole.strides[1] * byteSize(whole.dtype);
  return part;
}

std::vector<RankTensors> sart::shardViews(const Placement &placement,
                                          const Tensor &q, const Tensor &k,
                                          const Tensor &v, const Tensor &o,
                                          const Tensor &lse) {
  std::vector<RankTensors> shards;
  for (int64_t rank = 0; rank < placement.mesh.ranks(); ++rank) {
    Range queries = placement.qShardOf(rank);
    Range keys = placement.kvShardOf(rank);
    shards.push_back({sliceRows(q, queries), sliceRows(k, keys),
                      sliceRows(v, keys), sliceRows(o, queries),
                      sliceRows(lse, queries)});
  }
  return shards;
}

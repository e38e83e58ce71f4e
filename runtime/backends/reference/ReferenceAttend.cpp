//===- ReferenceAttend.cpp - Dense masked attention in double precision ---===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ReferenceKernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace sart;

std::vector<double> sart::widen(const SlotView &view, Range rows) {
  std::vector<double> values(
      static_cast<size_t>(rows.size() * view.rowElements));
  size_t next = 0;
  for (int64_t row = rows.begin; row < rows.end; ++row)
    for (int64_t i = 0; i < view.rowElements; ++i)
      values[next++] = static_cast<double>(
          loadAsFloat(view.data, view.dtype, row * view.rowStride + i));
  return values;
}

void ReferenceRow::begin(const double *query, double rowScale) {
  q = query;
  scale = rowScale;
  largest = weights = 0;
  empty = true;
  std::fill(sum.begin(), sum.end(), 0.0);
}

void ReferenceRow::add(Range keys) {
  for (int64_t key = keys.begin; key < keys.end; ++key) {
    double dot = 0;
    for (int64_t i = 0; i < headDim; ++i)
      dot += q[i] * k[key * headDim + i];
    double score = scale * dot;
    if (empty || score > largest) {
      double shrink = empty ? 0.0 : std::exp(largest - score);
      for (double &element : sum)
        element *= shrink;
      weights *= shrink;
      largest = score;
      empty = false;
    }
    double weight = std::exp(score - largest);
    weights += weight;
    for (int64_t i = 0; i < headDim; ++i)
      sum[static_cast<size_t>(i)] += weight * v[key * headDim + i];
  }
}

double ReferenceRow::finish(double *o) const {
  for (int64_t i = 0; i < headDim; ++i)
    o[i] = empty ? 0.0 : sum[static_cast<size_t>(i)] / weights;
  return empty ? -std::numeric_limits<double>::infinity()
               : largest + std::log(weights);
}

void sart::referenceAttend(const LayerShape &shape, const SlotView &q,
                           const SlotView &k, const SlotView &v,
                           const std::vector<int64_t> &rows, float scale,
                           const std::function<bool(int64_t, int64_t)> &allowed,
                           double *o, double *lse) {
  std::vector<double> keys = widen(k, {0, shape.skv});
  std::vector<double> values = widen(v, {0, shape.skv});
  ReferenceRow kernel(keys.data(), values.data(), shape.headDim);
  for (size_t i = 0; i < rows.size(); ++i) {
    int64_t row = rows[i];
    std::vector<double> query = widen(q, {row, row + 1});
    kernel.begin(query.data(), static_cast<double>(scale));
    for (int64_t block = 0; block < shape.kvBlocks(); ++block) {
      if (allowed && !allowed(row / shape.blockQ, block))
        continue;
      int64_t end = std::min((block + 1) * shape.blockK, shape.skv);
      if (shape.causal)
        end = std::min(end, row + shape.skv - shape.sq + 1);
      kernel.add({block * shape.blockK, end});
    }
    lse[i] = kernel.finish(o + static_cast<int64_t>(i) * shape.headDim);
  }
}

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

template <typename T>
static void copyRows(const SlotView &view, Range rows, double *to) {
  const auto *from = static_cast<const T *>(view.data);
  for (int64_t row = rows.begin; row < rows.end; ++row)
    for (int64_t i = 0; i < view.rowElements; ++i)
      *to++ = static_cast<double>(from[row * view.rowStride + i]);
}

std::vector<double> sart::widen(const SlotView &view, Range rows) {
  std::vector<double> values(
      static_cast<size_t>(rows.size() * view.rowElements));
  if (view.dtype == DType::F32) {
    copyRows<float>(view, rows, values.data());
    return values;
  }
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

/// Several sums side by side, which a compiler may keep in vector registers
/// without changing their order.
static double dotProduct(const double *l, const double *r, int64_t n) {
  constexpr int64_t kLanes = 8;
  double parts[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      parts[lane] += l[i + lane] * r[i + lane];
  for (; i < n; ++i)
    parts[0] += l[i] * r[i];
  return ((parts[0] + parts[1]) + (parts[2] + parts[3])) +
         ((parts[4] + parts[5]) + (parts[6] + parts[7]));
}

static void addScaled(double *__restrict sum, double factor,
                      const double *__restrict values, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    sum[i] += factor * values[i];
}

void ReferenceRow::add(Range keys) {
  for (int64_t key = keys.begin; key < keys.end; ++key) {
    double score = scale * dotProduct(q, k + key * headDim, headDim);
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
    if (!lseOnly)
      addScaled(sum.data(), weight, v + key * headDim, headDim);
  }
}

double ReferenceRow::finish(double *o) const {
  if (o)
    for (int64_t i = 0; i < headDim; ++i)
      o[i] = empty ? 0.0 : sum[static_cast<size_t>(i)] / weights;
  return empty ? -std::numeric_limits<double>::infinity()
               : largest + std::log(weights);
}

void sart::referenceAttend(const LayerShape &shape, const SlotView &q,
                           const SlotView &k, const SlotView &v,
                           const std::vector<int64_t> &rows, float scale,
                           const std::function<bool(int64_t, int64_t)> &allowed,
                           double *o, double *lse, ThreadPool *pool) {
  std::vector<double> keys = widen(k, {0, shape.skv}), values;
  if (o)
    values = widen(v, {0, shape.skv});
  auto attendRow = [&](int64_t i, int64_t) {
    ReferenceRow kernel(keys.data(), values.data(), shape.headDim, !o);
    int64_t row = rows[static_cast<size_t>(i)];
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
    lse[i] = kernel.finish(o ? o + i * shape.headDim : nullptr);
  };
  auto count = static_cast<int64_t>(rows.size());
  if (pool)
    pool->parallelFor(count, attendRow);
  else
    for (int64_t i = 0; i < count; ++i)
      attendRow(i, 0);
}

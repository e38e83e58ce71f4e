//===- MergePartials.cpp - Joining two partial attention results ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Partials over disjoint keys, with natural-log LSE a and b, join to
//   lse = m + log1p(exp(n - m)),  m = max(a, b), n = min(a, b),
//   o = (o_m + exp(n - m) o_n) / (1 + exp(n - m)).
// The argument of exp is never positive, so that nothing overflows, however
// large the scores are.
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Backend.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace sart;

void sart::mergePartials(const float *oPart, int64_t oPartStride,
                         const float *lsePart, int64_t lsePartStride, float *o,
                         int64_t oStride, float *lse, int64_t lseStride,
                         int64_t rows, int64_t headDim) {
  constexpr float empty = -std::numeric_limits<float>::infinity();
  for (int64_t row = 0; row < rows; ++row) {
    float part = lsePart[row * lsePartStride];
    float &total = lse[row * lseStride];
    const float *__restrict from = oPart + row * oPartStride;
    float *__restrict to = o + row * oStride;
    if (part == empty)
      continue;
    if (total == empty) {
      total = part;
      std::copy(from, from + headDim, to);
      continue;
    }
    // A NaN on either side makes both results NaN.
    float ratio = std::exp(-std::fabs(part - total));
    float larger = 1.0f / (1.0f + ratio);
    float smaller = ratio * larger;
    float weightTo = total >= part ? larger : smaller;
    float weightFrom = total >= part ? smaller : larger;
    for (int64_t i = 0; i < headDim; ++i)
      to[i] = weightTo * to[i] + weightFrom * from[i];
    total = std::max(total, part) + std::log1p(ratio);
  }
}

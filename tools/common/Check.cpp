//===- Check.cpp - Comparison with the dense masked reference -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Check.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace sart;

static double largestAbsolute(const HostTensor &tensor) {
  double largest = 0;
  for (int64_t i = 0, e = tensor.elements(); i < e; ++i)
    largest = std::max<double>(
        largest, std::fabs(loadAsFloat(tensor.data.data(), tensor.dtype, i)));
  return largest;
}

static std::vector<int64_t> sampleRows(int64_t total, int64_t wanted) {
  if (wanted <= 0 || wanted >= total)
    wanted = total;
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < wanted; ++i)
    rows.push_back(wanted == 1 ? 0 : i * (total - 1) / (wanted - 1));
  return rows;
}

double sart::errorBound(DType dtype, double largestScore, double largestValue) {
  double rounding = dtype == DType::F32   ? std::ldexp(1, -18)
                    : dtype == DType::F16 ? std::ldexp(1, -10)
                                          : std::ldexp(1, -7);
  // Below the smallest normal number rounding is absolute.
  return (rounding + std::ldexp(largestScore, -21)) * largestValue +
         std::numeric_limits<float>::min();
}

double sart::lseErrorBound(double largestScore) {
  return std::ldexp(1, -16) + std::ldexp(largestScore, -19);
}

/// A NaN counts as infinite: no later value may hide it.
static void raise(double &largest, double difference) {
  largest = std::isnan(difference) ? HUGE_VAL : std::max(largest, difference);
}

Expected<CheckResult>
sart::checkAgainstReference(sa_layer *layer, const sa_layer_info &info,
                            RunInputs &inputs, const HostTensor &out,
                            const HostTensor &lse, int64_t rowsPerHead) {
  CheckResult result;
  std::vector<int64_t> rows = sampleRows(info.sq, rowsPerHead);
  int64_t count = static_cast<int64_t>(rows.size());
  result.rowsPerHead = count;
  std::vector<double> reference(static_cast<size_t>(count * info.head_dim));
  std::vector<double> referenceLse(static_cast<size_t>(count)),
      dense(referenceLse);
  sa_tensor q = inputs.q.view(), k = inputs.k.view(), v = inputs.v.view();
  double kept = 0, largestScore = 0;
  for (int64_t head = 0; head < info.heads; ++head) {
    if (sa_layer_reference(layer, &q, &k, &v, head, rows.data(), count,
                           reference.data(), referenceLse.data(),
                           dense.data()) != SA_OK)
      return Status::error(sa_last_error());
    for (int64_t i = 0; i < count; ++i) {
      int64_t row = head * info.sq + rows[i];
      for (int64_t d = 0; d < info.head_dim; ++d) {
        double value =
            loadAsFloat(out.data.data(), out.dtype, row * info.head_dim + d);
        raise(result.maxError,
              std::fabs(value - reference[i * info.head_dim + d]));
      }
      double actual = loadAsFloat(lse.data.data(), lse.dtype, row);
      if (std::isinf(referenceLse[i]) || std::isinf(actual)) {
        if (actual != referenceLse[i])
          result.maxLseError = HUGE_VAL;
      } else {
        raise(result.maxLseError, std::fabs(actual - referenceLse[i]));
        largestScore = std::max(largestScore, std::fabs(referenceLse[i]));
      }
      kept += std::isinf(dense[i]) ? 1 : std::exp(referenceLse[i] - dense[i]);
      ++result.rows;
    }
  }
  result.keptMass = result.rows ? kept / static_cast<double>(result.rows) : 1;
  result.bound = errorBound(out.dtype, largestScore, largestAbsolute(inputs.v));
  result.lseBound = lseErrorBound(largestScore);
  return result;
}

//===- Metrics.cpp - How good an estimate and an attention are ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Metrics.h"

#include "Support.h"

#include <algorithm>
#include <cmath>

using namespace dit;

namespace {

double element(const sa_tensor &tensor, int64_t head, int64_t row, int64_t d) {
  int64_t index = head * tensor.strides[0] + row * tensor.strides[1] +
                  d * tensor.strides[2];
  if (tensor.dtype == SA_F32)
    return static_cast<const float *>(tensor.data)[index];
  uint16_t bits = static_cast<const uint16_t *>(tensor.data)[index];
  return tensor.dtype == SA_BF16 ? floatFromBf16(bits) : floatFromFp16(bits);
}

double largestElement(const sa_tensor &tensor) {
  double largest = 0;
  for (int64_t h = 0; h < tensor.sizes[0]; ++h)
    for (int64_t i = 0; i < tensor.sizes[1]; ++i)
      for (int64_t d = 0; d < tensor.sizes[2]; ++d)
        largest = std::max(largest, std::fabs(element(tensor, h, i, d)));
  return largest;
}

/// The larger one; a NaN wins, so that it cannot hide.
void raise(double &largest, double value) {
  if (!(value <= largest))
    largest = value;
}

} // namespace

double dit::psnr(const std::vector<float> &estimate,
                 const std::vector<float> &clean,
                 const std::array<float, channels> &deviation) {
  double sum = 0;
  for (size_t i = 0; i < clean.size(); ++i) {
    double error = (double(estimate[i]) - clean[i]) * deviation[i % channels];
    sum += error * error;
  }
  int64_t tokens = static_cast<int64_t>(clean.size()) / channels;
  double samples = static_cast<double>(tokens * samplesPerToken);
  return 10 * std::log10(255.0 * 255.0 * samples / sum);
}

std::vector<int64_t> dit::sampleRows(int64_t total, int64_t wanted) {
  if (wanted <= 0 || wanted > total)
    wanted = total;
  std::vector<int64_t> rows(static_cast<size_t>(wanted), 0);
  for (int64_t i = 1; i < wanted; ++i)
    rows[i] = i * (total - 1) / (wanted - 1);
  return rows;
}

RowCheck dit::checkRows(sa_layer *layer, const sa_tensor &q, const sa_tensor &k,
                        const sa_tensor &v, const sa_tensor &out,
                        const sa_tensor &lse,
                        const std::vector<int64_t> &rows) {
  int64_t count = static_cast<int64_t>(rows.size());
  int64_t width = out.sizes[2];
  std::vector<double> expected(static_cast<size_t>(count * width));
  std::vector<double> sparse(static_cast<size_t>(count)), dense(sparse);
  RowCheck check;
  double kept = 0, largestScore = 0;
  for (int64_t head = 0; head < out.sizes[0]; ++head) {
    if (sa_layer_reference(layer, &q, &k, &v, head, rows.data(), count,
                           expected.data(), sparse.data(),
                           dense.data()) != SA_OK)
      throw Error(sa_last_error());
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t d = 0; d < width; ++d)
        raise(check.maxError, std::fabs(element(out, head, rows[i], d) -
                                        expected[i * width + d]));
      raise(largestScore, std::fabs(dense[i]));
      kept += std::exp(element(lse, head, rows[i], 0) - dense[i]);
    }
    check.rows += count;
  }
  double rounding = out.dtype == SA_F32   ? 0x1p-18
                    : out.dtype == SA_F16 ? 0x1p-10
                                          : 0x1p-7;
  check.bound = (rounding + largestScore * 0x1p-21) * largestElement(v);
  check.keptMass = kept / static_cast<double>(check.rows);
  return check;
}

//===- Metrics.h - How good an estimate and an attention are ----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_EXAMPLES_DITHOST_METRICS_H
#define SPARSEATTN_EXAMPLES_DITHOST_METRICS_H

#include "Latents.h"

#include "sparseattn-c/sparseattn.h"

#include <cstdint>
#include <vector>

namespace dit {

/// Peak signal-to-noise ratio, in dB, of the decoded estimate against the
/// decoded clean latents, over the samples of Y, Cb and Cr of peak 255. The
/// latents' transform is orthonormal, so nothing is decoded. `deviation` turns
/// standardised channels into coefficients. Infinite when equal.
double psnr(const std::vector<float> &estimate, const std::vector<float> &clean,
            const std::array<float, channels> &deviation);

/// What a sample of rows says about a run.
struct RowCheck {
  int64_t rows = 0;    ///< rows compared, over all heads
  double maxError = 0; ///< largest |out - reference|
  double bound = 0;    ///< what maxError must not exceed
  double keptMass = 1; ///< mean of exp(lse_sparse - lse_dense)
};

/// `wanted` evenly spread rows of [0, total), first and last included; all of
/// them when `wanted` is 0 or larger than total.
std::vector<int64_t> sampleRows(int64_t total, int64_t wanted);

/// Compares these rows of every head of the layer's last run with a double
/// precision reference over the same mask. The bound is (r + 2^-21 s) max|v|:
/// r is the rounding of out's type and of the accumulation (fp32 2^-18, fp16
/// 2^-10, bf16 2^-7); s the largest |lse| seen, since scores are fp32 sums and
/// off by a few units in the last place.
RowCheck checkRows(sa_layer *layer, const sa_tensor &q, const sa_tensor &k,
                   const sa_tensor &v, const sa_tensor &out,
                   const sa_tensor &lse, const std::vector<int64_t> &rows);

} // namespace dit

#endif // SPARSEATTN_EXAMPLES_DITHOST_METRICS_H

//===- Check.h - Comparison with the dense masked reference -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_COMMON_CHECK_H
#define SPARSEATTN_TOOLS_COMMON_CHECK_H

#include "Inputs.h"

#include <cmath>

namespace sart {

struct CheckResult {
  int64_t rows = 0; ///< rows compared
  int64_t rowsPerHead = 0;
  double maxError = 0; ///< largest |out - reference|; infinite for a NaN
  double bound = 0;    ///< stated bound of maxError
  double maxLseError = 0, lseBound = 0; ///< the same of lse
  double keptMass = 0; ///< mean of exp(lse - lse_dense) over the rows
  /// A bound that is not finite proves nothing.
  bool passed() const {
    return std::isfinite(bound) && maxError <= bound && maxLseError <= lseBound;
  }
};

/// Stated bound of |out - reference|: (r + 2^-21 * s) * max|v| with s the
/// largest |score| seen and r the rounding of out's dtype plus accumulation:
/// fp32 2^-18, fp16 2^-10, bf16 2^-7. A score is a sum of head_dim fp32
/// products, off by a few ulp of s, and moves every weight by that factor.
double errorBound(DType dtype, double largestScore, double largestValue);

/// Stated bound of |lse - reference|: 2^-16 + 2^-19 * s, far below ln 2.
double lseErrorBound(double largestScore);

/// Compares `out` and `lse` of the layer's last run with the double precision
/// reference over the run's mask: `rowsPerHead` evenly spread rows of every
/// head, first and last included; 0: every row.
Expected<CheckResult>
checkAgainstReference(sa_layer *layer, const sa_layer_info &info,
                      RunInputs &inputs, const HostTensor &out,
                      const HostTensor &lse, int64_t rowsPerHead);

} // namespace sart

#endif // SPARSEATTN_TOOLS_COMMON_CHECK_H

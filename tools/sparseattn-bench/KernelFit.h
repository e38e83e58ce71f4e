//===- KernelFit.h - Affine costs from measured kernels ---------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_KERNELFIT_H
#define SPARSEATTN_TOOLS_BENCH_KERNELFIT_H

#include "sparseattn-rt/Machine.h"

#include <string>
#include <string_view>
#include <vector>

namespace sart {

/// One measured launch of an attend kernel.
struct KernelPoint {
  DType dtype = DType::BF16;
  int64_t blockQ = 128, blockK = 128, headDim = 128;
  int64_t tiles = 0, rows = 0;
  double ps = 0;    ///< median time
  std::string name; ///< for people
  bool sameKernel(const KernelPoint &o) const {
    return dtype == o.dtype && blockQ == o.blockQ && blockK == o.blockK &&
           headDim == o.headDim;
  }
};

/// Costs of every kernel among the points, in the order of its first one: least
/// squares of the relative errors of launchPs + tiles * tilePs + rows * rowPs,
/// neither below 0. A single point, or points that have the same rows for a
/// tile, give a row no cost of its own. Refuses no point and times that do not
/// exceed the launch. `source` is the index of the numbers' source.
Expected<std::vector<MachineKernel>>
fitKernels(const std::vector<KernelPoint> &points, int64_t launchPs,
           int32_t source);

/// How far predictions are from measurements.
struct FitErrors {
  std::vector<double> relative; ///< per point, signed; the points' order
  double median = 0, p95 = 0;   ///< of the magnitudes; nearest rank
};
/// Predicts points on a machine; exact kernels and scaled ones alike.
FitErrors predictKernels(const Machine &machine,
                         const std::vector<KernelPoint> &points);

/// The points of every kernel at even places of its own (the first, the third,
/// ...) and those at odd ones, which are held out.
void holdOut(const std::vector<KernelPoint> &points,
             std::vector<KernelPoint> &fitted, std::vector<KernelPoint> &held);

/// Points of a file that `sparseattn-bench kernels --device cuda --json` wrote,
/// or of several such results in `runs`; hot medians.
Expected<std::vector<KernelPoint>> readKernelPoints(std::string_view json);

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_KERNELFIT_H

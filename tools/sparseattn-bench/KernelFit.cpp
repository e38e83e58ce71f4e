//===- KernelFit.cpp - Affine costs from measured kernels -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelFit.h"

#include "sparseattn-rt/CheckedMath.h"

#include <algorithm>
#include <cmath>

using namespace sart;

/// The costs of one kernel's points.
static Expected<MachineKernel> fitOne(const std::vector<KernelPoint> &points,
                                      int64_t launchPs, int32_t source) {
  const KernelPoint &first = points.front();
  double tt = 0, tr = 0, rr = 0, ty = 0, ry = 0;
  for (const KernelPoint &point : points) {
    double y = point.ps - static_cast<double>(launchPs);
    if (!(y > 0) || point.tiles <= 0)
      return makeError("time of ", point.name, ": got ", point.ps / 1e6,
                       " us for ", point.tiles, " tiles, expected more than ",
                       static_cast<double>(launchPs) / 1e6,
                       " us of launching, and tiles");
    double t = static_cast<double>(point.tiles) / point.ps,
           r = static_cast<double>(point.rows) / point.ps;
    y /= point.ps;
    tt += t * t;
    tr += t * r;
    rr += r * r;
    ty += t * y;
    ry += r * y;
  }
  double tile = ty / tt, row = 0;
  double determinant = tt * rr - tr * tr;
  // Relative to its terms: rows that go with tiles tell nothing.
  if (points.size() > 1 && determinant > 1e-9 * tt * rr) {
    double both = (rr * ty - tr * ry) / determinant;
    row = (tt * ry - tr * ty) / determinant;
    if (row > 0 && both > 0)
      tile = both;
    else
      row = 0;
  }
  MachineKernel kernel;
  kernel.dtype = first.dtype;
  kernel.blockQ = first.blockQ;
  kernel.blockK = first.blockK;
  kernel.headDim = first.headDim;
  kernel.tilePs = {std::max<int64_t>(std::llround(tile), 1), source};
  kernel.rowPs = {std::llround(row), source};
  return kernel;
}

Expected<std::vector<MachineKernel>>
sart::fitKernels(const std::vector<KernelPoint> &points, int64_t launchPs,
                 int32_t source) {
  if (points.empty())
    return Status::error("measured kernels: got none, expected at least one");
  std::vector<MachineKernel> kernels;
  std::vector<bool> done(points.size(), false);
  for (size_t i = 0; i < points.size(); ++i) {
    if (done[i])
      continue;
    std::vector<KernelPoint> group;
    for (size_t j = i; j < points.size(); ++j)
      if (points[j].sameKernel(points[i])) {
        group.push_back(points[j]);
        done[j] = true;
      }
    Expected<MachineKernel> kernel = fitOne(group, launchPs, source);
    if (!kernel)
      return kernel.status();
    kernels.push_back(*kernel);
  }
  return kernels;
}

FitErrors sart::predictKernels(const Machine &machine,
                               const std::vector<KernelPoint> &points) {
  FitErrors errors;
  std::vector<double> magnitudes;
  for (const KernelPoint &point : points) {
    LayerShape shape;
    shape.dtype = point.dtype;
    shape.blockQ = point.blockQ;
    shape.blockK = point.blockK;
    shape.headDim = point.headDim;
    KernelCost cost = machine.kernelOf(shape);
    int64_t ps =
        saturatingAdd(machine.device.launchPs.value,
                      saturatingAdd(saturatingMul(point.tiles, cost.tilePs),
                                    saturatingMul(point.rows, cost.rowPs)));
    errors.relative.push_back(static_cast<double>(ps) / point.ps - 1);
    magnitudes.push_back(std::abs(errors.relative.back()));
  }
  if (magnitudes.empty())
    return errors;
  std::sort(magnitudes.begin(), magnitudes.end());
  size_t n = magnitudes.size();
  errors.median = (magnitudes[(n - 1) / 2] + magnitudes[n / 2]) / 2;
  errors.p95 = magnitudes[(95 * n + 99) / 100 - 1];
  return errors;
}

void sart::holdOut(const std::vector<KernelPoint> &points,
                   std::vector<KernelPoint> &fitted,
                   std::vector<KernelPoint> &held) {
  for (size_t i = 0; i < points.size(); ++i) {
    auto before = std::count_if(
        points.begin(), points.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const KernelPoint &other) { return other.sameKernel(points[i]); });
    (before % 2 == 0 ? fitted : held).push_back(points[i]);
  }
}

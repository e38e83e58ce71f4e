//===- Calibration.cpp - sparseattn-bench calibrate -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Calibration.h"

#include "CommandLine.h"
#include "CudaKernelBench.h"
#include "HostCalibration.h"
#include "KernelBench.h"
#include "MachineOption.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <thread>

using namespace sart;

static KernelPoint pointOf(const LayerShape &shape, double density,
                           const std::string &name) {
  KernelPoint point;
  point.dtype = shape.dtype;
  point.blockQ = shape.blockQ;
  point.blockK = shape.blockK;
  point.headDim = shape.headDim;
  point.rows = shape.heads * shape.qBlocks();
  point.tiles = std::llround(density * static_cast<double>(point.rows) *
                             static_cast<double>(shape.kvBlocks()));
  point.name = name;
  return point;
}

/// The options of one run of the kernels' benchmark.
static KernelOptions kernelOptions(const CalibrateOptions &options,
                                   int64_t tokens) {
  KernelOptions kernels;
  kernels.device = options.device;
  kernels.blocks = options.blocks;
  kernels.dtypes = options.dtypes;
  kernels.densities = options.densities;
  kernels.heads = kernels.kvHeads = options.heads;
  kernels.tokens = kernels.kvTokens = tokens;
  kernels.headDim = options.headDim;
  kernels.repetitions = options.repetitions;
  kernels.ptxas = options.ptxas;
  kernels.noTorch = kernels.noFlex = true;
  kernels.compilations = 1;
  // The product is there to compare with, which nobody asked for.
  kernels.product = options.device == "cpu" ? 16 : 8192;
  kernels.threads = {
      options.threads > 0
          ? options.threads
          : std::max<int64_t>(std::thread::hardware_concurrency(), 1)};
  return kernels;
}

static Status measureCuda(const CalibrateOptions &options, int64_t tokens,
                          std::vector<KernelPoint> &points) {
  auto results = runCudaKernelBench(kernelOptions(options, tokens));
  if (!results)
    return results.status();
  for (const CudaKernelRow &row : results->rows) {
    KernelPoint point =
        pointOf(row.shape, row.density, concat(tokens, " tokens ", row.lists));
    point.ps = row.times.hot.median() * 1e9;
    points.push_back(point);
  }
  return Status::success();
}

static Status measureCpu(const CalibrateOptions &options, int64_t tokens,
                         std::vector<KernelPoint> &points) {
  auto results = runKernelBench(kernelOptions(options, tokens));
  if (!results)
    return results.status();
  for (const KernelRow &row : results->rows) {
    LayerShape shape;
    shape.heads = options.heads;
    shape.sq = shape.skv = tokens;
    shape.headDim = options.headDim;
    shape.blockQ = row.block.q;
    shape.blockK = row.block.k;
    shape.dtype = row.dtype;
    KernelPoint point =
        pointOf(shape, row.density, concat(tokens, " tokens ", row.density));
    point.ps = row.seconds.median() * 1e12;
    points.push_back(point);
  }
  return Status::success();
}

static Expected<std::vector<KernelPoint>>
measure(const CalibrateOptions &options) {
  if (!options.from.empty()) {
    Expected<std::string> text = readTextFile("--from", options.from);
    if (!text)
      return text.status();
    auto points = readKernelPoints(*text);
    if (!points)
      return makeError("--from ", options.from, ": ", points.message());
    return points;
  }
  // A CPU that others use, too, is slower at times: the best of several passes.
  std::vector<KernelPoint> best;
  for (int64_t pass = 0; pass < options.passes; ++pass) {
    std::vector<KernelPoint> points;
    for (int64_t tokens : options.tokens)
      SART_RETURN_IF_ERROR(options.device == "cpu"
                               ? measureCpu(options, tokens, points)
                               : measureCuda(options, tokens, points));
    if (best.empty())
      best = std::move(points);
    else
      for (size_t i = 0; i < best.size(); ++i)
        best[i].ps = std::min(best[i].ps, points[i].ps);
  }
  return best;
}

/// The machine's source of that name, which is put in place of an older one.
static int32_t addSource(Machine &machine, const MachineSource &source) {
  for (size_t i = 0; i < machine.sources.size(); ++i)
    if (machine.sources[i].name == source.name) {
      machine.sources[i] = source;
      return static_cast<int32_t>(i);
    }
  machine.sources.push_back(source);
  return static_cast<int32_t>(machine.sources.size()) - 1;
}

Expected<CalibrateResults>
sart::runCalibration(const CalibrateOptions &options) {
  CalibrateResults results;
  Expected<Machine> base = loadMachine(options.base);
  if (!base)
    return base.status();
  results.machine = std::move(*base);
  Machine &machine = results.machine;
  if (!options.name.empty())
    machine.name = options.name;
  std::string origin =
      options.from.empty()
          ? "sparseattn-bench calibrate --device " + options.device
          : options.from + ", hot medians";
  int32_t source =
      addSource(machine, {"calibrate", Evidence::Measured, origin});
  if (options.from.empty() && options.device == "cpu")
    SART_RETURN_IF_ERROR(measureHost(machine, source, options.threads));
  Expected<std::vector<KernelPoint>> points = measure(options);
  if (!points)
    return points.status();
  results.points = std::move(*points);
  std::vector<KernelPoint> fitted;
  holdOut(results.points, fitted, results.held);
  int64_t launchPs = machine.device.launchPs.value;
  auto part = fitKernels(fitted, launchPs, source);
  if (!part)
    return part.status();
  Machine partial = machine;
  partial.device.kernels = std::move(*part);
  results.errors = predictKernels(partial, results.held);
  auto all = fitKernels(results.points, launchPs, source);
  if (!all)
    return all.status();
  machine.device.kernels = std::move(*all);
  SART_RETURN_IF_ERROR(machine.verify());
  return results;
}

void sart::printJson(const CalibrateOptions & /*options*/,
                     const CalibrateResults &results, llvm::raw_ostream &os) {
  os << results.machine.text();
}

void sart::printTable(const CalibrateOptions & /*options*/,
                      const CalibrateResults &results, llvm::raw_ostream &os) {
  const Machine &machine = results.machine;
  os << machine.name << "\n"
     << llvm::format("launch %.3f us, memory %.1f GB/s\n",
                     static_cast<double>(machine.device.launchPs.value) / 1e6,
                     static_cast<double>(machine.device.memoryBytesPerS.value) /
                         1e9);
  for (const MachineLink &link : machine.links)
    os << llvm::format(
        "%s %.2f GB/s, %.3f us a transfer (%s)\n", link.name.c_str(),
        static_cast<double>(link.bytesPerS.value) / 1e9,
        static_cast<double>(link.latencyPs.value) / 1e6,
        std::string(
            toString(machine.sources[static_cast<size_t>(link.bytesPerS.source)]
                         .evidence))
            .c_str());
  for (const MachineKernel &kernel : machine.device.kernels)
    os << llvm::format("%-5s %3lldx%-3lld d%-3lld %12.3f ns a tile %12.3f ns a "
                       "row\n",
                       std::string(toString(kernel.dtype)).c_str(),
                       (long long)kernel.blockQ, (long long)kernel.blockK,
                       (long long)kernel.headDim,
                       static_cast<double>(kernel.tilePs.value) / 1e3,
                       static_cast<double>(kernel.rowPs.value) / 1e3);
  for (size_t i = 0; i < results.held.size(); ++i)
    os << llvm::format(
        "held out  %-24s %8lld tiles %12.3f us  predicted "
        "%+6.2f %%\n",
        results.held[i].name.c_str(), (long long)results.held[i].tiles,
        results.held[i].ps / 1e6, 100 * results.errors.relative[i]);
  os << llvm::format("%zu points, %zu held out: median error %.2f %%, 95th "
                     "percentile %.2f %%\n",
                     results.points.size(), results.held.size(),
                     100 * results.errors.median, 100 * results.errors.p95);
}

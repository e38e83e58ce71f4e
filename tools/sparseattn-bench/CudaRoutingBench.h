//===- CudaRoutingBench.h - sparseattn-bench routing on a GPU ---*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_CUDAROUTINGBENCH_H
#define SPARSEATTN_TOOLS_BENCH_CUDAROUTINGBENCH_H

#include "CudaRoutingProblem.h"
#include "DeviceTimer.h"
#include "GpuKernelBuild.h"
#include "RoutingOptions.h"
#include "TorchBaseline.h"

namespace sart {

/// Times of one policy over one shape.
struct CudaRoutingRow {
  LayerShape shape;
  double p = 0;
  RoutingCheck check;
  struct Stage {
    std::string name; ///< pool, route, loads, order, together, graph
    DeviceTimes times;
  };
  std::vector<Stage> stages;
  double pooledBytes = 0;            ///< that pool reads
  BaselineTimes torchPool, torchAll; ///< plain operations of PyTorch
};

struct CudaRoutingResults {
  std::string device, torch;
  std::string torchMissing; ///< why there are no figures of PyTorch
  std::vector<GpuCompileRow> compiles;
  std::vector<CudaRoutingRow> rows;
};

/// Compiles, checks against double precision, then times. Kernels that compute
/// something else are an error, not a figure.
Expected<CudaRoutingResults> runCudaRoutingBench(const RoutingOptions &options);

void printTable(const RoutingOptions &options,
                const CudaRoutingResults &results, llvm::raw_ostream &os);
void printJson(const RoutingOptions &options, const CudaRoutingResults &results,
               llvm::raw_ostream &os);

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_CUDAROUTINGBENCH_H

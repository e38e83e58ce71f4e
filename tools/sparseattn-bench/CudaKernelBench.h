//===- CudaKernelBench.h - sparseattn-bench kernels on a GPU ----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_CUDAKERNELBENCH_H
#define SPARSEATTN_TOOLS_BENCH_CUDAKERNELBENCH_H

#include "CudaKernelProblem.h"
#include "DeviceTimer.h"
#include "GpuKernelBuild.h"
#include "KernelOptions.h"
#include "TorchBaseline.h"

#include <optional>

namespace llvm {
class raw_ostream;
}

namespace sart {

/// A kernel over one choice of lists. TFLOP/s count visited blocks only.
struct CudaKernelRow {
  std::string kernel;
  LayerShape shape;
  std::string lists; ///< "0.1", "64 a row", "trace"
  double density = 0, flops = 0;
  DeviceTimes times;
  DeviceCheck emptyRows; ///< after a launch over lists with empty rows
  DeviceCheck timed;     ///< after the last timed launch
  std::string maskFile;  ///< for FlexAttention; empty: none
};

/// A baseline in the same run.
struct CudaBaselineRow {
  std::string name; ///< "cublas", "torch.mm", "cudnn", "flex"
  std::string dtype, lists;
  double flops = 0;
  BaselineTimes times;
};

struct CudaKernelResults {
  std::string device, cublas, torch;
  std::string cublasMissing, torchMissing; ///< why there are no figures
  std::vector<GpuCompileRow> compiles;
  std::vector<CudaBaselineRow> baselines;
  std::vector<CudaKernelRow> rows;
};

/// TFLOP/s.
inline double rateOf(double flops, double ms) { return flops / ms * 1e-9; }

/// Compiles, checks against float64, then times, then the baselines. A kernel
/// that computes something else is an error, not a figure.
Expected<CudaKernelResults> runCudaKernelBench(const KernelOptions &options);

void printTable(const KernelOptions &options, const CudaKernelResults &results,
                llvm::raw_ostream &os);
void printJson(const KernelOptions &options, const CudaKernelResults &results,
               llvm::raw_ostream &os);

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_CUDAKERNELBENCH_H

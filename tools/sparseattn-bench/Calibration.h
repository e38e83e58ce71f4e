//===- Calibration.h - sparseattn-bench calibrate ---------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_CALIBRATION_H
#define SPARSEATTN_TOOLS_BENCH_CALIBRATION_H

#include "KernelFit.h"
#include "KernelOptions.h"

#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace sart {

struct CalibrateOptions {
  std::string device = "cpu";
  std::string from; ///< recorded results in place of measurements
  std::string base; ///< machine file with what is not measured
  std::string name; ///< of the machine; empty: the base's
  std::vector<BlockSize> blocks;
  std::vector<DType> dtypes;
  std::vector<double> densities;
  std::vector<int64_t> tokens;
  int64_t heads = 0, headDim = 128, repetitions = 0, threads = 0;
  int64_t passes = 0; ///< over all points; the best of each counts
  std::string ptxas;
  bool json = false, help = false;
};

/// `argv` without the name of the benchmark. Fills `helpText` for --help.
Status parseCalibrateOptions(int argc, char **argv, CalibrateOptions &options,
                             std::string &helpText);

struct CalibrateResults {
  Machine machine;                 ///< fitted on all points
  std::vector<KernelPoint> points; ///< measured
  std::vector<KernelPoint> held;   ///< of them, predicted by the others
  FitErrors errors;                ///< of the held ones
};

/// Measures attend kernels over shapes and densities, and on the CPU a launch,
/// memory and a copy between two ranks; fits them, with every second point of
/// each kernel held out for the errors. What is not measured is the base's.
Expected<CalibrateResults> runCalibration(const CalibrateOptions &options);

/// A table of the fit; with --json the machine file.
void printTable(const CalibrateOptions &options,
                const CalibrateResults &results, llvm::raw_ostream &os);
void printJson(const CalibrateOptions &options, const CalibrateResults &results,
               llvm::raw_ostream &os);

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_CALIBRATION_H

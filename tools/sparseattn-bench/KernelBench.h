//===- KernelBench.h - sparseattn-bench kernels -----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_KERNELBENCH_H
#define SPARSEATTN_TOOLS_BENCH_KERNELBENCH_H

#include "KernelOptions.h"
#include "Sample.h"

#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace sart {

/// Figures of one combination; GF/s count visited blocks only.
struct KernelRow {
  BlockSize block;
  DType dtype = DType::F32;
  double density = 0;
  int64_t threads = 1;
  Sample kernel;       ///< GF/s
  Sample seconds;      ///< of the same launches
  Sample sgemm;        ///< GF/s, mean of the products before and after
  Sample ratio;        ///< kernel / sgemm of the same repetition
  Sample oneBlock;     ///< GF/s with every visit on the same block: the ceiling
  Sample ceilingShare; ///< kernel / oneBlock of the same repetition
};

/// Compile time of one kernel, from its specification to callable code.
struct KernelCompileRow {
  std::string name;
  double firstMs = 0; ///< the first in the process has costs of its own
  Sample ms;
};

struct KernelResults {
  std::string cpu;        ///< that the code is for
  std::string blasConfig; ///< empty: there is none
  std::string blasCore;
  std::string blasMissing; ///< why there is none
  std::vector<KernelCompileRow> compiles;
  std::vector<KernelRow> rows;
};

/// Compiles, checks against the double precision reference, then times. A
/// kernel that computes something else is an error, not a figure.
Expected<KernelResults> runKernelBench(const KernelOptions &options);

void printTable(const KernelOptions &options, const KernelResults &results,
                llvm::raw_ostream &os);
void printJson(const KernelOptions &options, const KernelResults &results,
               llvm::raw_ostream &os);

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_KERNELBENCH_H

//===- GpuKernelBuild.h - Compile times of kernels of a GPU -----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_GPUKERNELBUILD_H
#define SPARSEATTN_TOOLS_BENCH_GPUKERNELBUILD_H

#include "Sample.h"

#include "CudaModule.h"
#include "sparseattn-rt/Executable.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
namespace json {
class OStream;
}
} // namespace llvm

namespace sart {

/// Milliseconds from the specifications of kernels to code, and what it is.
struct GpuCompileRow {
  std::string name;   ///< of the specs
  std::string source; ///< of the first: "compiled", "cached"
  double firstMs = 0; ///< the first in the process has costs of its own
  Sample coldMs;      ///< with an empty cache
  Sample warmMs;      ///< from the cache on disk; empty without one
  Sample loadMs;      ///< of the binary, by the driver
  std::string ptxas;  ///< its version, or "none"
  std::string notice; ///< what is not as it should be
  int registers = 0, localBytes = 0; ///< of the kernel with the most registers
};

/// One line of a table, and an object of JSON.
void printCompile(const GpuCompileRow &row, llvm::raw_ostream &os);
void writeJson(llvm::json::OStream &json, const GpuCompileRow &row);

/// Kernels and the modules that hold them on the device.
class GpuKernelBuild {
public:
  /// Compiles the kernels of `specs` together `times` times in an empty cache,
  /// loads them as often from it, and on `device`. `ptxas` as in
  /// GpuKernelLibrary::create.
  static Expected<GpuKernelBuild>
  make(const std::shared_ptr<cuda::CudaDevice> &device,
       const std::vector<KernelSpec> &specs, const std::string &ptxas,
       int64_t times);

  /// Refuses a `ptxas` that `make` would refuse: no GPU is needed to say so.
  static Status checkAssembler(const std::string &ptxas);

  const GpuCompileRow &figures() const { return row; }
  /// The function called `entry` and how it is launched.
  struct Kernel {
    const cuda::CudaFunction *function = nullptr;
    DeviceLaunch how;
  };
  Expected<Kernel> find(const std::string &entry) const;
  /// The only kernel of `spec`.
  Expected<Kernel> find(const KernelSpec &spec) const;

private:
  Expected<Kernel> load(const LoadedKernel &kernel) const;

  GpuCompileRow row;
  std::shared_ptr<KernelTable> table;
  std::shared_ptr<cuda::CudaModuleTable> modules;
};

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_GPUKERNELBUILD_H

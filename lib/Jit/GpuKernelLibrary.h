//===- GpuKernelLibrary.h - GPU kernels, compiled or cached --- -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_JIT_GPUKERNELLIBRARY_H
#define SPARSEATTN_LIB_JIT_GPUKERNELLIBRARY_H

#include "GpuKernelFlights.h"
#include "ShippedKernels.h"

#include "sparseattn/Jit/GpuKernelCompiler.h"
#include "sparseattn/Jit/GpuKernelEmitter.h"
#include "sparseattn/Jit/LayerCompiler.h"

#include "sparseattn-rt/DiskCache.h"

namespace mlir {
namespace sparseattn {

/// Text that says all that determines the code of kernels for `target`, but the
/// kernel itself: the builds of this compiler, MLIR and LLVM, the chip, the PTX
/// ISA and the ptxas. Empty if a build cannot be told from others.
std::string gpuKernelPlatform(const GpuTarget &target);
/// The same of kernels that another ptxas made.
std::string gpuKernelPlatform(const std::string &chip, unsigned ptxVersion,
                              const std::string &ptxasVersion);

/// Every kernel for one GPU target that an engine compiled or loaded so far.
/// Nothing of a GPU is touched: kernels are bytes until a backend loads them.
/// Not safe for use by several threads at once; several libraries of a process
/// compile each kernel once together.
class GpuKernelLibrary {
public:
  /// `ptxas`: the file of it; empty: the one that is found; "none": no
  /// assembler. `cache` may be null. Errors: those of Ptxas::open.
  /// `shippedRoot`: where kernels may be that came with the library; empty:
  /// nowhere.
  static sart::Expected<std::unique_ptr<GpuKernelLibrary>>
  create(std::shared_ptr<sart::DiskCache> cache, const std::string &ptxas,
         GpuKernelEmitters emitters,
         const std::string &shippedRoot = ShippedKernels::defaultRoot());

  const GpuTarget &getTarget() const { return compiler.getTarget(); }
  /// What a user has to know about the target; empty if nothing.
  std::string notice() const;
  /// Those that the emitters write, and those that kernels lower through.
  void registerDialects(DialectRegistry &registry) const;

  /// The kernels of `specs`; `sources` says where each came from. PTX is made
  /// one after the other in `context`, beside it ptxas runs for each.
  sart::Expected<std::shared_ptr<sart::KernelTable>>
  kernelsOf(const std::vector<sart::KernelSpec> &specs, MLIRContext &context,
            std::vector<KernelSource> &sources);

  /// "gpu kernel attend_bf16_bf16_d128_q128_k128@sm_90a", the recipe and the
  /// platform. Errors: those of the emitter's recipe, or no emitter.
  sart::Expected<std::string> keyOf(const sart::KernelSpec &spec) const;

private:
  struct Request;
  explicit GpuKernelLibrary(GpuTarget target) : compiler(std::move(target)) {}
  bool caches() const { return cache && cache->enabled(); }
  sart::Expected<const GpuKernelEmitter *>
  emitterOf(const sart::KernelSpec &spec) const;
  SharedExecutable loadCached(const Request &request);
  /// Of the kernels that came with the library. Where a ptxas was asked for by
  /// name, only what that version made.
  SharedExecutable loadShipped(const Request &request) const;
  sart::Expected<std::string> keyOf(const sart::KernelSpec &spec,
                                    const std::string &platform) const;
  void makeAll(std::vector<Request> &requests, MLIRContext &context);
  sart::Status lower(Request &request, MLIRContext &context);
  sart::Status assemble(Request &request) const;
  void compileAll(std::vector<Request *> requests, MLIRContext &context);

  GpuKernelCompiler compiler;
  std::shared_ptr<sart::DiskCache> cache; ///< null: none
  GpuKernelEmitters emitters;
  std::string platform; ///< of the key: all but the kernel
  std::optional<ShippedKernels> shipped;
  std::map<std::string, SharedExecutable> loaded; ///< by key
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_JIT_GPUKERNELLIBRARY_H

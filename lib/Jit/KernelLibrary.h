//===- KernelLibrary.h - Kernels, compiled or cached ------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_JIT_KERNELLIBRARY_H
#define SPARSEATTN_LIB_JIT_KERNELLIBRARY_H

#include "sparseattn/Jit/KernelCompiler.h"
#include "sparseattn/Jit/LayerCompiler.h"

#include "sparseattn-rt/DiskCache.h"
#include "sparseattn-rt/Executable.h"

namespace mlir {
namespace sparseattn {

/// Every kernel compiled or loaded so far, each once. Not safe for use by
/// several threads at once.
class KernelLibrary {
public:
  /// Kernels for this machine. `cache` may be null.
  static sart::Expected<std::unique_ptr<KernelLibrary>>
  create(std::shared_ptr<sart::DiskCache> cache);

  /// The kernels that `program` needs; `sources` says where each came from.
  sart::Expected<std::shared_ptr<sart::KernelTable>>
  kernelsOf(const sart::Program &program, MLIRContext &context,
            std::vector<KernelSource> &sources);

private:
  KernelLibrary() = default;
  bool loadCached(const sart::KernelSpec &spec, const std::string &key);
  sart::Status compile(const sart::KernelSpec &spec, const std::string &key,
                       MLIRContext &context);
  std::string keyOf(const sart::KernelSpec &spec) const;
  bool caches() const { return cache && cache->enabled(); }

  std::shared_ptr<KernelCompiler> compiler;
  std::shared_ptr<sart::DiskCache> cache; ///< null: none
  std::string platform;                   ///< of the key: all but the kernel
  sart::KernelTable table;
};

/// Which builds of this compiler, MLIR and LLVM are loaded, a line each; empty
/// if one cannot be told from others.
std::string compilerBuilds();

/// Text that says all that determines the code of kernels for `target`, but the
/// kernel itself: the builds of this compiler, MLIR and LLVM, and the CPU.
/// Empty if a build cannot be told from others.
std::string kernelPlatform(const CpuTarget &target);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_JIT_KERNELLIBRARY_H

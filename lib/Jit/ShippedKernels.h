//===- ShippedKernels.h - Kernels that come with the library ----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_JIT_SHIPPEDKERNELS_H
#define SPARSEATTN_LIB_JIT_SHIPPEDKERNELS_H

#include "sparseattn-rt/DiskCache.h"

#include <memory>
#include <optional>
#include <string>

namespace mlir {
namespace sparseattn {

/// A folder of cache entries that an archive brings, made by one ptxas:
/// share/sparseattn/kernels/ptxas-13.0.88-isa-90. Nothing is ever stored there.
class ShippedKernels {
public:
  /// The first such folder under `root`; none if there is none.
  static std::optional<ShippedKernels> open(const std::string &root);
  /// ../share/sparseattn/kernels beside the folder of the library or program
  /// that this code lies in; empty if that cannot be told.
  static std::string defaultRoot();

  /// Version of the ptxas that made the kernels, and the PTX ISA.
  const std::string &ptxasVersion() const { return version; }
  unsigned ptxVersion() const { return isa; }
  std::optional<std::string> load(const std::string &key) const {
    return cache->load(key);
  }

private:
  std::string version;
  unsigned isa = 0;
  std::shared_ptr<sart::DiskCache> cache;
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_JIT_SHIPPEDKERNELS_H

//===- NormalSource.h - Random tensors of any size, fast --------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TOOLS_BENCH_NORMALSOURCE_H
#define SPARSEATTN_TOOLS_BENCH_NORMALSOURCE_H

#include "sparseattn-rt/DType.h"

#include <cstdint>
#include <vector>

namespace sart {

/// Unit normal 16-bit elements that depend on (seed, stream, index) alone, so
/// that a check can make any part of a large tensor again. An element is a
/// quantile of 65,536: the largest is about 4.3.
class NormalSource {
public:
  /// `dtype`: bf16 or f16.
  NormalSource(DType dtype, int64_t seed);

  DType dtype() const { return type; }
  /// Elements [begin, begin + count) of a stream's tensor.
  void fill(uint16_t *data, int64_t stream, int64_t begin, int64_t count) const;
  /// The same as the values that the elements have.
  void fill(double *data, int64_t stream, int64_t begin, int64_t count) const;

private:
  template <typename Store>
  void generate(int64_t stream, int64_t begin, int64_t count,
                Store store) const;

  DType type;
  uint64_t seed;
  std::vector<uint16_t> elements; ///< by quantile
  std::vector<double> values;     ///< of the elements
};

} // namespace sart

#endif // SPARSEATTN_TOOLS_BENCH_NORMALSOURCE_H

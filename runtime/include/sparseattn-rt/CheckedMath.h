//===- CheckedMath.h - Sums and products that cannot wrap -------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For numbers that come from outside: program bytes and text, plans, masks,
// archives, tensors of a host. What is refused uses the checked form, what is
// only counted or printed the saturating one.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CHECKEDMATH_H
#define SPARSEATTN_RT_CHECKEDMATH_H

#include <cstdint>
#include <limits>
#include <optional>

namespace sart {

/// a + b and a * b, or nothing where 64 bits do not hold it.
inline std::optional<int64_t> checkedAdd(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum))
    return std::nullopt;
  return sum;
}
inline std::optional<int64_t> checkedMul(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    return std::nullopt;
  return product;
}

/// `unit` times all sizes of an array that are not 0. Nothing where 64 bits do
/// not hold it: so that strides and sizes of parts fit for an empty array too.
template <typename Sizes>
std::optional<int64_t> checkedExtent(int64_t unit, const Sizes &sizes) {
  std::optional<int64_t> extent = unit;
  for (int64_t size : sizes) {
    if (size == 0)
      continue;
    extent = checkedMul(*extent, size);
    if (!extent)
      break;
  }
  return extent;
}

/// a + b and a * b of numbers of at least 0, clamped to the largest int64.
inline int64_t saturatingAdd(int64_t a, int64_t b) {
  return checkedAdd(a, b).value_or(std::numeric_limits<int64_t>::max());
}
inline int64_t saturatingMul(int64_t a, int64_t b) {
  return checkedMul(a, b).value_or(std::numeric_limits<int64_t>::max());
}

} // namespace sart

#endif // SPARSEATTN_RT_CHECKEDMATH_H

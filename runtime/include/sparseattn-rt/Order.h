//===- Order.h - Token orders of a space-time grid ----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_ORDER_H
#define SPARSEATTN_RT_ORDER_H

#include "sparseattn-rt/Status.h"

#include <array>
#include <cstdint>
#include <vector>

namespace sart {

enum class OrderKind : uint8_t { Raster = 0, Cubes = 1, Hilbert = 2, Stripes = 3 };

/// An invertible permutation of the tokens of a T x H x W grid. `prefix` and
/// `suffix` text tokens stay in place before and after the grid's tokens.
///
/// Cubes: `cube` tokens per axis, cubes in raster order, raster inside a cube,
/// cut at the grid's border. Hilbert: Skilling's curve (AIP Conf. Proc. 707,
/// 2004) over the smallest power-of-two cube that holds the grid, points
/// outside skipped. Stripes: spatial stripes, tokens sorted by (h * W + w),
/// then by frame.
struct Order {
  OrderKind kind = OrderKind::Raster;
  std::array<int64_t, 3> grid = {0, 0, 0}; ///< T, H, W
  int64_t prefix = 0;
  int64_t suffix = 0;
  std::array<int64_t, 3> cube = {4, 4, 4};

  int64_t tokens() const {
    return prefix + grid[0] * grid[1] * grid[2] + suffix;
  }
  /// Refuses negative sizes, an empty grid axis, cube sizes below 1.
  Status verify() const;
  /// perm[i] = raster token that stands at position i of this order.
  std::vector<int64_t> permutation() const;
  /// inverse[t] = position of raster token t.
  std::vector<int64_t> inverse() const;
};

} // namespace sart

#endif // SPARSEATTN_RT_ORDER_H

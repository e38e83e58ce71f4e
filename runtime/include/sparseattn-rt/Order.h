//===- Order.h - Token orders of a space-time grid --------------*- C++ -*-===//
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
#include <string_view>
#include <vector>

namespace sart {

enum class OrderKind : uint8_t {
  Raster = 0,
  Cubes = 1,
  Hilbert = 2,
  Stripes = 3,
  Tiles = 4
};

/// raster, cubes, hilbert, stripes, tiles.
std::string_view toString(OrderKind kind);
Expected<OrderKind> parseOrderKind(std::string_view text);

/// An invertible permutation of the tokens of a T x H x W grid. `prefix` and
/// `suffix` text tokens stay in place before and after the grid's tokens. The
/// raster number of grid point (t, h, w) is prefix + (t * H + h) * W + w.
///
/// Raster: the identity.
/// Cubes: `cube` tokens per axis, cubes in raster order, raster inside a cube,
/// cut at the grid's border: sorted by (t / cT, h / cH, w / cW, t, h, w).
/// Hilbert: the curve of J. Skilling, "Programming the Hilbert curve", AIP
/// Conf. Proc. 707 (2004), function AxestoTranspose, over the smallest cube of
/// side 2^b, b >= hilbertBits, that holds the grid; points outside are skipped.
/// Another b turns the curve, so it is another order. Axes in
/// the order X[0] = t, X[1] = h, X[2] = w. Sorted by the key whose bits are,
/// from the most significant, bit b - 1 of X[0], X[1], X[2], bit b - 2 of X[0],
/// X[1], X[2], ... of the transposed form.
/// Stripes: spatial stripes, sorted by (h * W + w, t).
/// Tiles: mixed time x space tiles, for ranks that hold consecutive tokens. The
/// tokens of stripes are cut into `tiles[1]` runs (token i of n in run
/// floor(i * runs / n)), each is sorted by (t, h * W + w) and cut into
/// `tiles[0]` runs. Inside a tile tokens are sorted as in cubes, so that blocks
/// of tokens stay compact.
struct Order {
  OrderKind kind = OrderKind::Raster;
  std::array<int64_t, 3> grid = {0, 0, 0}; ///< T, H, W
  int64_t prefix = 0;
  int64_t suffix = 0;
  std::array<int64_t, 3> cube = {4, 4, 4};
  int64_t hilbertBits = 1; ///< least b of a Hilbert curve, 1 to 20
  std::array<int64_t, 2> tiles = {1, 1}; ///< of tiles: in time, in space

  int64_t tokens() const {
    return prefix + grid[0] * grid[1] * grid[2] + suffix;
  }
  /// Refuses negative sizes, an empty grid axis, cube sizes below 1, axes above
  /// 2^20 and more than 2^28 tokens.
  Status verify() const;
  /// perm[i] = raster token that stands at position i of this order. Empty when
  /// the order does not verify.
  std::vector<int64_t> permutation() const;
  /// inverse[t] = position of raster token t.
  std::vector<int64_t> inverse() const;
};

/// An order without a grid: raster, cubes, hilbert, stripes or tiles<t=2,h=4>.
Expected<Order> parseOrder(std::string_view text);

} // namespace sart

#endif // SPARSEATTN_RT_ORDER_H

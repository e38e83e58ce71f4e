//===- Order.cpp - Token orders of a space-time grid ----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Order.h"

#include "TileText.h"

#include <algorithm>

using namespace sart;

namespace {

/// Limits of a grid: a Hilbert key of three axes fits 63 bits, a permutation
/// fits memory.
constexpr int64_t maxAxis = int64_t(1) << 20;
constexpr int64_t maxTokens = int64_t(1) << 28;
constexpr const char *axisNames[3] = {"T", "H", "W"};

/// Position of a point along Skilling's Hilbert curve over a cube of side
/// 2^bits.
uint64_t hilbertKey(uint32_t t, uint32_t h, uint32_t w, unsigned bits) {
  uint32_t x[3] = {t, h, w};
  // Inverse undo of the excess work.
  for (uint32_t q = uint32_t(1) << (bits - 1); q > 1; q >>= 1) {
    uint32_t p = q - 1;
    for (uint32_t &axis : x) {
      if (axis & q) {
        x[0] ^= p;
        continue;
      }
      uint32_t swapped = (x[0] ^ axis) & p;
      x[0] ^= swapped;
      axis ^= swapped;
    }
  }
  // Gray encoding.
  x[1] ^= x[0];
  x[2] ^= x[1];
  uint32_t flip = 0;
  for (uint32_t q = uint32_t(1) << (bits - 1); q > 1; q >>= 1)
    if (x[2] & q)
      flip ^= q - 1;
  uint64_t key = 0;
  for (unsigned bit = bits; bit-- > 0;)
    for (uint32_t axis : x)
      key = (key << 1) | (((axis ^ flip) >> bit) & 1);
  return key;
}

void appendHilbert(const std::array<int64_t, 3> &grid, int64_t leastBits,
                   int64_t base, std::vector<int64_t> &out) {
  int64_t longest = *std::max_element(grid.begin(), grid.end());
  unsigned bits = static_cast<unsigned>(leastBits);
  while ((int64_t(1) << bits) < longest)
    ++bits;
  std::vector<std::pair<uint64_t, int64_t>> points;
  points.reserve(static_cast<size_t>(grid[0] * grid[1] * grid[2]));
  int64_t token = base;
  for (int64_t t = 0; t < grid[0]; ++t)
    for (int64_t h = 0; h < grid[1]; ++h)
      for (int64_t w = 0; w < grid[2]; ++w)
        points.emplace_back(hilbertKey(static_cast<uint32_t>(t),
                                       static_cast<uint32_t>(h),
                                       static_cast<uint32_t>(w), bits),
                            token++);
  std::sort(points.begin(), points.end());
  for (const auto &point : points)
    out.push_back(point.second);
}

void appendCubes(const std::array<int64_t, 3> &grid,
                 const std::array<int64_t, 3> &cube, int64_t base,
                 std::vector<int64_t> &out) {
  for (int64_t t0 = 0; t0 < grid[0]; t0 += cube[0])
    for (int64_t h0 = 0; h0 < grid[1]; h0 += cube[1])
      for (int64_t w0 = 0; w0 < grid[2]; w0 += cube[2])
        for (int64_t t = t0; t < std::min(t0 + cube[0], grid[0]); ++t)
          for (int64_t h = h0; h < std::min(h0 + cube[1], grid[1]); ++h)
            for (int64_t w = w0; w < std::min(w0 + cube[2], grid[2]); ++w)
              out.push_back(base + (t * grid[1] + h) * grid[2] + w);
}

void appendStripes(const std::array<int64_t, 3> &grid, int64_t base,
                   std::vector<int64_t> &out) {
  int64_t frame = grid[1] * grid[2];
  for (int64_t place = 0; place < frame; ++place)
    for (int64_t t = 0; t < grid[0]; ++t)
      out.push_back(base + t * frame + place);
}

void appendTiles(const Order &order, std::vector<int64_t> &out) {
  int64_t frame = order.grid[1] * order.grid[2], width = order.grid[2];
  std::vector<int64_t> points;
  appendStripes(order.grid, 0, points);
  auto inTime = [](int64_t a, int64_t b) { return a < b; };
  auto inCubes = [&](int64_t a, int64_t b) {
    auto key = [&](int64_t point) {
      return std::array<int64_t, 4>{point / frame / order.cube[0],
                                    point % frame / width / order.cube[1],
                                    point % width / order.cube[2], point};
    };
    return key(a) < key(b);
  };
  // First token of run `index` of `runs` in [begin, end).
  auto border = [](int64_t begin, int64_t end, int64_t runs, int64_t index) {
    return begin + ((end - begin) * index + runs - 1) / runs;
  };
  int64_t count = static_cast<int64_t>(points.size());
  for (int64_t stripe = 0; stripe < order.tiles[1]; ++stripe) {
    int64_t begin = border(0, count, order.tiles[1], stripe);
    int64_t end = border(0, count, order.tiles[1], stripe + 1);
    std::sort(points.begin() + begin, points.begin() + end, inTime);
    for (int64_t tile = 0; tile < order.tiles[0]; ++tile)
      std::sort(points.begin() + border(begin, end, order.tiles[0], tile),
                points.begin() + border(begin, end, order.tiles[0], tile + 1),
                inCubes);
  }
  for (int64_t point : points)
    out.push_back(order.prefix + point);
}

} // namespace

Status Order::verify() const {
  for (int axis = 0; axis < 3; ++axis) {
    if (grid[axis] < 1 || grid[axis] > maxAxis)
      return makeError("grid axis ", axisNames[axis], " out of range: got ",
                       grid[axis], ", expected 1 to ", maxAxis);
    if (cube[axis] < 1 || cube[axis] > maxAxis)
      return makeError("cube axis ", axisNames[axis], " out of range: got ",
                       cube[axis], ", expected 1 to ", maxAxis);
  }
  for (int64_t count : tiles)
    if (count < 1 || count > maxAxis)
      return makeError("tiles of an order out of range: got ", count,
                       ", expected 1 to ", maxAxis);
  if (hilbertBits < 1 || hilbertBits > 20)
    return makeError("bits of a Hilbert curve out of range: got ", hilbertBits,
                     ", expected 1 to 20");
  if (prefix < 0 || prefix > maxTokens)
    return makeError("number of prefix tokens out of range: got ", prefix,
                     ", expected 0 to ", maxTokens);
  if (suffix < 0 || suffix > maxTokens)
    return makeError("number of suffix tokens out of range: got ", suffix,
                     ", expected 0 to ", maxTokens);
  if (tokens() > maxTokens)
    return makeError("number of ordered tokens out of range: got ", tokens(),
                     ", expected at most ", maxTokens);
  switch (kind) {
  case OrderKind::Raster:
  case OrderKind::Cubes:
  case OrderKind::Hilbert:
  case OrderKind::Stripes:
  case OrderKind::Tiles:
    return Status::success();
  }
  return makeError("order not known: got ", static_cast<int>(kind),
                   ", expected 0 to 4");
}

std::vector<int64_t> Order::permutation() const {
  std::vector<int64_t> result;
  if (!verify().ok())
    return result;
  result.reserve(static_cast<size_t>(tokens()));
  for (int64_t i = 0; i < prefix; ++i)
    result.push_back(i);
  switch (kind) {
  case OrderKind::Raster:
    for (int64_t i = prefix; i < tokens() - suffix; ++i)
      result.push_back(i);
    break;
  case OrderKind::Cubes:
    appendCubes(grid, cube, prefix, result);
    break;
  case OrderKind::Hilbert:
    appendHilbert(grid, hilbertBits, prefix, result);
    break;
  case OrderKind::Stripes:
    appendStripes(grid, prefix, result);
    break;
  case OrderKind::Tiles:
    appendTiles(*this, result);
    break;
  }
  for (int64_t i = tokens() - suffix; i < tokens(); ++i)
    result.push_back(i);
  return result;
}

std::vector<int64_t> Order::inverse() const {
  std::vector<int64_t> order = permutation();
  std::vector<int64_t> result(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    result[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return result;
}

std::string_view sart::toString(OrderKind kind) {
  switch (kind) {
  case OrderKind::Raster:
    return "raster";
  case OrderKind::Cubes:
    return "cubes";
  case OrderKind::Hilbert:
    return "hilbert";
  case OrderKind::Stripes:
    return "stripes";
  case OrderKind::Tiles:
    return "tiles";
  }
  return "unknown";
}

Expected<OrderKind> sart::parseOrderKind(std::string_view text) {
  for (OrderKind kind :
       {OrderKind::Raster, OrderKind::Cubes, OrderKind::Hilbert,
        OrderKind::Stripes, OrderKind::Tiles})
    if (text == toString(kind))
      return kind;
  return makeError("order not known: got '", text,
                   "', expected raster, cubes, hilbert, stripes or tiles");
}

Expected<Order> sart::parseOrder(std::string_view text) {
  Order order;
  if (parseTiles(text, order.tiles[0], order.tiles[1])) {
    order.kind = OrderKind::Tiles;
    return order;
  }
  Expected<OrderKind> kind = parseOrderKind(text);
  if (!kind || *kind == OrderKind::Tiles)
    return makeError("order not known: got '", text,
                     "', expected raster, cubes, hilbert, stripes or "
                     "tiles<t=N,h=N>");
  order.kind = *kind;
  return order;
}

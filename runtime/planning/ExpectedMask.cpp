//===- ExpectedMask.cpp - A mask to plan with before there is one ---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sparseattn-rt/ExpectedMask.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace sart;

namespace {

/// exp(0.6 z) at 16 quantiles of the normal distribution, over their mean, in
/// thousandths.
constexpr std::array<int64_t, 16> headFactors = {
    278, 385, 463,  533,  600,  667,  736,  810,
    890, 979, 1081, 1202, 1353, 1556, 1872, 2596};

uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

struct DensityPoint {
  int64_t pMilli, densityMilli;
};
constexpr DensityPoint topPDensities[] = {{0, 30},    {800, 220}, {850, 286},
                                          {900, 391}, {950, 560}, {1000, 1000}};

} // namespace

int64_t sart::expectedDensityMilli(const RoutingPolicy &policy,
                                   const LayerShape &shape) {
  int64_t blocks = std::max<int64_t>(shape.kvBlocks(), 1);
  auto share = [&](int64_t selected) {
    return std::clamp<int64_t>(
        std::clamp<int64_t>(selected, 0, blocks) * 1000 / blocks, 1, 1000);
  };
  switch (policy.kind) {
  case RoutingPolicy::Kind::TopK:
    return share(policy.k);
  case RoutingPolicy::Kind::Window:
    return share(2 * std::min(policy.windowBlocks, blocks) + 1);
  case RoutingPolicy::Kind::Dense:
  case RoutingPolicy::Kind::Explicit:
    return 1000;
  case RoutingPolicy::Kind::TopP:
    break;
  }
  auto p = static_cast<int64_t>(
      std::lround(std::clamp(policy.p, 0.0F, 1.0F) * 1000));
  int64_t density = 1000;
  for (size_t i = 1; i < std::size(topPDensities); ++i) {
    const DensityPoint &low = topPDensities[i - 1], &high = topPDensities[i];
    if (p > high.pMilli)
      continue;
    density = low.densityMilli + (high.densityMilli - low.densityMilli) *
                                     (p - low.pMilli) /
                                     (high.pMilli - low.pMilli);
    break;
  }
  return std::max(density, share(policy.minBlocks));
}

/// Row of one head with `count` of its `visible` blocks.
static std::vector<int32_t> rowOf(const LayerShape &shape, int64_t head,
                                  int64_t row, int64_t visible, int64_t count) {
  int64_t qBlocks = shape.qBlocks(), kvBlocks = shape.kvBlocks();
  std::vector<bool> selected(static_cast<size_t>(kvBlocks));
  // Half of them are neighbours.
  int64_t near = (count + 1) / 2;
  int64_t centre = qBlocks > 1 ? row * (kvBlocks - 1) / (qBlocks - 1) : 0;
  int64_t first = std::clamp<int64_t>(centre - near / 2, 0,
                                      std::max<int64_t>(visible - near, 0));
  std::fill_n(selected.begin() + first, near, true);
  uint64_t state = mix(static_cast<uint64_t>(head * qBlocks + row) + 1000);
  for (int64_t left = count - near; left > 0; --left) {
    state = mix(state);
    auto at = static_cast<int64_t>(state % static_cast<uint64_t>(visible));
    while (selected[static_cast<size_t>(at)])
      at = at + 1 == visible ? 0 : at + 1;
    selected[static_cast<size_t>(at)] = true;
  }
  std::vector<int32_t> list;
  list.reserve(static_cast<size_t>(count));
  for (int64_t block = 0; block < visible; ++block)
    if (selected[static_cast<size_t>(block)])
      list.push_back(static_cast<int32_t>(block));
  return list;
}

BlockMask sart::expectedMask(const LayerShape &shape, int64_t densityMilli) {
  int64_t qBlocks = shape.qBlocks();
  std::vector<std::vector<int32_t>> lists;
  lists.reserve(static_cast<size_t>(shape.heads * qBlocks));
  for (int64_t head = 0; head < shape.heads; ++head) {
    int64_t factor =
        headFactors[mix(static_cast<uint64_t>(head)) % headFactors.size()];
    for (int64_t row = 0; row < qBlocks; ++row) {
      int64_t visible = shape.visibleKvBlocks(row);
      int64_t count = visible;
      if (densityMilli < 1000 && visible > 0)
        count = std::clamp<int64_t>(
            visible * densityMilli / 1000 * factor / 1000, 1, visible);
      lists.push_back(rowOf(shape, head, row, visible, count));
    }
  }
  return *BlockMask::fromLists(shape.heads, qBlocks, shape.kvBlocks(), lists);
}

Expected<BlockMask> sart::maskOfLoads(const LayerShape &shape,
                                      const std::vector<int64_t> &loads) {
  if (static_cast<int64_t>(loads.size()) != shape.heads)
    return makeError("loads of heads: got ", loads.size(), ", expected ",
                     shape.heads);
  int64_t qBlocks = shape.qBlocks(), tiles = 0;
  for (int64_t row = 0; row < qBlocks; ++row)
    tiles += shape.visibleKvBlocks(row);
  std::vector<std::vector<int32_t>> lists;
  for (int64_t head = 0; head < shape.heads; ++head) {
    int64_t load = loads[static_cast<size_t>(head)];
    if (load < 0 || load > tiles)
      return makeError("load of head ", head, ": got ", load,
                       ", expected 0 to ", tiles, " tiles");
    // What the rows before have had, of both.
    int64_t seen = 0, given = 0;
    for (int64_t row = 0; row < qBlocks; ++row) {
      int64_t visible = shape.visibleKvBlocks(row);
      seen += visible;
      int64_t count = load * seen / std::max<int64_t>(tiles, 1) - given;
      given += count;
      lists.push_back(rowOf(shape, head, row, visible, count));
    }
  }
  return BlockMask::fromLists(shape.heads, qBlocks, shape.kvBlocks(), lists);
}

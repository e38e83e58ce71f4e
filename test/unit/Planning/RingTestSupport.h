//===- RingTestSupport.h - Masks over grids for placement tests -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_PLANNING_RINGTESTSUPPORT_H
#define SPARSEATTN_TEST_UNIT_PLANNING_RINGTESTSUPPORT_H

#include "PlanningTestSupport.h"

#include "sparseattn-rt/RingPlacement.h"
#include "sparseattn-rt/TraceFile.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace sart::test {

/// A mask of heads that look along the frame, along time, around themselves or
/// everywhere, with lengths, sinks and noise of their own, in raster order:
/// another family of masks than the recorded ones.
inline BlockMask makeVideoMask(const BlockGrid &grid, int64_t heads,
                               Random &random) {
  const std::array<int64_t, 3> &axes = grid.order.grid;
  int64_t q = grid.qBlocks(), kv = grid.kvBlocks();
  auto pointOf = [&](int64_t token) {
    int64_t frame = axes[1] * axes[2];
    token = std::min(token, frame * axes[0] - 1);
    return std::array<int64_t, 3>{token / frame, token % frame / axes[2],
                                  token % axes[2]};
  };
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> indices;
  for (int64_t head = 0; head < heads; ++head) {
    // Reach per axis in thousandths of the axis.
    std::array<int64_t, 3> reach;
    bool alongTime = random.chance(40), global = random.chance(10);
    for (size_t axis = 0; axis < 3; ++axis) {
      bool wide = global || (axis == 0) == alongTime;
      reach[axis] = wide ? 400 + random.below(600) : 60 + random.below(240);
    }
    int64_t noise = random.below(12), sinks = random.below(3);
    for (int64_t i = 0; i < q; ++i) {
      std::array<int64_t, 3> a = pointOf(i * grid.blockQ + grid.blockQ / 2);
      for (int64_t j = 0; j < kv; ++j) {
        std::array<int64_t, 3> b = pointOf(j * grid.blockK + grid.blockK / 2);
        bool near = true;
        for (size_t axis = 0; axis < 3; ++axis)
          near &=
              1000 * std::abs(a[axis] - b[axis]) <= reach[axis] * axes[axis];
        if (near || j < sinks || random.chance(noise))
          indices.push_back(static_cast<int32_t>(j));
      }
      offsets.push_back(static_cast<int64_t>(indices.size()));
    }
  }
  Expected<BlockMask> mask =
      BlockMask::fromRows(heads, q, kv, std::move(offsets), std::move(indices));
  return mask ? *mask : BlockMask();
}

/// A trace beside the tests, or, when it is not there, one of the folder that
/// SPARSEATTN_TRACES names; empty when there is none.
inline std::string findTrace(const std::string &name) {
  const char *folder = std::getenv("SPARSEATTN_TRACES");
  for (const std::string &path :
       {tracePath(name), std::string(folder ? folder : ".") + "/" + name})
    if (TraceFile::read(path))
      return path;
  return "";
}

inline BlockGrid gridOf(const TraceFile &trace) {
  BlockGrid grid = {trace.order, trace.tileQ, trace.tileK};
  grid.order.hilbertBits = 7; // of the recorded traces
  return grid;
}

} // namespace sart::test

#endif // SPARSEATTN_TEST_UNIT_PLANNING_RINGTESTSUPPORT_H

//===- ExpectedMask.h - A mask to plan with before there is one -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_EXPECTEDMASK_H
#define SPARSEATTN_RT_EXPECTEDMASK_H

#include "sparseattn-rt/Program.h"

namespace sart {

/// Share of the visible tiles, in thousandths, that a policy is expected to
/// select: k of the kv-blocks for Top-k; for Top-p what the recorded video
/// masks have (391 at p = 0.9), linear between their points; 1000 when dense.
int64_t expectedDensityMilli(const RoutingPolicy &policy,
                             const LayerShape &shape);

/// A mask of that density for choosing a mesh or a balance before anything is
/// routed: heads differ as those of the recorded masks do (log-normal, 0.6);
/// each row selects its own neighbourhood first and the rest at random. The
/// same numbers on every machine. `densityMilli` from 1 to 1000.
BlockMask expectedMask(const LayerShape &shape, int64_t densityMilli);

/// A mask of the same kind whose heads have these numbers of tiles, spread
/// evenly over their rows; for records that have nothing but loads. Refuses
/// another number of heads, and loads beyond a head's visible tiles.
Expected<BlockMask> maskOfLoads(const LayerShape &shape,
                                const std::vector<int64_t> &loads);

} // namespace sart

#endif // SPARSEATTN_RT_EXPECTEDMASK_H

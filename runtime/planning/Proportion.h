//===- Proportion.h - Integer shares by largest remainder -------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_PLANNING_PROPORTION_H
#define SPARSEATTN_RT_PLANNING_PROPORTION_H

#include <cstdint>
#include <vector>

namespace sart {

/// Divides `amount` over `capacities` in proportion to them: the integer part
/// of each share, then one more for the largest fractions, ties to the lower
/// index. No share exceeds its capacity; the shares sum to the smaller of
/// `amount` and the capacities' sum. All values at least 0.
std::vector<int64_t> divideInProportion(int64_t amount,
                                        const std::vector<int64_t> &capacities);

} // namespace sart

#endif // SPARSEATTN_RT_PLANNING_PROPORTION_H

//===- AttendWork.h - Tiles of a work list ----------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_ATTENDWORK_H
#define SPARSEATTN_RT_CORE_ATTENDWORK_H

#include "sparseattn-rt/BlockMask.h"
#include "sparseattn-rt/Program.h"

#include <algorithm>

namespace sart {

/// Tiles that one entry of an attend's list computes; its rows count
/// from `firstQBlock`.
inline int64_t tilesOf(const BlockMask &mask, const Work &entry,
                       int64_t firstQBlock) {
  int64_t tiles = 0;
  for (int64_t row = firstQBlock + entry.qBegin; row < firstQBlock + entry.qEnd;
       ++row) {
    const int32_t *begin = mask.row(entry.head, row);
    const int32_t *end = begin + mask.count(entry.head, row);
    tiles += std::lower_bound(begin, end, entry.kvEnd) -
             std::lower_bound(begin, end, entry.kvBegin);
  }
  return tiles;
}

} // namespace sart

#endif // SPARSEATTN_RT_CORE_ATTENDWORK_H

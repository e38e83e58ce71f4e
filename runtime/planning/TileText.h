//===- TileText.h - Text of time x space tiles ------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_PLANNING_TILETEXT_H
#define SPARSEATTN_RT_PLANNING_TILETEXT_H

#include <cstdint>
#include <string_view>

namespace sart {

/// Reads "tiles<t=2,h=4>", numbers from 1 to maxRanks; false for all else.
bool parseTiles(std::string_view text, int64_t &t, int64_t &h);

} // namespace sart

#endif // SPARSEATTN_RT_PLANNING_TILETEXT_H

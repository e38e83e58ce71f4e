//===- TagWindow.h - Windows whose rows carry tags --------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_PLANNING_TAGWINDOW_H
#define SPARSEATTN_TEST_UNIT_PLANNING_TAGWINDOW_H

#include "sparseattn-rt/Binder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sart::test {

struct Rows {
  int64_t slot, begin, end;
};

inline std::vector<Rows> chunksOf(const std::vector<int64_t> &list) {
  EXPECT_EQ(list.size() % chunkInts, 0u);
  std::vector<Rows> chunks;
  for (size_t i = 0; i + 2 < list.size(); i += chunkInts)
    chunks.push_back({list[i], list[i + 1], list[i + 2]});
  return chunks;
}

inline std::vector<Work> workOf(const std::vector<int64_t> &list) {
  EXPECT_EQ(list.size() % workInts, 0u);
  std::vector<Work> work;
  for (size_t i = 0; i + 7 < list.size(); i += workInts)
    work.push_back({list[i], list[i + 1], list[i + 2], list[i + 3], list[i + 4],
                    list[i + 5], list[i + 6], list[i + 7]});
  return work;
}

/// Tags of one window on one rank; -1: never written.
struct TagWindow {
  TagWindow() = default;
  TagWindow(int64_t slots, int64_t rows)
      : rows(rows), tags(static_cast<size_t>(slots * rows), -1) {}
  int64_t &at(int64_t slot, int64_t row) {
    size_t index = static_cast<size_t>(slot * rows + row);
    if (slot >= 0 && row >= 0 && row < rows && index < tags.size())
      return tags[index];
    ADD_FAILURE() << "slot " << slot << " row " << row << " outside a window";
    return outside;
  }
  int64_t rows = 0;
  std::vector<int64_t> tags;
  int64_t outside = -1;
};

} // namespace sart::test

#endif // SPARSEATTN_TEST_UNIT_PLANNING_TAGWINDOW_H

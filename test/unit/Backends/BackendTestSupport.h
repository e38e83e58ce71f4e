//===- BackendTestSupport.h - Inputs for backend tests ----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_BACKENDS_BACKENDTESTSUPPORT_H
#define SPARSEATTN_TEST_UNIT_BACKENDS_BACKENDTESTSUPPORT_H

#include "sparseattn-rt/Backend.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

namespace sart::test {

constexpr float poison = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

inline std::vector<float> normal(size_t count, float scale, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution(0, scale);
  std::vector<float> values(count);
  for (float &value : values)
    value = distribution(random);
  return values;
}

/// Rows of a float vector, `gap` unused elements after each.
inline SlotView viewOf(std::vector<float> &values, int64_t elements,
                       int64_t gap = 0) {
  SlotView view;
  view.data = values.data();
  view.dtype = DType::F32;
  view.rowElements = elements;
  view.rowStride = elements + gap;
  view.rows = static_cast<int64_t>(values.size()) / view.rowStride;
  return view;
}

/// Mask rows [count, kv-blocks...] of one head.
struct MaskRows {
  MaskRows(const std::vector<std::vector<int32_t>> &lists, int64_t kvBlocks)
      : elements(kvBlocks + 1) {
    for (const std::vector<int32_t> &list : lists) {
      std::vector<int32_t> row(static_cast<size_t>(elements), -1);
      row[0] = static_cast<int32_t>(list.size());
      std::copy(list.begin(), list.end(), row.begin() + 1);
      values.insert(values.end(), row.begin(), row.end());
    }
  }
  SlotView view() {
    SlotView result;
    result.data = values.data();
    result.dtype = DType::I32;
    result.rowElements = result.rowStride = elements;
    result.rows = static_cast<int64_t>(values.size()) / elements;
    return result;
  }
  std::vector<int32_t> list(int64_t row) const {
    auto begin = values.begin() + row * elements;
    return {begin + 1, begin + 1 + *begin};
  }
  int64_t elements;
  std::vector<int32_t> values;
};

inline Program programOf(const LayerShape &shape) {
  Program program;
  program.placement.shape = shape;
  program.scale = 1 / std::sqrt(static_cast<float>(shape.headDim));
  return program;
}

inline LayerShape shapeOf(int64_t sq, int64_t skv, bool causal = false) {
  LayerShape shape;
  shape.sq = sq;
  shape.skv = skv;
  shape.headDim = 32;
  shape.blockQ = 16;
  shape.blockK = 24;
  shape.causal = causal;
  return shape;
}

} // namespace sart::test

#endif // SPARSEATTN_TEST_UNIT_BACKENDS_BACKENDTESTSUPPORT_H

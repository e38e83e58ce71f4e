//===- Latents.h - Latents of a clip ----------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_EXAMPLES_DITHOST_LATENTS_H
#define SPARSEATTN_EXAMPLES_DITHOST_LATENTS_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace dit {

constexpr int64_t channels = 16;

/// Samples of Y, Cb and Cr that one token stands for: 4 frames x 8 x 8 x 3.
constexpr int64_t samplesPerToken = 768;

/// Latents of a clip, one row of `channels` numbers per token, every channel
/// with mean 0 and variance 1 over the file.
struct Latents {
  std::array<int64_t, 3> grid = {0, 0, 0}; ///< T, H, W in cells
  std::vector<float> values;               ///< [token][channel], raster order
  std::array<float, channels> mean{};      ///< what was taken off
  std::array<float, channels> deviation{}; ///< what was divided by

  int64_t tokens() const { return grid[0] * grid[1] * grid[2]; }
};

/// Reads an .npy file of float16 or float32 [16, T, H, W] and standardises it.
/// Refuses other types and shapes, NaN and infinities, and truncated files.
Latents readLatents(const std::string &path);

/// The middle part of the grid. Refuses a grid that is larger.
Latents cropLatents(const Latents &latents, const std::array<int64_t, 3> &grid);

} // namespace dit

#endif // SPARSEATTN_EXAMPLES_DITHOST_LATENTS_H

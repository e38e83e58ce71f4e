//===- Projections.h - The stand-in for a trained model ---------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_EXAMPLES_DITHOST_PROJECTIONS_H
#define SPARSEATTN_EXAMPLES_DITHOST_PROJECTIONS_H

#include "Latents.h"

#include "sparseattn-c/sparseattn.h"

#include <cstdint>
#include <vector>

namespace dit {

constexpr int64_t headDim = 128;

/// Bytes of one element.
int64_t elementBytes(sa_dtype dtype);

/// What a trained video DiT would do around attention, made from one seed: not
/// trained, but so chosen that attention is non-local means over the tokens.
/// Everything is in the order of `permutation`, [token][channel] or
/// [head][token][headDim], and depends on the seed and the token's place in the
/// grid alone. README.md beside this file has the formulas and the reasons.
class Projections {
public:
  /// permutation[i]: raster token at position i.
  Projections(uint64_t seed, int64_t layers, int64_t heads,
              const std::array<int64_t, 3> &grid,
              const std::vector<int64_t> &permutation, int64_t threads);

  /// Scale that the attention layer must use.
  static double attentionScale();

  /// Queries of a layer, which are its keys too: rotated, tempered projections
  /// of the smoothed and normalised `hidden`. `sharpening` is the first step's
  /// noise level over this step's.
  void queries(int64_t layer, double sharpening,
               const std::vector<float> &hidden, sa_dtype dtype,
               void *out) const;

  /// Values: an isometric lift of `noisy` * gain to headDim elements.
  void values(int64_t layer, const std::vector<float> &noisy, float gain,
              sa_dtype dtype, void *out) const;

  /// The mean over heads of attention's outputs, taken back to channels.
  std::vector<float> estimate(int64_t layer, const void *attended,
                              sa_dtype dtype) const;

private:
  struct Head {
    std::vector<float> query; ///< [channels + 1][headDim]
    std::vector<float> lift;  ///< [channels][headDim], orthonormal rows
    double temperature = 1;
  };

  const Head &head(int64_t layer, int64_t index) const {
    return weights[static_cast<size_t>(layer * heads + index)];
  }
  void makeNeighbours(const std::array<int64_t, 3> &grid,
                      const std::vector<int64_t> &permutation);
  void makeRotations(const std::array<int64_t, 3> &grid,
                     const std::vector<int64_t> &permutation);
  /// Smoothed over 3 x 3 x 3 tokens, with a constant appended, of length 1:
  /// [token][channels + 1].
  std::vector<float> features(const std::vector<float> &hidden) const;

  int64_t tokens, heads, threads;
  std::vector<Head> weights;
  /// Positions of the tokens before and after along each axis; a token at the
  /// border is its own neighbour. [axis][token][2]
  std::vector<int32_t> neighbours;
  /// Rotary angles of each token's pairs. [token][headDim / 2]
  std::vector<float> cosines, sines;
};

} // namespace dit

#endif // SPARSEATTN_EXAMPLES_DITHOST_PROJECTIONS_H

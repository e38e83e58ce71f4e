//===- Scheduler.h - Flow matching schedule ---------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_EXAMPLES_DITHOST_SCHEDULER_H
#define SPARSEATTN_EXAMPLES_DITHOST_SCHEDULER_H

#include "Latents.h"

#include <cstdint>
#include <vector>

namespace dit {

/// The schedule of a rectified flow: latents at noise level sigma are
/// x = (1 - sigma) * x0 + sigma * noise. Levels fall from a start below 1 (this
/// is denoising of a noised clip, not generation from nothing) to 0, evenly
/// before a shift s that spends more of them at high noise, as Wan does:
/// sigma = s * u / (1 + (s - 1) * u).
class Scheduler {
public:
  /// 0 < start < 1, shift > 0, steps >= 1.
  Scheduler(double start, double shift, int64_t steps);

  int64_t steps() const { return static_cast<int64_t>(levels.size()) - 1; }
  /// Noise level before step `step`; sigma(steps()) is 0.
  double sigma(int64_t step) const { return levels[static_cast<size_t>(step)]; }

  /// The noised latents before the first step, raster order. Channel c of
  /// raster token i takes the seed's normal number c * tokens + i, wherever the
  /// token is computed.
  std::vector<float> noised(const Latents &clean, uint64_t seed) const;

  /// One Euler step along the velocity (x - estimate) / sigma, in place.
  void advance(std::vector<float> &x, const std::vector<float> &estimate,
               int64_t step) const;

private:
  std::vector<double> levels;
};

} // namespace dit

#endif // SPARSEATTN_EXAMPLES_DITHOST_SCHEDULER_H

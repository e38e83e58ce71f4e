//===- Scheduler.cpp - Flow matching schedule -----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Scheduler.h"

#include "Random.h"

using namespace dit;

namespace {
constexpr uint64_t noiseStream = 1;
} // namespace

Scheduler::Scheduler(double start, double shift, int64_t steps) {
  // Where the start lies before the shift.
  double first = start / (shift - (shift - 1) * start);
  for (int64_t i = 0; i <= steps; ++i) {
    double u =
        first * static_cast<double>(steps - i) / static_cast<double>(steps);
    levels.push_back(shift * u / (1 + (shift - 1) * u));
  }
}

std::vector<float> Scheduler::noised(const Latents &clean,
                                     uint64_t seed) const {
  Random random(seed, noiseStream);
  float signal = static_cast<float>(1 - sigma(0));
  float noise = static_cast<float>(sigma(0));
  int64_t tokens = clean.tokens();
  std::vector<float> x(clean.values.size());
  for (int64_t i = 0; i < tokens; ++i)
    for (int64_t c = 0; c < channels; ++c)
      x[i * channels + c] =
          signal * clean.values[i * channels + c] +
          noise * random.normal(static_cast<uint64_t>(c * tokens + i));
  return x;
}

void Scheduler::advance(std::vector<float> &x,
                        const std::vector<float> &estimate,
                        int64_t step) const {
  float keep = static_cast<float>(sigma(step + 1) / sigma(step));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = keep * x[i] + (1 - keep) * estimate[i];
}

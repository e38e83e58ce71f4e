//===- SchedulerTest.cpp - Noise, schedule and Euler steps ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Scheduler.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace dit;

namespace {

Latents someLatents() {
  Latents latents;
  latents.grid = {2, 3, 4};
  for (int64_t i = 0; i < 24 * channels; ++i)
    latents.values.push_back(std::sin(static_cast<float>(i)));
  return latents;
}

TEST(Scheduler, FallsFromTheStartToZero) {
  for (double shift : {0.5, 1.0, 8.0}) {
    Scheduler scheduler(0.65, shift, 4);
    EXPECT_NEAR(scheduler.sigma(0), 0.65, 1e-12);
    EXPECT_EQ(scheduler.sigma(4), 0);
    for (int64_t i = 0; i < 4; ++i)
      EXPECT_GT(scheduler.sigma(i), scheduler.sigma(i + 1));
  }
  // Without a shift the levels are evenly spaced; a shift lifts the middle.
  EXPECT_NEAR(Scheduler(0.6, 1, 3).sigma(1), 0.4, 1e-12);
  EXPECT_GT(Scheduler(0.6, 8, 3).sigma(1), 0.45);
}

TEST(Scheduler, ExactEstimateEndsAtTheCleanClip) {
  Latents clean = someLatents();
  Scheduler scheduler(0.7, 5, 3);
  std::vector<float> x = scheduler.noised(clean, 11);
  for (int64_t step = 0; step < 3; ++step) {
    scheduler.advance(x, clean.values, step);
    // Still on the line between the clip and the same noise.
    std::vector<float> noised = scheduler.noised(clean, 11);
    float share = static_cast<float>(scheduler.sigma(step + 1) / 0.7);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(x[i], share * noised[i] + (1 - share) * clean.values[i],
                  1e-5);
  }
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(x[i], clean.values[i], 1e-6);
}

TEST(Scheduler, NoiseFollowsTheSeed) {
  Latents clean = someLatents();
  Scheduler scheduler(0.5, 1, 1);
  EXPECT_EQ(scheduler.noised(clean, 3), scheduler.noised(clean, 3));
  EXPECT_NE(scheduler.noised(clean, 3), scheduler.noised(clean, 4));
}

} // namespace

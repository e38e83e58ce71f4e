//===- NormalSource.cpp - Random tensors of any size, fast ----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "NormalSource.h"

#include <cmath>

using namespace sart;

/// SplitMix64's output function (Steele, Lea, Flood 2014).
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

static constexpr int64_t kQuantiles = 65536;
/// Elements that one 64-bit number gives.
static constexpr int64_t kGroup = 4;

/// The x with normal distribution function `p`, at most 1/2: Newton's method
/// from 0, which comes down a convex function and cannot overshoot.
static double quantile(double p) {
  const double sqrtHalf = std::sqrt(0.5);
  const double density0 = 1 / std::sqrt(8 * std::atan(1.0));
  double x = 0;
  for (int step = 0; step < 60; ++step) {
    double excess = std::erfc(-x * sqrtHalf) / 2 - p;
    double change = excess / (density0 * std::exp(-x * x / 2));
    x -= change;
    if (std::abs(change) < 1e-12)
      break;
  }
  return x;
}

NormalSource::NormalSource(DType dtype, int64_t seed)
    : type(dtype), seed(mix(static_cast<uint64_t>(seed))), elements(kQuantiles),
      values(kQuantiles) {
  for (int64_t i = 0; i < kQuantiles / 2; ++i) {
    double x = quantile((static_cast<double>(i) + 0.5) / kQuantiles);
    auto low = static_cast<size_t>(i);
    size_t high = kQuantiles - 1 - low;
    storeFromFloat(elements.data(), type, i, static_cast<float>(x));
    storeFromFloat(elements.data(), type, static_cast<int64_t>(high),
                   static_cast<float>(-x));
    values[low] = static_cast<double>(loadAsFloat(elements.data(), type, i));
    values[high] = -values[low];
  }
}

template <typename Store>
void NormalSource::generate(int64_t stream, int64_t begin, int64_t count,
                            Store store) const {
  uint64_t base = mix(seed + static_cast<uint64_t>(stream));
  int64_t end = begin + count;
  int64_t group = begin / kGroup * kGroup;
  for (; group < end; group += kGroup) {
    uint64_t bits = mix(base + static_cast<uint64_t>(group));
    for (int64_t lane = 0; lane < kGroup; ++lane, bits >>= 16) {
      int64_t i = group + lane;
      if (i >= begin && i < end)
        store(i - begin, static_cast<size_t>(bits & 0xffff));
    }
  }
}

void NormalSource::fill(uint16_t *data, int64_t stream, int64_t begin,
                        int64_t count) const {
  generate(stream, begin, count,
           [&](int64_t i, size_t rank) { data[i] = elements[rank]; });
}

void NormalSource::fill(double *data, int64_t stream, int64_t begin,
                        int64_t count) const {
  generate(stream, begin, count,
           [&](int64_t i, size_t rank) { data[i] = values[rank]; });
}

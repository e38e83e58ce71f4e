//===- Random.h - Random numbers by counter ---------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_EXAMPLES_DITHOST_RANDOM_H
#define SPARSEATTN_EXAMPLES_DITHOST_RANDOM_H

#include <cstdint>

namespace dit {

/// One stream of random numbers: the number at an index depends on (seed,
/// stream, index) and on nothing else, so it is the same on every machine and
/// for every number of ranks or threads.
class Random {
public:
  Random(uint64_t seed, uint64_t stream) : key(mix(seed * golden + stream)) {}

  uint64_t bits(uint64_t index) const { return mix(key ^ mix(index)); }

  /// Uniform in [0, 1), a multiple of 2^-24.
  double uniform(uint64_t index) const {
    return static_cast<double>(bits(index) >> 40) * 0x1p-24;
  }

  /// Mean 0, variance 1: the sum of twelve 16-bit uniform numbers, exact in
  /// fp32. Close to normal, and needs no library function that differs between
  /// machines.
  float normal(uint64_t index) const {
    int64_t sum = -393210; // twelve times 65535 / 2
    for (uint64_t word = 0; word < 3; ++word)
      for (uint64_t rest = bits(3 * index + word), i = 0; i < 4;
           ++i, rest >>= 16)
        sum += static_cast<int64_t>(rest & 0xffffu);
    return static_cast<float>(sum) * 0x1p-16f;
  }

private:
  static constexpr uint64_t golden = 0x9e3779b97f4a7c15u;

  /// SplitMix64's step and output function (Steele, Lea, Flood 2014).
  static uint64_t mix(uint64_t z) {
    z += golden;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  uint64_t key;
};

} // namespace dit

#endif // SPARSEATTN_EXAMPLES_DITHOST_RANDOM_H

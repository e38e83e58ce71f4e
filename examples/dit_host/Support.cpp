//===- Support.cpp - Errors, threads and number formats -------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Support.h"

#include <algorithm>
#include <thread>
#include <vector>

void dit::parallelFor(int64_t count, int64_t threads,
                      const std::function<void(int64_t, int64_t)> &body) {
  threads = std::max<int64_t>(1, std::min(threads, count));
  std::vector<std::thread> workers;
  for (int64_t i = 1; i < threads; ++i)
    workers.emplace_back(
        [=, &body] { body(count * i / threads, count * (i + 1) / threads); });
  body(0, count / threads);
  for (std::thread &worker : workers)
    worker.join();
}

float dit::floatFromFp16(uint16_t bits) {
  uint32_t sign = (bits & 0x8000u) << 16;
  uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) // infinity, NaN
    return floatFromBits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  // 2^112 moves the exponent's bias, and makes subnormal numbers right.
  float value = floatFromBits(magnitude << 13) * 0x1p112f;
  return floatFromBits(bitsFromFloat(value) | sign);
}

uint16_t dit::fp16FromFloat(float value) {
  uint32_t bits = bitsFromFloat(value);
  uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) // rounds to 65,536 or more
    return static_cast<uint16_t>(sign | 0x7c00u);
  uint32_t result;
  if (magnitude < 0x38800000u) {
    // Subnormal: adding 2^-1 * 2^-14 * 2^10 lets the adder round.
    result = bitsFromFloat(floatFromBits(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    result =
        (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  }
  return static_cast<uint16_t>(sign | result);
}

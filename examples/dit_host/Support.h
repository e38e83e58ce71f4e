//===- Support.h - Errors, threads and number formats -----------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_EXAMPLES_DITHOST_SUPPORT_H
#define SPARSEATTN_EXAMPLES_DITHOST_SUPPORT_H

#include <cstdint>
#include <cstring>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>

namespace dit {

/// Everything that a user can cause; main prints it and exits with status 1.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws `<what>: got <got>, expected <expected>`.
template <typename Got, typename Expected>
[[noreturn]] void fail(const std::string &what, const Got &got,
                       const Expected &expected) {
  std::ostringstream text;
  text << what << ": got " << got << ", expected " << expected;
  throw Error(text.str());
}

/// Calls body(begin, end) on disjoint ranges that cover [0, count). The work of
/// an index never depends on the range it is in, so results do not depend on
/// `threads`.
void parallelFor(int64_t count, int64_t threads,
                 const std::function<void(int64_t, int64_t)> &body);

// -- Numbers of 16 bits -------------------------------------------------------

inline float floatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline uint32_t bitsFromFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float floatFromBf16(uint16_t bits) {
  return floatFromBits(static_cast<uint32_t>(bits) << 16);
}

/// Rounds to nearest, ties to even; a NaN stays one.
inline uint16_t bf16FromFloat(float value) {
  uint32_t bits = bitsFromFloat(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float floatFromFp16(uint16_t bits);
/// Rounds to nearest, ties to even; what is too large becomes infinite.
uint16_t fp16FromFloat(float value);

} // namespace dit

#endif // SPARSEATTN_EXAMPLES_DITHOST_SUPPORT_H

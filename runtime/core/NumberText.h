//===- NumberText.h - Numbers as people read them ---------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_NUMBERTEXT_H
#define SPARSEATTN_RT_CORE_NUMBERTEXT_H

#include <cstdint>
#include <string>

namespace sart {

/// 1234567 as 1,234,567.
std::string withCommas(int64_t value);
/// So many digits behind the point.
std::string fixed(double value, int digits);
/// 9,999 bytes, 10.0 kB, 10.0 MB.
std::string bytesText(int64_t bytes);
/// 1 tile, 2 tiles.
std::string countText(int64_t count, const char *what);
/// Picoseconds as 12.345 us.
std::string usText(int64_t ps);

} // namespace sart

#endif // SPARSEATTN_RT_CORE_NUMBERTEXT_H

//===- ByteReader.h - Bounded reads of little-endian bytes ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_BYTEREADER_H
#define SPARSEATTN_RT_CORE_BYTEREADER_H

#include "sparseattn-rt/Status.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace sart {

/// Reads until the first failure; later reads give zero.
class ByteReader {
public:
  /// `subject` names the input in messages, such as "program".
  ByteReader(const char *subject, const uint8_t *bytes, size_t size)
      : subject(subject), bytes(bytes), size(size) {}

  bool ok() const { return failure.ok(); }
  const Status &status() const { return failure; }
  size_t offset() const { return position; }
  size_t left() const { return size - position; }
  void fail(Status status) {
    if (ok())
      failure = std::move(status);
  }

  uint8_t u8() { return static_cast<uint8_t>(little(1)); }
  uint16_t u16() { return static_cast<uint16_t>(little(2)); }
  uint32_t u32() { return static_cast<uint32_t>(little(4)); }
  uint64_t u64() { return little(8); }
  int32_t i32() { return static_cast<int32_t>(u32()); }
  int64_t i64() { return static_cast<int64_t>(u64()); }
  float f32() {
    uint32_t bits = u32();
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  bool boolean(const char *what) { return enumeration<uint8_t>(what, 2) != 0; }
  /// One byte below `values`.
  template <typename Enum>
  Enum enumeration(const char *what, int values) {
    size_t at = position;
    uint8_t value = u8();
    if (value >= values) {
      fail(makeError(what, " at offset ", at, " is unknown: got ",
                     static_cast<int>(value), ", expected 0 to ", values - 1));
      return Enum{};
    }
    return static_cast<Enum>(value);
  }
  /// A count of items that take at least `itemBytes` each.
  size_t count(const char *what, size_t itemBytes) {
    size_t at = position;
    size_t value = u32();
    if (value > left() / itemBytes) {
      fail(makeError("number of ", what, " at offset ", at,
                     " exceeds the input: got ", value, ", expected at most ",
                     left() / itemBytes));
      return 0;
    }
    return value;
  }
  std::string text(const char *what) {
    size_t length = count(what, 1);
    std::string value(reinterpret_cast<const char *>(bytes + position), length);
    position += length;
    return value;
  }
  std::vector<int32_t> list32(const char *what) {
    std::vector<int32_t> values(count(what, 4));
    for (int32_t &value : values)
      value = i32();
    return values;
  }
  std::vector<int64_t> list64(const char *what) {
    std::vector<int64_t> values(count(what, 8));
    for (int64_t &value : values)
      value = i64();
    return values;
  }

private:
  uint64_t little(size_t width) {
    if (!ok())
      return 0;
    if (left() < width) {
      fail(makeError(subject, " bytes truncated at offset ", position, ": got ",
                     left(), " bytes, expected ", width));
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < width; ++i)
      value |= static_cast<uint64_t>(bytes[position + i]) << (8 * i);
    position += width;
    return value;
  }

  const char *subject;
  const uint8_t *bytes;
  size_t size;
  size_t position = 0;
  Status failure;
};

} // namespace sart

#endif // SPARSEATTN_RT_CORE_BYTEREADER_H

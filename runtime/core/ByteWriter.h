//===- ByteWriter.h - Little-endian bytes -----------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_BYTEWRITER_H
#define SPARSEATTN_RT_CORE_BYTEWRITER_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace sart {

/// Appends little-endian numbers, strings and lists.
class ByteWriter {
public:
  explicit ByteWriter(std::vector<uint8_t> &bytes) : bytes(bytes) {}

  void u8(uint8_t value) { bytes.push_back(value); }
  void u16(uint16_t value) { little(value, 2); }
  void u32(uint32_t value) { little(value, 4); }
  void u64(uint64_t value) { little(value, 8); }
  void i32(int32_t value) { u32(static_cast<uint32_t>(value)); }
  void i64(int64_t value) { u64(static_cast<uint64_t>(value)); }
  void boolean(bool value) { u8(value ? 1 : 0); }
  template <typename Enum>
  void enumeration(Enum value) {
    u8(static_cast<uint8_t>(value));
  }
  void f32(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    u32(bits);
  }
  void count(size_t value) { u32(static_cast<uint32_t>(value)); }
  void text(const std::string &value) {
    count(value.size());
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
  void list(const std::vector<int32_t> &values) {
    count(values.size());
    for (int32_t value : values)
      i32(value);
  }
  void list(const std::vector<int64_t> &values) {
    count(values.size());
    for (int64_t value : values)
      i64(value);
  }

private:
  void little(uint64_t value, int size) {
    for (int i = 0; i < size; ++i)
      bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  std::vector<uint8_t> &bytes;
};

} // namespace sart

#endif // SPARSEATTN_RT_CORE_BYTEWRITER_H

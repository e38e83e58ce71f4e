//===- ContentHeader.h - Magic, version and hash before a body --*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that crosses a process in bytes starts alike, numbers
// little-endian:
//
//   6 bytes magic, u16 version, u64 FNV-1a of the body, body
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CORE_CONTENTHEADER_H
#define SPARSEATTN_RT_CORE_CONTENTHEADER_H

#include "sparseattn-rt/Status.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sart {

/// What tells one kind of content from the others.
struct ContentHeader {
  const char *subject; ///< in messages, such as "program"
  char magic[7];       ///< six characters
  uint16_t version;
};

constexpr size_t contentHeaderBytes = 6 + 2 + 8;

/// FNV-1a, 64 bits.
inline uint64_t hashBytes(const uint8_t *bytes, size_t size) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ bytes[i]) * 0x100000001b3ull;
  return hash;
}

/// Refuses bytes whose magic, version or hash differ. On success the body is
/// what follows contentHeaderBytes.
Status checkContentHeader(const ContentHeader &expected, const uint8_t *bytes,
                          size_t size);

/// The body with its header before it.
std::vector<uint8_t> withContentHeader(const ContentHeader &header,
                                       const std::vector<uint8_t> &body);

} // namespace sart

#endif // SPARSEATTN_RT_CORE_CONTENTHEADER_H

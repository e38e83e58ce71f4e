//===- CacheFile.h - One entry of the cache on disk -------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers little-endian:
//
//   "SACACH" u16:version u64:FNV-1a of the rest
//   u32:length key  u32:length payload
//
// The key says everything that determines the payload. The file's name is only
// a hash of it, so a reader compares the whole key before it trusts the rest.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_CACHEFILE_H
#define SPARSEATTN_RT_CACHEFILE_H

#include "sparseattn-rt/Status.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sart {

/// A key and what was stored under it; both may hold any bytes.
struct CacheEntry {
  std::string key;
  std::string payload;
};

/// The bytes of a cache file. Key and payload are below 4 GiB each.
std::vector<uint8_t> writeCacheFile(const CacheEntry &entry);

/// Reads a cache file. Total on any input: other magic, version, length or
/// checksum is an error, and memory stays a small multiple of `size`.
Expected<CacheEntry> readCacheFile(const uint8_t *bytes, size_t size);

} // namespace sart

#endif // SPARSEATTN_RT_CACHEFILE_H

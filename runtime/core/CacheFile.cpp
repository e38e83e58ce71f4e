//===- CacheFile.cpp - One entry of the cache on disk ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/CacheFile.h"

#include "ByteReader.h"
#include "ByteWriter.h"
#include "ContentHeader.h"

using namespace sart;

static constexpr ContentHeader cacheHeader = {"cache file", "SACACH", 1};

std::vector<uint8_t> sart::writeCacheFile(const CacheEntry &entry) {
  std::vector<uint8_t> body;
  body.reserve(8 + entry.key.size() + entry.payload.size());
  ByteWriter out(body);
  out.text(entry.key);
  out.text(entry.payload);
  return withContentHeader(cacheHeader, body);
}

Expected<CacheEntry> sart::readCacheFile(const uint8_t *bytes, size_t size) {
  SART_RETURN_IF_ERROR(checkContentHeader(cacheHeader, bytes, size));
  ByteReader in("cache file", bytes + contentHeaderBytes,
                size - contentHeaderBytes);
  CacheEntry entry;
  entry.key = in.text("key characters");
  entry.payload = in.text("payload bytes");
  if (!in.ok())
    return in.status();
  if (in.left() != 0)
    return makeError("cache file has trailing bytes: got ", in.left(),
                     ", expected 0");
  return entry;
}

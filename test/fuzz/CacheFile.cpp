//===- CacheFile.cpp - Fuzz target: cache files and the executables in them
//--===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ContentMutations.h"
#include "FuzzSupport.h"

#include "sparseattn-rt/CacheFile.h"
#include "sparseattn-rt/Executable.h"

#include <algorithm>
#include <string>

using namespace sart;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// Bytes of the payload of a cache file with an empty key.
static constexpr size_t payloadOffset = contentHeaderBytes + 4 + 4;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned int seed) {
  size = LLVMFuzzerMutate(data, size, maxSize);
  // An executable in an entry has a hash of its own.
  if (seed % 4 == 0 && size > payloadOffset)
    fuzz::repairContentHash(data + payloadOffset, size - payloadOffset);
  if (seed % 64 != 1)
    fuzz::repairContentHash(data, size);
  return size;
}

static void checkExecutable(const uint8_t *data, size_t size) {
  Expected<Executable> executable = deserializeExecutable(data, size);
  if (!executable)
    return fuzz::requireReason(executable.status());
  std::vector<uint8_t> bytes = serialize(*executable);
  fuzz::require(bytes.size() == size &&
                    std::equal(bytes.begin(), bytes.end(), data),
                "an executable has one spelling");
}

/// A cache file, or the bytes of an executable.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  checkExecutable(data, size);
  Expected<CacheEntry> entry = readCacheFile(data, size);
  if (!entry) {
    fuzz::requireReason(entry.status());
    return 0;
  }
  std::vector<uint8_t> bytes = writeCacheFile(*entry);
  fuzz::require(bytes.size() == size &&
                    std::equal(bytes.begin(), bytes.end(), data),
                "a cache file has one spelling");
  checkExecutable(reinterpret_cast<const uint8_t *>(entry->payload.data()),
                  entry->payload.size());
  return 0;
}

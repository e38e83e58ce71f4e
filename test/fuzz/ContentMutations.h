//===- ContentMutations.h - Edits of bytes under a content hash -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_FUZZ_CONTENTMUTATIONS_H
#define SPARSEATTN_TEST_FUZZ_CONTENTMUTATIONS_H

#include "ContentHeader.h"

namespace sart::fuzz {

/// Makes the hash in the header fit the body, as no blind edit would.
inline void repairContentHash(uint8_t *data, size_t size) {
  if (size < contentHeaderBytes)
    return;
  uint64_t hash =
      hashBytes(data + contentHeaderBytes, size - contentHeaderBytes);
  for (size_t i = 0; i < 8; ++i)
    data[8 + i] = static_cast<uint8_t>(hash >> (8 * i));
}

} // namespace sart::fuzz

#endif // SPARSEATTN_TEST_FUZZ_CONTENTMUTATIONS_H

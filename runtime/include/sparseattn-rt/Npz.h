//===- Npz.h - NumPy archives -----------------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_NPZ_H
#define SPARSEATTN_RT_NPZ_H

#include "sparseattn-rt/Status.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sart {

/// One array of an archive, C order. dtype as NumPy spells it without the byte
/// order: f2, f4, f8, u2, b1, i4, i8, ...
struct NpzArray {
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<uint8_t> data;
  int64_t elements() const;
};
using NpzArchive = std::map<std::string, NpzArray>;

/// Reads all arrays (stored or deflated members, zip64, Fortran order
/// transposed to C). Refuses truncated, corrupt (CRC) and big-endian data,
/// naming member and offset; never reads outside the file or allocates more
/// than its headers and the file size justify.
Expected<NpzArchive> readNpz(const std::string &path);
/// The same from memory.
Expected<NpzArchive> parseNpz(const uint8_t *bytes, size_t size);
/// Writes a stored archive to a temporary name beside `path` and renames it.
Status writeNpz(const std::string &path, const NpzArchive &archive);

/// Writes text or bytes to a temporary name beside `path` and renames it, so
/// that no partial file is ever left; refuses unwritable paths by name.
Status writeFileAtomically(const std::string &path, const void *data,
                           size_t size);

} // namespace sart

#endif // SPARSEATTN_RT_NPZ_H

//===- Npz.cpp - Fuzz target: NumPy archives and arrays -------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "FuzzSupport.h"

#include "NpzFormat.h"

#include <string>

using namespace sart;

/// An archive of one stored member, with the checksum that an input could only
/// guess.
static std::string archiveOf(std::string_view array) {
  std::string bytes;
  auto number = [&](uint64_t value, size_t width) {
    for (size_t i = 0; i < width; ++i)
      bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  };
  auto common = [&] {
    number(20, 2); // version
    number(0, 2);  // flags
    number(npz::methodStored, 2);
    number(0, 4); // date
    number(npz::checksum(reinterpret_cast<const uint8_t *>(array.data()),
                         array.size()),
           4);
    number(array.size(), 4);
    number(array.size(), 4);
    number(5, 2); // name
    number(0, 2); // extra
  };
  number(npz::localSignature, 4);
  common();
  bytes += "q.npy";
  bytes += array;
  size_t directory = bytes.size();
  number(npz::centralSignature, 4);
  number(20, 2);
  common();
  // Comment, disk, attributes and offset.
  bytes.resize(directory + npz::centralBytes);
  bytes += "q.npy";
  size_t end = bytes.size();
  number(npz::endSignature, 4);
  number(0, 4);
  number(1, 2);
  number(1, 2);
  number(end - directory, 4);
  number(directory, 4);
  number(0, 2);
  return bytes;
}

static void check(std::string_view bytes) {
  Expected<NpzArchive> archive =
      parseNpz(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  if (!archive)
    return fuzz::requireReason(archive.status());
  for (const auto &[name, array] : *archive) {
    auto bytesPerElement = npz::elementBytes(array.dtype);
    fuzz::require(bytesPerElement > 0, "element types are known", array.dtype);
    fuzz::require(array.data.size() ==
                      static_cast<size_t>(array.elements() * bytesPerElement),
                  "data have the size of their shape", name);
  }
}

/// An archive, or an array that is put into one.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes = fuzz::textOf(data, size);
  if (bytes.substr(0, 6) == "\x93NUMPY")
    check(archiveOf(bytes));
  else
    check(bytes);
  return 0;
}

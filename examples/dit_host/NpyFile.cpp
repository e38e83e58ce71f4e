//===- NpyFile.cpp - Arrays as .npy files ---------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "NpyFile.h"

std::string dit::npyFile(const std::string &type,
                         const std::vector<int64_t> &shape,
                         const std::vector<char> &bytes) {
  // magic, version, header length in two bytes, header
  constexpr size_t before = 10;
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (";
  for (int64_t size : shape)
    header += std::to_string(size) + ", ";
  header += "), }";
  // The array begins at a multiple of 64 bytes, after a line feed.
  header.append(63 - (before + header.size()) % 64, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  file.append(bytes.begin(), bytes.end());
  return file;
}

//===- CacheTestSupport.h - Folders and files of cache tests ----*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_CACHE_CACHETESTSUPPORT_H
#define SPARSEATTN_TEST_UNIT_CACHE_CACHETESTSUPPORT_H

#include <gtest/gtest.h>

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

namespace sart::test {

/// A folder of its own, removed at the end with all that is in it.
class CacheFolder {
public:
  CacheFolder() {
    std::string pattern = ::testing::TempDir() + "sparseattn-cache-XXXXXX";
    path = ::mkdtemp(pattern.data());
  }
  ~CacheFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  /// Names in the folder, or in `below`, sorted.
  std::vector<std::string> names(const std::string &below = "") const {
    std::vector<std::string> found;
    for (const auto &entry : std::filesystem::directory_iterator(path + below))
      found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }
  std::string path;
};

/// Whether files of the folder need no name until they are whole.
inline bool hasNamelessFiles([[maybe_unused]] const CacheFolder &folder) {
#ifdef O_TMPFILE
  int file = ::open(folder.path.c_str(), O_WRONLY | O_TMPFILE, 0600);
  if (file >= 0)
    ::close(file);
  return file >= 0;
#else
  return false;
#endif
}

inline std::string readText(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void writeText(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}

} // namespace sart::test

#endif // SPARSEATTN_TEST_UNIT_CACHE_CACHETESTSUPPORT_H

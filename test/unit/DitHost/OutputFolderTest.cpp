//===- OutputFolderTest.cpp - Files that are whole or not there -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OutputFolder.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

using namespace dit;

namespace {

std::string readText(const std::string &path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

TEST(OutputFolder, NamesThatAKilledProcessLeftAreNotUsed) {
  std::string path = testing::TempDir() + "sparseattn-out-XXXXXX";
  ASSERT_NE(::mkdtemp(path.data()), nullptr);
  std::string process = "." + std::to_string(::getpid()) + ".";
  for (const char *prefix : {"/report.json.part", "/.probe"})
    for (const char *number : {"0", "1"})
      std::ofstream(path + prefix + process + number) << "left";
  OutputFolder folder(path, {"report.json"});
  folder.write("report.json", "first");
  folder.write("report.json", "second");
  EXPECT_EQ(readText(path + "/report.json"), "second");
  EXPECT_EQ(readText(path + "/report.json.part" + process + "0"), "left");
  auto files = std::filesystem::directory_iterator(path);
  EXPECT_EQ(std::distance(begin(files), end(files)), 5);
  std::filesystem::remove_all(path);
}

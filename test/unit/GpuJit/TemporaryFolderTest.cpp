//===- TemporaryFolderTest.cpp - Folders that go with their owner ---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TemporaryFolder.h"

#include "ChildProcess.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir::sparseattn;
namespace fs = std::filesystem;

namespace {

/// Temporary folders go into a folder of the test while this lives.
class TemporaryFolders : public ::testing::Test {
protected:
  void SetUp() override {
    fs::remove_all(parent);
    fs::create_directories(parent);
    if (const char *given = ::getenv("TMPDIR"))
      before = given;
    ASSERT_EQ(::setenv("TMPDIR", parent.c_str(), 1), 0);
  }
  void TearDown() override {
    before.empty() ? ::unsetenv("TMPDIR")
                   : ::setenv("TMPDIR", before.c_str(), 1);
    fs::remove_all(parent);
  }
  static TemporaryFolder make() {
    auto made = TemporaryFolder::create("test");
    EXPECT_TRUE(static_cast<bool>(made));
    llvm::cantFail(writeWhole(made->file("content"), "text"));
    return std::move(*made);
  }
  /// A folder whose owner was killed.
  static void abandon() {
    pid_t owner = ::fork();
    ASSERT_GE(owner, 0);
    if (owner == 0) {
      TemporaryFolder folder = make();
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(owner, &status, 0), owner);
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  std::vector<std::string> found() const {
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(parent))
      names.push_back(entry.path().filename().string());
    return names;
  }
  /// Lets everything in the parent look an hour old.
  void makeOld() const {
    timespec hourAgo[2];
    for (timespec &time : hourAgo)
      time = {::time(nullptr) - 3600, 0};
    for (const auto &entry : fs::recursive_directory_iterator(parent))
      ASSERT_EQ(::utimensat(AT_FDCWD, entry.path().c_str(), hourAgo,
                            AT_SYMLINK_NOFOLLOW),
                0);
  }

  const std::string parent = ::testing::TempDir() + "temporary-folders";
  std::string before;
};

} // namespace

TEST_F(TemporaryFolders, GoWithTheirOwner) {
  {
    TemporaryFolder folder = make();
    ASSERT_EQ(found().size(), 1u);
    EXPECT_EQ(found()[0].find("sparseattn-test-"), 0u);
    EXPECT_TRUE(fs::exists(folder.file("content")));
    TemporaryFolder moved = std::move(folder);
    EXPECT_TRUE(fs::exists(moved.file("content")));
  }
  EXPECT_TRUE(found().empty());
}

TEST_F(TemporaryFolders, OfKilledOwnersAreRemoved) {
  abandon();
  ASSERT_EQ(found().size(), 1u);
  // Its owner may just not have locked it yet.
  TemporaryFolder::removeAbandoned(parent);
  EXPECT_EQ(found().size(), 1u);
  makeOld();
  TemporaryFolder::removeAbandoned(parent);
  EXPECT_TRUE(found().empty());
}

TEST_F(TemporaryFolders, OfOthersStay) {
  TemporaryFolder inUse = make();
  // What only looks like one.
  fs::create_directories(parent + "/sparseattn-0.1.0-linux-x86_64/bin");
  llvm::cantFail(writeWhole(parent + "/sparseattn-notes", "text"));
  fs::create_directory_symlink(parent + "/sparseattn-0.1.0-linux-x86_64",
                               parent + "/sparseattn-test-link");
  makeOld();
  TemporaryFolder::removeAbandoned(parent);
  EXPECT_EQ(found().size(), 4u);
  EXPECT_TRUE(fs::exists(inUse.file("content")));
  TemporaryFolder::removeAbandoned(parent + "/none");
}

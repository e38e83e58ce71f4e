//===- AtomicFileTest.cpp - Both ways of writing a file -------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AtomicFile.h"

#include "CacheTestSupport.h"

#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>

using namespace sart;
using namespace sart::test;

/// Both ways of writing: with and without nameless files.
class AtomicFileWays : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    if (GetParam() && !hasNamelessFiles(CacheFolder()))
      GTEST_SKIP() << "no nameless files in " << testing::TempDir();
  }
};

TEST_P(AtomicFileWays, UnfinishedFilesLeaveTheOldOne) {
  CacheFolder folder;
  std::string path = folder.path + "/out";
  for (const char *before : {"", "old"}) {
    if (*before)
      writeText(path, before);
    {
      AtomicFile file;
      file.allowNameless = GetParam();
      ASSERT_TRUE(file.open(path).ok());
      ASSERT_TRUE(file.write("half", 4).ok());
      // What a kill would leave here.
      std::vector<std::string> names = folder.names();
      EXPECT_EQ(names.size(), (*before ? 1u : 0u) + (GetParam() ? 0u : 1u));
    }
    EXPECT_EQ(folder.names().size(), *before ? 1u : 0u);
    AtomicFile file;
    file.allowNameless = GetParam();
    ASSERT_TRUE(file.open(path).ok());
    ASSERT_TRUE(file.write("new", 3).ok());
    ASSERT_TRUE(file.commit().ok());
    EXPECT_EQ(readText(path), "new");
    EXPECT_EQ(folder.names(), std::vector<std::string>{"out"});
    ASSERT_EQ(::unlink(path.c_str()), 0);
  }
}

TEST_P(AtomicFileWays, FileSizeLimitIsAnErrorNotASignal) {
  CacheFolder folder;
  std::string path = folder.path + "/out";
  pid_t child = ::fork();
  if (child == 0) {
    rlimit limit = {4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    AtomicFile file;
    file.allowNameless = GetParam();
    std::string large(100000, 'x');
    bool good = file.open(path).ok() &&
                file.write(large.data(), large.size()).message() ==
                    "file '" + path +
                        "' cannot be written: got 'File too large', expected "
                        "a writable path";
    // Not only not delivered: gone.
    sigset_t pending;
    ::sigpending(&pending);
    good = good && !sigismember(&pending, SIGXFSZ);
    file.~AtomicFile();
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(folder.names().empty());
}

TEST_P(AtomicFileWays, NamesThatAKilledProcessLeftAreNotUsed) {
  CacheFolder folder;
  std::string path = folder.path + "/out";
  writeText(path, "old"); // both ways need a temporary name
  auto write = [&](const std::string &text) {
    AtomicFile file;
    file.allowNameless = GetParam();
    Status status = file.open(path);
    if (status.ok())
      status = file.write(text.data(), text.size());
    return status.ok() ? file.commit() : status;
  };
  // All that the next attempts would use: numbers are counted in a process.
  std::string prefix = path + ".tmp." + std::to_string(::getpid()) + ".";
  for (int i = 0; i < 300; ++i)
    writeText(prefix + std::to_string(i), "left");
  EXPECT_EQ(write("new").message(), "");
  EXPECT_EQ(readText(path), "new");
  EXPECT_EQ(readText(prefix + "0"), "left");
  // They have an end, and an error.
  for (int i = 300; i < 3000; ++i)
    writeText(prefix + std::to_string(i), "left");
  EXPECT_EQ(write("newer").message(),
            "file '" + path + "' cannot be " +
                (GetParam() ? "written" : "created") +
                ": got 'File exists', expected a writable path");
  EXPECT_EQ(readText(path), "new");
  EXPECT_EQ(readText(prefix + "2999"), "left");
  EXPECT_EQ(folder.names().size(), 3001u);
}

INSTANTIATE_TEST_SUITE_P(, AtomicFileWays, testing::Bool());

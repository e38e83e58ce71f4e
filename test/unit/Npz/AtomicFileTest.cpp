//===- AtomicFileTest.cpp - Files appear whole or not at all --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ZipBuilder.h"

#include <csignal>
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace sart;
using namespace sart::test;

namespace {

int filesIn(const std::string &path) {
  DIR *folder = ::opendir(path.c_str());
  int count = 0;
  while (dirent *entry = ::readdir(folder))
    count += entry->d_name[0] != '.';
  ::closedir(folder);
  return count;
}

} // namespace

TEST(AtomicFile, WritesAndReplaces) {
  TemporaryFolder folder;
  std::string path = folder.file("report.json");
  ASSERT_TRUE(writeFileAtomically(path, "first", 5).ok());
  EXPECT_EQ(readBytes(path), "first");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  ASSERT_TRUE(writeFileAtomically(path, "second one", 10).ok());
  EXPECT_EQ(readBytes(path), "second one");
  struct stat info;
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
  EXPECT_EQ(filesIn(folder.path), 1);
}

TEST(AtomicFile, NamesUnwritablePaths) {
  TemporaryFolder folder;
  std::string path = folder.path + "/no/such/folder/x.json";
  EXPECT_EQ(writeFileAtomically(path, "x", 1).message(),
            "file '" + path +
                "' cannot be created: got 'No such file or directory', "
                "expected a writable path");
  EXPECT_EQ(writeFileAtomically(folder.path, "x", 1).message(),
            "file '" + folder.path +
                "' cannot be written: got 'Is a directory', expected a "
                "writable path");
  EXPECT_FALSE(writeFileAtomically("", "x", 1).ok());
  EXPECT_EQ(filesIn(folder.path), 0);
}

TEST(AtomicFile, DevicesAreWrittenNotReplaced) {
  ASSERT_TRUE(writeFileAtomically("/dev/null", "x", 1).ok());
  struct stat info;
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

TEST(AtomicFile, LinksStayLinks) {
  TemporaryFolder folder;
  std::string target = folder.file("target"), link = folder.file("link");
  writeBytes(target, "old");
  ASSERT_EQ(::symlink(target.c_str(), link.c_str()), 0);
  ASSERT_TRUE(writeFileAtomically(link, "new", 3).ok());
  struct stat info;
  ASSERT_EQ(::lstat(link.c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  EXPECT_EQ(readBytes(target), "new");
}

TEST(AtomicFile, FailedWriteLeavesTheOldFile) {
  TemporaryFolder folder;
  std::string path = folder.file("old");
  writeBytes(path, "old");
  // A limit on file sizes stands in for a full disk.
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limited = before;
  limited.rlim_cur = 4096;
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
  std::string large(100000, 'x');
  Status status = writeFileAtomically(path, large.data(), large.size());
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status.message(), "file '" + path +
                                  "' cannot be written: got 'File too large', "
                                  "expected a writable path");
  EXPECT_EQ(readBytes(path), "old");
  EXPECT_EQ(filesIn(folder.path), 1);
}

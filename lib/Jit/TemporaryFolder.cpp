//===- TemporaryFolder.cpp - Folders that go with their owner -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TemporaryFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <ctime>
#include <fcntl.h>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::sparseattn;
using llvm::SmallString;
using llvm::StringRef;

static constexpr llvm::StringLiteral kPrefix = "sparseattn-";
/// Folders without it were made by somebody else.
static constexpr llvm::StringLiteral kLockName = ".sparseattn-owner";
static constexpr time_t kYoungSeconds = 60;

/// The descriptor of the file, locked; negative if another has the lock or
/// there is no such file. The lock goes with the process, however it ends;
/// programs that it runs do not have it.
static int lockFile(const std::string &path, int flags) {
  int file = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags,
                    S_IRUSR | S_IWUSR);
  if (file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) != 0) {
    ::close(file);
    return -1;
  }
  return file;
}

static std::string joined(StringRef folder, StringRef name) {
  SmallString<128> result(folder);
  llvm::sys::path::append(result, name);
  return result.str().str();
}

llvm::Expected<TemporaryFolder> TemporaryFolder::create(StringRef what) {
  static std::once_flag once;
  std::call_once(once, [] {
    SmallString<128> parent;
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, parent);
    removeAbandoned(parent);
  });
  SmallString<128> path;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory(kPrefix + what, path))
    return llvm::createStringError(
        "temporary folder for " + what + ": got '" + error.message() +
        "', expected a folder that can be written (TMPDIR names one)");
  int lock = lockFile(joined(path, kLockName), O_CREAT | O_EXCL);
  return TemporaryFolder(path.str().str(), lock);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder &&other) noexcept
    : path(std::move(other.path)), lock(other.lock) {
  other.path.clear();
  other.lock = -1;
}

TemporaryFolder::~TemporaryFolder() {
  if (path.empty())
    return;
  // What cannot be removed is left to whoever cleans the folder of the system.
  std::error_code ignored = llvm::sys::fs::remove_directories(path);
  (void)ignored;
  if (lock >= 0)
    ::close(lock);
}

std::string TemporaryFolder::file(StringRef name) const {
  return joined(path, name);
}

void TemporaryFolder::removeAbandoned(StringRef parent) {
  llvm::SmallVector<std::string> found;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator
           entry(parent, error, /*follow_symlinks=*/false),
       end;
       !error && entry != end; entry.increment(error))
    if (llvm::sys::path::filename(entry->path()).starts_with(kPrefix))
      found.push_back(entry->path());
  for (const std::string &path : found) {
    struct stat info;
    int lock = lockFile(joined(path, kLockName), 0);
    if (lock < 0)
      continue;
    if (::fstat(lock, &info) == 0 && info.st_uid == ::geteuid() &&
        std::time(nullptr) - info.st_mtime > kYoungSeconds)
      (void)llvm::sys::fs::remove_directories(path);
    ::close(lock);
  }
}

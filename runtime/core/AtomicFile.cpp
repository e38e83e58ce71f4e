//===- AtomicFile.cpp - Files that appear whole or not at all -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AtomicFile.h"

#include "sparseattn-rt/Npz.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace sart;

AtomicFile::~AtomicFile() {
  if (descriptor < 0)
    return;
  ::close(descriptor);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

Status AtomicFile::fail(const char *action, int code) {
  return makeError("file '", target, "' cannot be ", action, ": got '",
                   std::strerror(code), "', expected a writable path");
}

/// Sets `temporary` to a name that `make` (0, or errno) could make; 0, or what
/// failed. A killed process of the same number may have left names.
template <typename Make>
int AtomicFile::makeTemporary(Make make) {
  static std::atomic<uint64_t> counter{0};
  int code = EEXIST;
  for (int tries = 0; tries < 1000 && code == EEXIST; ++tries) {
    temporary = concat(target, ".tmp.", ::getpid(), ".", counter.fetch_add(1));
    code = make(temporary);
  }
  if (code != 0)
    temporary.clear();
  return code;
}

/// Path of an open file that link can follow.
static std::string descriptorPath(int descriptor) {
  return concat("/proc/self/fd/", descriptor);
}

bool AtomicFile::openNameless(mode_t mode) {
#ifdef O_TMPFILE
  if (!allowNameless)
    return false;
  size_t slash = target.rfind('/');
  std::string folder = slash == std::string::npos ? "."
                       : slash == 0               ? "/"
                                                  : target.substr(0, slash);
  descriptor = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
  if (descriptor < 0)
    return false;
  // Without /proc it could not get a name later.
  nameless = ::access(descriptorPath(descriptor).c_str(), F_OK) == 0;
  if (!nameless) {
    ::close(descriptor);
    descriptor = -1;
  }
#endif
  return nameless;
}

Status AtomicFile::open(const std::string &path, mode_t mode) {
  target = path;
  if (path.empty())
    return fail("created", ENOENT);
  struct stat info;
  bool replaces = ::stat(path.c_str(), &info) == 0;
  if (replaces) {
    if (S_ISDIR(info.st_mode))
      return fail("written", EISDIR);
    if (::access(path.c_str(), W_OK) != 0)
      return fail("written", errno);
    if (!S_ISREG(info.st_mode)) {
      descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      return descriptor < 0 ? fail("written", errno) : Status::success();
    }
    // Replaces what a link points to, not the link.
    if (char *resolved = ::realpath(path.c_str(), nullptr)) {
      target = resolved;
      std::free(resolved);
    }
  }
  if (!openNameless(mode)) {
    int code = makeTemporary([&](const std::string &name) {
      descriptor =
          ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      return descriptor < 0 ? errno : 0;
    });
    if (code != 0)
      return fail("created", code);
  }
  if (replaces && ::fchmod(descriptor, info.st_mode & 07777) != 0)
    return fail("created", errno);
  return Status::success();
}

namespace {
/// Keeps a write beyond the limit on file sizes from ending the process, of
/// whose signal handlers a library knows nothing.
class FileSizeSignalBlock {
public:
  FileSizeSignalBlock() {
    sigset_t pending;
    sigemptyset(&pending);
    ::sigpending(&pending);
    wasPending = sigismember(&pending, SIGXFSZ) == 1;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before);
  }
  ~FileSizeSignalBlock() {
    timespec none = {0, 0};
    if (!wasPending)
      while (::sigtimedwait(&signals, nullptr, &none) < 0 && errno == EINTR) {
      }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

private:
  sigset_t signals, before;
  bool wasPending;
};
} // namespace

Status AtomicFile::write(const void *data, size_t size) {
  FileSizeSignalBlock block;
  const char *next = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t written =
        ::write(descriptor, next, std::min<size_t>(size, INT_MAX / 2));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return fail("written", errno);
    next += written;
    size -= static_cast<size_t>(written);
  }
  return Status::success();
}

/// Links the nameless file to the target; to a temporary name if there is a
/// target already, for links replace nothing. 0, or what failed.
int AtomicFile::giveName() {
  std::string source = descriptorPath(descriptor);
  auto link = [&](const std::string &name) {
    return ::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(),
                    AT_SYMLINK_FOLLOW) == 0
               ? 0
               : errno;
  };
  int code = link(target);
  return code == EEXIST ? makeTemporary(link) : code;
}

Status AtomicFile::commit(bool durable) {
  // Without it a crash of the machine could leave the name without the data.
  if (durable && (nameless || !temporary.empty()) && ::fsync(descriptor) != 0)
    return fail("written", errno);
  int code = nameless ? giveName() : 0;
  if (::close(descriptor) != 0 && code == 0)
    code = errno;
  descriptor = -1;
  if (code == 0 && !temporary.empty() &&
      ::rename(temporary.c_str(), target.c_str()) != 0)
    code = errno;
  if (code != 0) {
    if (!temporary.empty())
      ::unlink(temporary.c_str());
    return fail("written", code);
  }
  return Status::success();
}

Status sart::writeFileAtomically(const std::string &path, const void *data,
                                 size_t size) {
  AtomicFile file;
  SART_RETURN_IF_ERROR(file.open(path));
  SART_RETURN_IF_ERROR(file.write(data, size));
  return file.commit();
}

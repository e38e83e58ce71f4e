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

Status AtomicFile::open(const std::string &path) {
  target = path;
  if (path.empty())
    return fail("created", ENOENT);
  struct stat info;
  mode_t mode = 0;
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return fail("written", EISDIR);
    if (::access(path.c_str(), W_OK) != 0)
      return fail("written", errno);
    if (!S_ISREG(info.st_mode)) {
      descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      return descriptor < 0 ? fail("written", errno) : Status::success();
    }
    mode = info.st_mode & 07777;
    // Replaces what a link points to, not the link.
    if (char *resolved = ::realpath(path.c_str(), nullptr)) {
      target = resolved;
      std::free(resolved);
    }
  }
  static std::atomic<uint64_t> counter{0};
  temporary = concat(target, ".tmp.", ::getpid(), ".", counter.fetch_add(1));
  descriptor =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    temporary.clear();
    return fail("created", errno);
  }
  if (mode != 0 && ::fchmod(descriptor, mode) != 0)
    return fail("created", errno);
  return Status::success();
}

Status AtomicFile::write(const void *data, size_t size) {
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

Status AtomicFile::commit() {
  // Without it a crash of the machine could leave the name without the data.
  if (!temporary.empty() && ::fsync(descriptor) != 0)
    return fail("written", errno);
  int closed = ::close(descriptor);
  descriptor = -1;
  int code = closed != 0 ? errno : 0;
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

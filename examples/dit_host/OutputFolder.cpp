//===- OutputFolder.cpp - Files that are whole or not there ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OutputFolder.h"

#include "Support.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

using namespace dit;

namespace {

[[noreturn]] void failPath(const std::string &what, const std::string &path,
                           const std::string &reason,
                           const std::string &expected) {
  fail(what, "'" + path + "' (" + reason + ")", expected);
}

std::string descriptorPath(int file) {
  return "/proc/self/fd/" + std::to_string(file);
}

/// Calls `make` with names that begin with `prefix` until one is free: a killed
/// process of the same number may have left its own. False: errno says why.
template <typename Make>
bool makeNamed(const std::string &prefix, std::string &name, Make make) {
  for (int i = 0; i < 1000; ++i) {
    name = prefix + "." + std::to_string(::getpid()) + "." + std::to_string(i);
    if (make(name))
      return true;
    if (errno != EEXIST)
      break;
  }
  name.clear();
  return false;
}

/// A new file in `folder`, without a name where the system can do that, so that
/// nothing is left of it when this process is killed; else `name` is its name,
/// which begins with `prefix`. Below 0: errno says why there is none.
int createFile(const std::string &folder, const std::string &prefix,
               std::string &name) {
  int file = -1;
#ifdef O_TMPFILE
  file = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (file >= 0 && ::access(descriptorPath(file).c_str(), F_OK) == 0)
    return file;
  if (file >= 0)
    ::close(file);
#endif
  makeNamed(prefix, name, [&](const std::string &path) {
    file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return file >= 0;
  });
  return file;
}

bool writeAll(int file, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t written = ::write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    done += static_cast<size_t>(written);
  }
  return true;
}

} // namespace

OutputFolder::OutputFolder(std::string path,
                           const std::vector<std::string> &names)
    : folder(std::move(path)) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder, error))
    failPath("--out", folder, error ? error.message() : "not a folder",
             "a folder that can be made");
  for (const std::string &name : names)
    if (std::filesystem::is_directory(folder + "/" + name, error))
      failPath("--out", folder, name + " is a folder in it",
               "one where " + name + " can be written");
  // Whether files can be made there is only known by making one.
  std::string probe;
  int file = createFile(folder, folder + "/.probe", probe);
  if (file < 0)
    failPath("--out", folder, std::strerror(errno), "a writable folder");
  ::close(file);
  if (!probe.empty())
    ::unlink(probe.c_str());
}

void OutputFolder::write(const std::string &name,
                         const std::string &text) const {
  std::string target = folder + "/" + name;
  std::string part;
  int file = createFile(folder, target + ".part", part);
  bool good = file >= 0 && writeAll(file, text);
  if (good && part.empty())
    good = makeNamed(target + ".part", part, [&](const std::string &name) {
      return ::linkat(AT_FDCWD, descriptorPath(file).c_str(), AT_FDCWD,
                      name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    });
  int code = errno;
  if (file >= 0 && ::close(file) != 0 && good) {
    good = false;
    code = errno;
  }
  if (good && std::rename(part.c_str(), target.c_str()) != 0) {
    good = false;
    code = errno;
  }
  if (!good) {
    if (!part.empty())
      ::unlink(part.c_str());
    failPath("output", target, std::strerror(code),
             "a file that can be written");
  }
}

//===- OutputFolder.cpp - Files that are whole or not there ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "OutputFolder.h"

#include "Support.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

using namespace dit;

namespace {

[[noreturn]] void failPath(const std::string &what, const std::string &path,
                           const std::string &reason,
                           const std::string &expected) {
  fail(what, "'" + path + "' (" + reason + ")", expected);
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
  std::string probe = folder + "/.probe." + std::to_string(::getpid());
  std::FILE *file = std::fopen(probe.c_str(), "wb");
  if (!file)
    failPath("--out", folder, std::strerror(errno), "a writable folder");
  std::fclose(file);
  std::remove(probe.c_str());
}

void OutputFolder::write(const std::string &name,
                         const std::string &text) const {
  std::string target = folder + "/" + name;
  std::string part = target + ".part." + std::to_string(::getpid());
  std::FILE *file = std::fopen(part.c_str(), "wb");
  bool good = file != nullptr;
  if (file) {
    good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    good = std::fclose(file) == 0 && good;
  }
  good = good && std::rename(part.c_str(), target.c_str()) == 0;
  if (!good) {
    std::string reason = std::strerror(errno);
    std::remove(part.c_str());
    failPath("output", target, reason, "a file that can be written");
  }
}

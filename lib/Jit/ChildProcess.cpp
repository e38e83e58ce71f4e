//===- ChildProcess.cpp - Programs that are run for their output ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ChildProcess.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <optional>
#include <sys/wait.h>
#include <thread>

using namespace mlir::sparseattn;
using llvm::SmallString;
using llvm::StringRef;
using llvm::Twine;

llvm::Expected<TemporaryFolder> TemporaryFolder::create(StringRef what) {
  SmallString<128> path;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory("sparseattn-" + what, path))
    return llvm::createStringError(
        "temporary folder for " + what + ": got '" + error.message() +
        "', expected a folder that can be written (TMPDIR names one)");
  return TemporaryFolder(path.str().str());
}

TemporaryFolder::TemporaryFolder(TemporaryFolder &&other) noexcept
    : path(std::move(other.path)) {
  other.path.clear();
}

TemporaryFolder::~TemporaryFolder() {
  if (path.empty())
    return;
  // What cannot be removed is left to whoever cleans the folder of the system.
  std::error_code ignored = llvm::sys::fs::remove_directories(path);
  (void)ignored;
}

std::string TemporaryFolder::file(StringRef name) const {
  SmallString<128> result(path);
  llvm::sys::path::append(result, name);
  return result.str().str();
}

llvm::Error mlir::sparseattn::writeWhole(const std::string &path,
                                         StringRef content) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << content;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return llvm::createStringError("file '" + Twine(path) + "': got '" +
                                   error.message() +
                                   "', expected it to be written");
  return llvm::Error::success();
}

llvm::Expected<std::string>
mlir::sparseattn::readWhole(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError("file '" + Twine(path) + "': got '" +
                                   buffer.getError().message() +
                                   "', expected it to be read");
  return (*buffer)->getBuffer().str();
}

/// A disk may not fill up with what a program says.
static constexpr uint64_t kMostOutput = uint64_t(64) << 20;

/// The exit status of a child that ended by itself, negative with a `reason` if
/// it did not; nothing if it had to be killed. LLVM's own time-out is the
/// process's one alarm clock, which threads would take from each other and from
/// the program around them.
static std::optional<int> awaitChild(pid_t child, const std::string &log,
                                     std::chrono::steady_clock::time_point end,
                                     std::string &reason) {
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(child, &status, WNOHANG)) == 0) {
    uint64_t bytes = 0;
    bool floods = !llvm::sys::fs::file_size(log, bytes) && bytes > kMostOutput;
    if (floods || std::chrono::steady_clock::now() >= end) {
      ::kill(child, SIGKILL);
      while (::waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
      if (!floods)
        return std::nullopt;
      reason = "more than 64 MiB of output";
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (ended < 0)
    reason = llvm::sys::StrError();
  else if (WIFSIGNALED(status))
    reason = ::strsignal(WTERMSIG(status));
  return ended < 0 || !WIFEXITED(status) ? -1 : WEXITSTATUS(status);
}

llvm::Expected<ChildOutput>
mlir::sparseattn::runChild(const std::string &program,
                           llvm::ArrayRef<StringRef> arguments, StringRef what,
                           std::chrono::seconds limit) {
  llvm::Expected<TemporaryFolder> folder = TemporaryFolder::create(what);
  if (!folder)
    return folder.takeError();
  std::string log = folder->file("log");
  llvm::SmallVector<StringRef> all = {program};
  all.append(arguments.begin(), arguments.end());
  // Nothing to read; both outputs in one file keep their order.
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log),
                                          StringRef(log)};
  std::string reason;
  bool notStarted = false;
  auto begin = std::chrono::steady_clock::now();
  llvm::sys::ProcessInfo child =
      llvm::sys::ExecuteNoWait(program, all, std::nullopt, redirects,
                               /*MemoryLimit=*/0, &reason, &notStarted);
  std::optional<int> status = -1;
  if (!notStarted)
    status = awaitChild(child.Pid, log, begin + limit, reason);
  if (!status)
    return llvm::createStringError(
        what + ": got no end within " + Twine(limit.count()) + " s from '" +
        program + "', expected it to run to its end");
  if (notStarted || *status < 0)
    return llvm::createStringError(
        what + ": got '" + Twine(reason.empty() ? "no reason" : reason) +
        "' from '" + program + "', expected it to run to its end");
  ChildOutput output;
  output.status = *status;
  output.milliseconds = std::chrono::duration<double, std::milli>(
                            std::chrono::steady_clock::now() - begin)
                            .count();
  llvm::Expected<std::string> text = readWhole(log);
  if (!text)
    return text.takeError();
  output.text = std::move(*text);
  return output;
}

std::string mlir::sparseattn::objectFileOf(const void *address) {
  Dl_info info = {};
  if (!::dladdr(address, &info) || !info.dli_fname)
    return "";
  SmallString<128> path;
  // The program itself goes by the name that it was started with, which may be
  // one that PATH resolved, or relative to another folder.
  StringRef name = info.dli_fname;
  if ((name.contains('/') && !llvm::sys::fs::real_path(name, path)) ||
      !llvm::sys::fs::real_path("/proc/self/exe", path))
    return path.str().str();
  return "";
}

//===- ChildProcess.cpp - Programs that are run for their output ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ChildProcess.h"

#include "TemporaryFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <optional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir::sparseattn;
using llvm::SmallString;
using llvm::StringRef;
using llvm::Twine;

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

/// What the child does between its birth and the program; an errno. Only what a
/// signal handler may do: other threads of the parent had locks.
static int becomeProgram(const char *program, char *const *arguments,
                         const char *log, pid_t parent) {
  // A killed parent would leave a program behind that nobody waits for. It may
  // have been killed already.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
    return errno;
  if (::getppid() != parent)
    return ESRCH;
  int input = ::open("/dev/null", O_RDONLY);
  // Both outputs in one file keep their order.
  int output = ::open(log, O_WRONLY | O_CREAT | O_APPEND, S_IRUSR | S_IWUSR);
  if (input < 0 || output < 0 || ::dup2(input, STDIN_FILENO) < 0 ||
      ::dup2(output, STDOUT_FILENO) < 0 || ::dup2(output, STDERR_FILENO) < 0)
    return errno;
  ::execv(program, arguments);
  return errno;
}

/// The new process, or -1 with a `reason`. What runs programs for LLVM has no
/// way to tie a child's life to its parent's.
static pid_t startChild(const std::string &program,
                        llvm::ArrayRef<StringRef> arguments,
                        const std::string &log, std::string &reason) {
  std::vector<std::string> texts = {program};
  for (StringRef argument : arguments)
    texts.push_back(argument.str());
  std::vector<char *> pointers;
  for (std::string &text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  // The program's start closes the pipe; else it brings the errno.
  int ends[2];
  pid_t parent = ::getpid(), child = -1;
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    reason = llvm::sys::StrError();
    return -1;
  }
  child = ::fork();
  if (child == 0) {
    int error =
        becomeProgram(program.c_str(), pointers.data(), log.c_str(), parent);
    (void)!::write(ends[1], &error, sizeof error);
    ::_exit(127);
  }
  int error = child < 0 ? errno : 0;
  ::close(ends[1]);
  while (child > 0 && ::read(ends[0], &error, sizeof error) < 0 &&
         errno == EINTR)
    ;
  ::close(ends[0]);
  if (error == 0)
    return child;
  reason = llvm::sys::StrError(error);
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR)
    ;
  return -1;
}

llvm::Expected<ChildOutput>
mlir::sparseattn::runChild(const std::string &program,
                           llvm::ArrayRef<StringRef> arguments, StringRef what,
                           std::chrono::seconds limit) {
  llvm::Expected<TemporaryFolder> folder = TemporaryFolder::create(what);
  if (!folder)
    return folder.takeError();
  std::string log = folder->file("log");
  std::string reason;
  auto begin = std::chrono::steady_clock::now();
  pid_t child = startChild(program, arguments, log, reason);
  std::optional<int> status = -1;
  if (child > 0)
    status = awaitChild(child, log, begin + limit, reason);
  if (!status)
    return llvm::createStringError(
        what + ": got no end within " + Twine(limit.count()) + " s from '" +
        program + "', expected it to run to its end");
  if (*status < 0)
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

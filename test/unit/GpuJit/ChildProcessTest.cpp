//===- ChildProcessTest.cpp - Programs that are run for their output ------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ChildProcess.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mlir::sparseattn;
using std::chrono::seconds;

static std::string failureOf(const std::string &program,
                             llvm::ArrayRef<llvm::StringRef> arguments,
                             seconds limit) {
  auto output = runChild(program, arguments, "child", limit);
  return output ? "none" : llvm::toString(output.takeError());
}

TEST(ChildProcess, KeepsBothOutputsInOrderAndTheStatus) {
  auto output = runChild("/bin/sh", {"-c", "echo one; echo two >&2; exit 3"},
                         "child", seconds(60));
  ASSERT_TRUE(static_cast<bool>(output)) << llvm::toString(output.takeError());
  EXPECT_EQ(output->text, "one\ntwo\n");
  EXPECT_EQ(output->status, 3);
  EXPECT_GT(output->milliseconds, 0);
}

TEST(ChildProcess, EndsWhatDoesNotEnd) {
  auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(failureOf("/bin/sleep", {"30"}, seconds(1)),
            "child: got no end within 1 s from '/bin/sleep', expected it to "
            "run to its end");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(20));
}

TEST(ChildProcess, EndsWhatSaysTooMuch) {
  EXPECT_EQ(failureOf("/bin/cat", {"/dev/zero"}, seconds(60)),
            "child: got 'more than 64 MiB of output' from '/bin/cat', expected "
            "it to run to its end");
}

TEST(ChildProcess, ThreadsHaveLimitsOfTheirOwn) {
  // The alarm clock of the process stays its owner's.
  ::alarm(100);
  std::string late, inTime;
  std::thread one([&] { late = failureOf("/bin/sleep", {"30"}, seconds(1)); });
  std::thread two(
      [&] { inTime = failureOf("/bin/sleep", {"2"}, seconds(60)); });
  one.join();
  two.join();
  EXPECT_GT(::alarm(0), 0u);
  EXPECT_NE(late.find("got no end within 1 s"), std::string::npos) << late;
  EXPECT_EQ(inTime, "none");
}

TEST(ChildProcess, NamesWhatDidNotStartOrWasKilled) {
  EXPECT_EQ(failureOf("/no/such/program", {}, seconds(60)),
            "child: got 'No such file or directory' from '/no/such/program', "
            "expected it to run to its end");
  EXPECT_EQ(failureOf("/etc/passwd", {}, seconds(60)),
            "child: got 'Permission denied' from '/etc/passwd', expected it to "
            "run to its end");
  std::string killed = failureOf("/bin/sh", {"-c", "kill -9 $$"}, seconds(60));
  EXPECT_EQ(killed, "child: got 'Killed' from '/bin/sh', expected it to run to "
                    "its end");
}

TEST(ChildProcess, ReadsNothing) {
  auto output = runChild("/bin/cat", {}, "child", seconds(60));
  ASSERT_TRUE(static_cast<bool>(output)) << llvm::toString(output.takeError());
  EXPECT_EQ(output->text, "");
}

/// Whether it becomes true within 20 s.
static bool soon(const std::function<bool()> &condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition())
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(ChildProcess, EndsWithItsParent) {
  std::string file = ::testing::TempDir() + "child-process-id";
  for (int signal : {SIGINT, SIGTERM, SIGKILL}) {
    std::filesystem::remove(file);
    pid_t parent = ::fork();
    ASSERT_GE(parent, 0);
    if (parent == 0) {
      // A shell may have started the tests with some of them ignored.
      ::signal(signal, SIG_DFL);
      // Written under another name: a file that is there is whole.
      std::string script = "echo $$ > " + file + ".new; mv " + file + ".new " +
                           file + "; exec sleep 300";
      llvm::consumeError(
          runChild("/bin/sh", {"-c", script}, "child", seconds(300))
              .takeError());
      ::_exit(0);
    }
    EXPECT_TRUE(soon([&] { return std::filesystem::exists(file); }));
    pid_t child = 0;
    std::ifstream(file) >> child;
    ASSERT_GT(child, 1);
    EXPECT_EQ(::kill(child, 0), 0);
    ::kill(parent, signal);
    int status = 0;
    ASSERT_EQ(::waitpid(parent, &status, 0), parent);
    EXPECT_TRUE(WIFSIGNALED(status));
    // Somebody else has to wait for it: until then it is a zombie.
    EXPECT_TRUE(soon([&] {
      std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
      std::string text;
      return !std::getline(stat, text) ||
             text.find(") Z ") != std::string::npos;
    })) << "signal "
        << signal;
  }
}

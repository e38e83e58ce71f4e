//===- PtxasTest.cpp - The real assembler, and programs that are none -----===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxTexts.h"

#include "sparseattn/Jit/Ptxas.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace mlir::sparseattn;
namespace fs = std::filesystem;

namespace {

/// Tests of kernels fail without ptxas; they are not skipped.
Ptxas realPtxas() {
  std::string file = Ptxas::locate();
  EXPECT_NE(file, "") << Ptxas::notFound();
  llvm::Expected<Ptxas> ptxas = Ptxas::open(file);
  if (!ptxas) {
    ADD_FAILURE() << llvm::toString(ptxas.takeError());
    std::exit(1);
  }
  return *ptxas;
}

PtxasReport reportOf(const std::string &ptx) {
  auto assembled = realPtxas().assemble(ptx, "sm_90a");
  if (!assembled) {
    ADD_FAILURE() << llvm::toString(assembled.takeError());
    return {};
  }
  return assembled->report;
}

std::string verdict(const std::string &ptx) {
  return llvm::toString(checkPtxasReport(reportOf(ptx)));
}

/// A folder for one test, with scripts that pose as ptxas.
class PosingPtxas : public ::testing::Test {
protected:
  void SetUp() override {
    folder = ::testing::TempDir() + "posing-ptxas." +
             ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  /// A shell script; --version answers as release 13.0 unless it says so
  /// itself.
  std::string script(const std::string &body, bool versioned = true) {
    std::string path = folder + "/ptxas";
    std::ofstream(path) << "#!/bin/sh\n"
                        << (versioned ? kVersion : "") << body << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }

  static std::string failureOf(const std::string &path) {
    llvm::Expected<Ptxas> ptxas = Ptxas::open(path);
    return ptxas ? "none" : llvm::toString(ptxas.takeError());
  }

  static constexpr const char *kVersion =
      "if [ \"$1\" = --version ]; then echo 'ptxas: NVIDIA (R) Ptx optimizing "
      "assembler'; echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit "
      "0; fi\n";
  static constexpr const char *kProbe =
      "if grep -q 'version 99.9' \"$4\"; then echo \"Unsupported .version "
      "99.9; "
      "current version is '9.0'\"; exit 255; fi\n";
  std::string folder;
};

} // namespace

TEST(Ptxas, ReadsVersions) {
  EXPECT_EQ(Ptxas::parseVersion(
                "ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation "
                "tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0\n"),
            "13.0.88");
  for (const char *text :
       {"", "ptxas", "ptxas release 13.0", "ptxas release 13.0, V",
        "ptxas release 13.0, V12.9.1", "gcc, release 13.0, V13.0.88"})
    EXPECT_EQ(Ptxas::parseVersion(text), "") << text;
  EXPECT_EQ(Ptxas::parsePtxVersion("fatal   : Unsupported .version 99.9; "
                                   "current version is '9.0'"),
            90u);
  EXPECT_EQ(Ptxas::parsePtxVersion("current version is '12.3'"), 123u);
  for (const char *text :
       {"", "current version is ''", "current version is '9'",
        "current version is '9.0", "current version is '9.12'",
        "current version is 'x.0'"})
    EXPECT_EQ(Ptxas::parsePtxVersion(text), 0u) << text;
}

TEST(Ptxas, TheRealOneIsFoundAndSaysWhatItReads) {
  Ptxas ptxas = realPtxas();
  EXPECT_GE(ptxas.ptxVersion(), 80u);
  EXPECT_GE(std::count(ptxas.version().begin(), ptxas.version().end(), '.'), 2)
      << ptxas.version();
}

TEST(Ptxas, AssemblesACleanKernel) {
  auto assembled = realPtxas().assemble(cleanPtx(), "sm_90a");
  ASSERT_TRUE(static_cast<bool>(assembled))
      << llvm::toString(assembled.takeError());
  EXPECT_EQ(assembled->cubin.substr(1, 3), "ELF");
  EXPECT_EQ(assembled->report.functions, 1);
  EXPECT_GE(assembled->report.registers, 8);
  EXPECT_GT(assembled->milliseconds, 0);
  EXPECT_EQ(llvm::toString(checkPtxasReport(assembled->report)), "")
      << assembled->log;
}

TEST(Ptxas, ReportsSpills) {
  PtxasReport report = reportOf(spillingPtx());
  EXPECT_GT(report.spillStores, 0);
  EXPECT_GT(report.spillLoads, 0);
  EXPECT_EQ(report.registers, 32);
  EXPECT_NE(verdict(spillingPtx()).find("spill stores: got "),
            std::string::npos);
}

TEST(Ptxas, ReportsStackFrames) {
  EXPECT_EQ(verdict(stackPtx()), "stack frame: got 64 bytes, expected 0");
}

TEST(Ptxas, ReportsDroppedReallocation) {
  std::string text = verdict(reallocatingPtx());
  EXPECT_EQ(text.find("register reallocation: got '(C7508) "), 0u) << text;
}

TEST(Ptxas, ReportsWgmmaThatItSerialises) {
  std::string product = ptxProduct(), registerA = ptxProduct(true);
  std::string fence = ptxFence(), commit = ptxCommit(), wait = ptxWait();
  // Which of the messages it picks differs between versions.
  struct Case {
    const char *what;
    std::string body;
  } cases[] = {
      {"a result is read before the wait",
       fence + product + commit + "st.global.f32 [%rd1], %f0;\n" + wait},
      {"nobody waits", fence + product + commit},
      {"A changes while a group reads it",
       "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];\n" + fence + registerA +
           commit + "add.u32 %r1, %r1, 1; add.u32 %r2, %r2, 1;\n" + registerA +
           commit + wait},
      {"products in divergent paths",
       fence + product + commit + "setp.lt.u32 %p, %r1, 9; @%p bra L;\n" +
           product + commit + "L:\n" + wait},
  };
  for (const Case &test : cases) {
    SCOPED_TRACE(test.what);
    std::string text = verdict(ptxKernel(test.body));
    EXPECT_NE(text.find("wgmma: got '(C75"), std::string::npos) << text;
  }
}

TEST(Ptxas, RefusesTextThatIsNoPtx) {
  for (const char *text : {"", "garbage\n", ".version 99.9\n"}) {
    auto assembled = realPtxas().assemble(text, "sm_90a");
    ASSERT_FALSE(static_cast<bool>(assembled)) << text;
    std::string message = llvm::toString(assembled.takeError());
    EXPECT_EQ(message.find("ptxas: got exit status 255 from '"), 0u) << message;
    EXPECT_NE(message.find("expected 0: ptxas "), std::string::npos) << message;
  }
  auto assembled = realPtxas().assemble(cleanPtx(), "sm_12");
  ASSERT_FALSE(static_cast<bool>(assembled));
  EXPECT_NE(llvm::toString(assembled.takeError()).find("sm_12"),
            std::string::npos);
}

TEST(Ptxas, LeavesNoFiles) {
  auto count = [] {
    int64_t files = 0;
    for (const auto &entry : fs::directory_iterator(fs::temp_directory_path()))
      files += entry.path().filename().string().find("sparseattn-ptxas") == 0;
    return files;
  };
  Ptxas ptxas = realPtxas();
  std::string folder = ::testing::TempDir() + "ptxas-temporary";
  fs::create_directories(folder);
  ASSERT_EQ(::setenv("TMPDIR", folder.c_str(), 1), 0);
  llvm::consumeError(ptxas.assemble(cleanPtx(), "sm_90a").takeError());
  llvm::consumeError(ptxas.assemble("garbage", "sm_90a").takeError());
  EXPECT_EQ(count(), 0);
  EXPECT_TRUE(fs::is_empty(folder));
  // A folder that is not there.
  fs::remove_all(folder);
  auto assembled = ptxas.assemble(cleanPtx(), "sm_90a");
  ASSERT_EQ(::unsetenv("TMPDIR"), 0);
  ASSERT_FALSE(static_cast<bool>(assembled));
  EXPECT_EQ(llvm::toString(assembled.takeError()),
            "temporary folder for ptxas: got 'No such file or directory', "
            "expected a folder that can be written (TMPDIR names one)");
}

TEST_F(PosingPtxas, MissingFiles) {
  EXPECT_EQ(failureOf(folder + "/none"),
            "ptxas: got '" + folder +
                "/none', which does not exist, expected NVIDIA's assembler");
  EXPECT_EQ(failureOf(folder),
            "ptxas: got '" + folder +
                "', which cannot be executed, expected NVIDIA's assembler");
}

TEST_F(PosingPtxas, FilesThatCannotRun) {
  std::string path = script("exit 0");
  fs::permissions(path, fs::perms::owner_read);
  EXPECT_EQ(failureOf(path),
            "ptxas: got '" + path +
                "', which cannot be executed, expected NVIDIA's assembler");
  // May be executed, and is no program.
  std::ofstream(path, std::ios::trunc);
  fs::remove(path);
  std::ofstream(path) << "\177ELF but no more";
  fs::permissions(path, fs::perms::owner_all);
  std::string message = failureOf(path);
  EXPECT_EQ(message.find("ptxas: got "), 0u) << message;
}

TEST_F(PosingPtxas, OtherPrograms) {
  std::string path = script("echo 'gcc (Debian) 12'", false);
  EXPECT_EQ(failureOf(path),
            "ptxas: got '" + path +
                "', whose --version says 'gcc (Debian) 12', expected NVIDIA's "
                "'release X.Y, VX.Y.Z'");
  path = script("exit 3", false);
  EXPECT_NE(failureOf(path).find("whose --version says ''"), std::string::npos);
}

TEST_F(PosingPtxas, Killed) {
  std::string path = script("kill -9 $$", false);
  std::string message = failureOf(path);
  EXPECT_EQ(message.find("ptxas: got 'Killed' from '" + path +
                         "', expected it to run to its end"),
            0u)
      << message;
}

TEST_F(PosingPtxas, KilledWhileItAssembles) {
  std::string path = script(std::string(kProbe) + "kill -9 $$");
  llvm::Expected<Ptxas> ptxas = Ptxas::open(path);
  ASSERT_TRUE(static_cast<bool>(ptxas)) << llvm::toString(ptxas.takeError());
  auto assembled = ptxas->assemble(cleanPtx(), "sm_90a");
  ASSERT_FALSE(static_cast<bool>(assembled));
  EXPECT_EQ(llvm::toString(assembled.takeError()),
            "ptxas: got 'Killed' from '" + path +
                "', expected it to run to its end");
}

TEST_F(PosingPtxas, TooOld) {
  std::string path = script("echo \"Unsupported .version 99.9; current version "
                            "is '7.8'\"; exit 255");
  EXPECT_EQ(failureOf(path), "ptxas: got '" + path +
                                 "', version 13.0.88 with PTX ISA 7.8, "
                                 "expected 8.0 or newer (CUDA 12.0)");
}

TEST_F(PosingPtxas, DoesNotNameItsIsa) {
  std::string path = script("exit 1");
  EXPECT_NE(failureOf(path).find("which does not name its newest PTX ISA: "),
            std::string::npos);
}

TEST_F(PosingPtxas, LeavesNoCubin) {
  // The last is a real one, cut off as on a full disk.
  std::string cut =
      "'" + Ptxas::locate() + "' \"$@\" && truncate -s 500 \"$6\"";
  for (const std::string &body :
       {std::string("exit 0"), std::string("echo text > \"$6\""),
        std::string(": > \"$6\""), cut}) {
    std::string path = script(kProbe + body);
    llvm::Expected<Ptxas> ptxas = Ptxas::open(path);
    ASSERT_TRUE(static_cast<bool>(ptxas)) << llvm::toString(ptxas.takeError());
    auto assembled = ptxas->assemble(cleanPtx(), "sm_90a");
    ASSERT_FALSE(static_cast<bool>(assembled));
    // What follows is the log, which the real one writes.
    std::string start =
        "ptxas: got no cubin from '" + path + "', expected a whole ELF file: ";
    std::string error = llvm::toString(assembled.takeError());
    EXPECT_EQ(body == cut ? error.substr(0, start.size()) : error, start);
  }
}

TEST_F(PosingPtxas, IsTakenFromCudaHomeFirst) {
  std::string path = script("exit 0");
  fs::create_directories(folder + "/bin");
  fs::rename(path, folder + "/bin/ptxas");
  const char *before = std::getenv("CUDA_HOME");
  std::string old = before ? before : "";
  ASSERT_EQ(::setenv("CUDA_HOME", folder.c_str(), 1), 0);
  EXPECT_EQ(Ptxas::locate(), folder + "/bin/ptxas");
  // One that is no program is passed over.
  fs::permissions(folder + "/bin/ptxas", fs::perms::owner_read);
  EXPECT_NE(Ptxas::locate(), folder + "/bin/ptxas");
  if (before)
    ::setenv("CUDA_HOME", old.c_str(), 1);
  else
    ::unsetenv("CUDA_HOME");
}

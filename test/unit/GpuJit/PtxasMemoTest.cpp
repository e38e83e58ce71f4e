//===- PtxasMemoTest.cpp - Which ptxas a file is, without running it ------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PtxasMemo.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace mlir::sparseattn;
namespace fs = std::filesystem;

namespace {

class PtxasMemoTest : public ::testing::Test {
protected:
  void SetUp() override {
    folder = ::testing::TempDir() + "ptxas-memo." + std::to_string(::getpid());
    fs::remove_all(folder);
    fs::create_directories(folder);
    program = folder + "/ptxas";
    fs::copy_file("/bin/true", program);
  }
  void TearDown() override { fs::remove_all(folder); }

  llvm::Expected<GpuTarget> open() {
    return gpuTargetWithMemo(program, folder + "/cache", 1 << 20);
  }
  void remember(const std::string &memo) {
    sart::DiskCache(folder + "/cache")
        .store("ptxas " + identityOfProgram(program), memo);
  }

  std::string folder, program;
};

} // namespace

TEST_F(PtxasMemoTest, ProgramsHaveAnIdentityThatChangesWithThem) {
  std::string before = identityOfProgram(program);
  EXPECT_EQ(before.find(fs::canonical(program).string() + " "), 0u) << before;
  EXPECT_EQ(identityOfProgram(program), before);
  // The same size and date, another content.
  auto time = fs::last_write_time(program);
  std::fstream(program, std::ios::in | std::ios::out).seekp(100) << "changed";
  fs::last_write_time(program, time);
  EXPECT_NE(identityOfProgram(program), before);
  // Through a link it is the same program.
  fs::create_symlink(program, folder + "/link");
  EXPECT_EQ(identityOfProgram(folder + "/link"), identityOfProgram(program));
}

TEST_F(PtxasMemoTest, ScriptsAndOtherThingsHaveNone) {
  std::ofstream(program, std::ios::trunc) << "#!/bin/sh\nexec other\n";
  EXPECT_EQ(identityOfProgram(program), "");
  std::ofstream(program, std::ios::trunc) << "#!";
  EXPECT_EQ(identityOfProgram(program), "");
  EXPECT_EQ(identityOfProgram(folder), "");
  EXPECT_EQ(identityOfProgram(folder + "/absent"), "");
}

TEST_F(PtxasMemoTest, WhatWasAskedIsNotAskedAgain) {
  // /bin/true is no ptxas; who runs it finds out.
  auto asked = open();
  ASSERT_FALSE(static_cast<bool>(asked));
  EXPECT_NE(llvm::toString(asked.takeError()).find("whose --version says"),
            std::string::npos);
  remember("13.4.5 84");
  auto target = open();
  ASSERT_TRUE(static_cast<bool>(target)) << llvm::toString(target.takeError());
  EXPECT_EQ(target->ptxasVersion(), "13.4.5");
  EXPECT_EQ(target->ptxVersion, 84u);
  EXPECT_EQ(target->ptxas->path(), program);
}

TEST_F(PtxasMemoTest, OtherMemosAreAskedAnew) {
  for (const char *memo : {"", "13.4.5", " 84", "13.4.5 x", "13.4.5 -1"}) {
    remember(memo);
    auto target = open();
    EXPECT_FALSE(static_cast<bool>(target)) << memo;
    llvm::consumeError(target.takeError());
  }
}

TEST_F(PtxasMemoTest, TheRealOneIsRemembered) {
  std::string real = Ptxas::locate();
  ASSERT_NE(real, "") << Ptxas::notFound();
  for (int i = 0; i < 2; ++i) {
    auto target = gpuTargetWithMemo("", folder + "/cache", 1 << 20);
    ASSERT_TRUE(static_cast<bool>(target))
        << llvm::toString(target.takeError());
    EXPECT_EQ(target->ptxas->path(), real);
    EXPECT_EQ(target->ptxVersion, std::min(GpuTarget::newestPtxOfLlvm(),
                                           target->ptxas->ptxVersion()));
  }
}

TEST_F(PtxasMemoTest, NoneIsNone) {
  auto target = gpuTargetWithMemo("none", folder + "/cache", 1 << 20);
  ASSERT_TRUE(static_cast<bool>(target));
  EXPECT_FALSE(target->ptxas);
}

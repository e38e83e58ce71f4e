//===- PtxasLogTest.cpp - Reading what ptxas says -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Jit/PtxasLog.h"

#include <gtest/gtest.h>

using namespace mlir::sparseattn;

namespace {

std::string verdict(const PtxasReport &report) {
  return llvm::toString(checkPtxasReport(report));
}

/// The lines that every version has.
std::string logOf(const std::string &properties, const std::string &used,
                  const std::string &before = "") {
  return before +
         "ptxas info    : 0 bytes gmem\n"
         "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
         "ptxas info    : Function properties for k\n    " +
         properties + "\nptxas info    : " + used +
         "\nptxas info    : Compile time = 2.302 ms\n";
}

constexpr const char *kClean =
    "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads";

} // namespace

TEST(PtxasLog, ReadsEveryNumber) {
  PtxasReport report = parsePtxasLog(
      logOf("232 bytes stack frame, 228 bytes spill stores, 224 bytes spill "
            "loads",
            "Used 168 registers, used 4 barriers, 232 bytes cumulative stack "
            "size, 1088 bytes smem, 400 bytes cmem[0]"));
  EXPECT_EQ(report.functions, 1);
  EXPECT_EQ(report.registers, 168);
  EXPECT_EQ(report.barriers, 4);
  EXPECT_EQ(report.stack, 232);
  EXPECT_EQ(report.spillStores, 228);
  EXPECT_EQ(report.spillLoads, 224);
  EXPECT_EQ(report.staticShared, 1088);
  EXPECT_TRUE(report.advisories.empty());
  EXPECT_TRUE(report.warnings.empty());
}

TEST(PtxasLog, TakesTheLargestOfSeveralFunctions) {
  PtxasReport report = parsePtxasLog(
      logOf("8 bytes stack frame, 0 bytes spill stores, 4 bytes spill loads",
            "Used 40 registers") +
      logOf("0 bytes stack frame, 16 bytes spill stores, 0 bytes spill loads",
            "Used 32 registers, used 2 barriers"));
  EXPECT_EQ(report.functions, 2);
  EXPECT_EQ(report.registers, 40);
  EXPECT_EQ(report.barriers, 2);
  EXPECT_EQ(report.stack, 8);
  EXPECT_EQ(report.spillStores, 16);
  EXPECT_EQ(report.spillLoads, 4);
}

TEST(PtxasLog, CleanKernelsPass) {
  PtxasReport report =
      parsePtxasLog(logOf(kClean, "Used 168 registers, used 3 barriers"));
  EXPECT_EQ(verdict(report), "");
}

TEST(PtxasLog, EveryByteCounts) {
  auto of = [](const char *properties) {
    return verdict(parsePtxasLog(logOf(properties, "Used 8 registers")));
  };
  EXPECT_EQ(of("1 bytes stack frame, 0 bytes spill stores, 0 bytes spill "
               "loads"),
            "stack frame: got 1 bytes, expected 0");
  EXPECT_EQ(of("0 bytes stack frame, 4 bytes spill stores, 8 bytes spill "
               "loads"),
            "spill stores: got 4 bytes, expected 0; spill loads: got 8 bytes, "
            "expected 0");
}

TEST(PtxasLog, RefusesTheWholeFamilyOfWgmmaMessages) {
  for (int code : {7509, 7510, 7511, 7513, 7514, 7515, 7517, 7519, 7520}) {
    std::string message = "(C" + std::to_string(code) +
                          ") wgmma.mma_async instructions are serialized";
    PtxasReport report = parsePtxasLog(
        logOf(kClean, "Used 8 registers", "ptxas info    : " + message + "\n"));
    ASSERT_EQ(report.advisories, std::vector<std::string>{message});
    EXPECT_EQ(verdict(report),
              "wgmma: got '" + message +
                  "', expected no serialisation and no added waits");
  }
}

TEST(PtxasLog, RefusesDroppedReallocation) {
  std::string message = "(C7508) Potential Performance Loss: 'setmaxnreg' "
                        "ignored; unable to determine register count at entry.";
  PtxasReport report = parsePtxasLog(
      logOf(kClean, "Used 8 registers", "ptxas info    : " + message + "\n"));
  EXPECT_EQ(verdict(report),
            "register reallocation: got '" + message +
                "', expected it to be kept (nvvm.maxntid and nvvm.minctasm on "
                "the kernel)");
}

TEST(PtxasLog, RefusesLossesOfOtherCodes) {
  PtxasReport report = parsePtxasLog(
      logOf(kClean, "Used 8 registers",
            "ptxas info    : (C9001) Potential Performance Loss: new\n"
            "ptxas info    : (C9002) something to know\n"));
  EXPECT_EQ(report.advisories.size(), 2u);
  EXPECT_EQ(verdict(report),
            "ptxas: got '(C9001) Potential Performance Loss: new', expected no "
            "loss");
}

TEST(PtxasLog, KeepsWarnings) {
  PtxasReport report = parsePtxasLog(
      logOf(kClean, "Used 8 registers",
            "ptxas warning : Stack size for entry function 'k' cannot be "
            "statically determined\n"
            "ptxas a: b.ptx, line 3; warning : (C7000) both at once\n"));
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0], "Stack size for entry function 'k' cannot be "
                                "statically determined");
  EXPECT_EQ(verdict(report), "");
}

TEST(PtxasLog, SilenceIsNoPass) {
  for (const char *log :
       {"", "\n\n", "ptxas info    : 0 bytes gmem\n", "garbage (C7513",
        "bytes stack", "ptxas info    : ", "ptxas", ": : :"}) {
    PtxasReport report = parsePtxasLog(log);
    EXPECT_EQ(report.functions, 0) << log;
    EXPECT_EQ(verdict(report), "functions that ptxas tells of: got 0, expected "
                               "1 or more")
        << log;
  }
}

TEST(PtxasLog, NumbersOutOfRangeAreNone) {
  PtxasReport report = parsePtxasLog(
      "    99999999999999999999 bytes stack frame, x bytes spill stores\n"
      "ptxas info    : Used 99999999999999999999999 registers\n"
      "ptxas info    : (C99999999999999999999999) huge\n");
  EXPECT_EQ(report.functions, 1);
  EXPECT_EQ(report.stack, 0);
  EXPECT_EQ(report.registers, 0);
  EXPECT_TRUE(report.advisories.empty());
}

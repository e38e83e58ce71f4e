//===- GpuTargetTest.cpp - Chips and PTX versions -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Jit/GpuTarget.h"

#include "llvm/Target/TargetMachine.h"

#include <gtest/gtest.h>

using namespace mlir::sparseattn;

static std::string failureOf(const GpuTarget &target) {
  auto machine = target.createTargetMachine();
  return machine ? "none" : llvm::toString(machine.takeError());
}

TEST(GpuTarget, TakesTheNewestIsaThatBothKnow) {
  auto target = GpuTarget::get();
  ASSERT_TRUE(static_cast<bool>(target)) << llvm::toString(target.takeError());
  ASSERT_TRUE(target->ptxas) << Ptxas::notFound();
  EXPECT_EQ(target->chip, "sm_90a");
  EXPECT_EQ(target->ptxVersion, std::min(GpuTarget::newestPtxOfLlvm(),
                                         target->ptxas->ptxVersion()));
  EXPECT_EQ(target->ptxasVersion(), target->ptxas->version());
  EXPECT_EQ(failureOf(*target), "none");
}

TEST(GpuTarget, LlvmKnowsVersions) {
  // What LLVM 22 has: 9.0.
  EXPECT_GE(GpuTarget::newestPtxOfLlvm(), 90u);
  EXPECT_LT(GpuTarget::newestPtxOfLlvm(), 200u);
}

TEST(GpuTarget, WithoutPtxasIsTheOldestIsaOfTheChip) {
  auto target = GpuTarget::get("none");
  ASSERT_TRUE(static_cast<bool>(target)) << llvm::toString(target.takeError());
  EXPECT_FALSE(target->ptxas);
  EXPECT_EQ(target->ptxVersion, 80u);
  EXPECT_EQ(target->ptxasVersion(), "none");
  EXPECT_EQ(failureOf(*target), "none");
}

TEST(GpuTarget, RefusesWhatLlvmDoesNotKnow) {
  GpuTarget target = GpuTarget::withoutPtxas("sm_9000");
  EXPECT_EQ(failureOf(target), "chip is not known: got 'sm_9000', expected a "
                               "name of LLVM such as sm_90a");
  target = GpuTarget::withoutPtxas();
  target.ptxVersion = 89;
  EXPECT_EQ(failureOf(target),
            "PTX ISA is not known: got 'ptx89', expected one that LLVM writes, "
            "up to ptx" +
                std::to_string(GpuTarget::newestPtxOfLlvm()));
}

TEST(GpuTarget, RefusesAPtxasThatIsNone) {
  auto target = GpuTarget::get("/no/such/ptxas");
  ASSERT_FALSE(static_cast<bool>(target));
  EXPECT_EQ(llvm::toString(target.takeError()),
            "ptxas: got '/no/such/ptxas', which does not exist, expected "
            "NVIDIA's assembler");
}

//===- KernelProblemTest.cpp - Wrong attention must not pass --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaKernelProblem.h"
#include "CudaSession.h"
#include "DoubleKernels.h"

#include <gtest/gtest.h>

using namespace sart;
using namespace sart::cuda;

namespace {

class KernelProblemTest : public ::testing::Test {
protected:
  void SetUp() override {
    shape.heads = 2;
    shape.kvHeads = 1;
    shape.sq = 130;
    shape.skv = 100;
    shape.headDim = 64;
    shape.blockQ = shape.blockK = 64;
    shape.dtype = DType::BF16;
    spec.dtype = spec.outDtype = DType::BF16;
    spec.headDim = 64;
    spec.blockQ = spec.blockK = 64;
    table = doubleKernels(driver, {spec});
    auto opened = CudaSession::open(driver.driver());
    ASSERT_TRUE(opened.ok()) << opened.message();
    session = std::move(*opened);
    modules = std::make_unique<CudaModuleTable>(session.device);
    auto made = CudaKernelProblem::create(session.stream, shape, 2, 3);
    ASSERT_TRUE(made.ok()) << made.message();
    problem.emplace(std::move(*made));
    lists.emplace(BlockLists::random(shape, 1, 1).withEmptyRows());
    ok(problem->useLists(*lists));
    ok(problem->poison());
    const LoadedKernel *kernel = table->find(spec);
    auto function = modules->function(kernel->binary, kernel->launch->entry);
    ASSERT_TRUE(function.ok()) << function.message();
    ok(problem->launch(**function, *kernel->launch, 1));
  }
  void TearDown() override {
    problem.reset();
    modules.reset();
    session = CudaSession();
  }
  static void ok(const Status &status) {
    EXPECT_TRUE(status.ok()) << status.message();
  }
  DeviceCheck check(int64_t set = 1) {
    auto found = problem->check(*lists, set, true);
    EXPECT_TRUE(found.ok()) << found.message();
    return found ? *found : DeviceCheck();
  }
  /// Overwrites one row of o of a head.
  void overwrite(int64_t head, int64_t row, uint8_t byte, int64_t elements) {
    ok(session.stream->fill(problem->result() +
                                DevicePtr((head * 130 + row) * 64 * 2),
                            byte, elements * 2));
  }

  DriverDouble driver;
  CudaSession session;
  std::unique_ptr<CudaModuleTable> modules;
  std::shared_ptr<KernelTable> table;
  LayerShape shape;
  KernelSpec spec;
  std::optional<CudaKernelProblem> problem;
  std::optional<BlockLists> lists;
};

} // namespace

TEST_F(KernelProblemTest, PassesRightResults) {
  DeviceCheck found = check();
  EXPECT_TRUE(found.passed());
  EXPECT_GT(found.rows, 20);
  EXPECT_GT(found.relative, 1e-4); // bf16 rounds
  EXPECT_LT(found.relative, 4e-3);
}

TEST_F(KernelProblemTest, SeesResultsOfOtherInputs) {
  DeviceCheck found = check(0);
  EXPECT_FALSE(found.passed());
  EXPECT_GT(found.relative, 0.5);
}

TEST_F(KernelProblemTest, SeesOneElementThatWasNotWritten) {
  overwrite(1, 77, 0xff, 1);
  DeviceCheck found = check();
  EXPECT_EQ(found.notWritten, 1);
  EXPECT_FALSE(found.passed());
}

TEST_F(KernelProblemTest, SeesAWrongTailRow) {
  overwrite(0, 129, 0, 64);
  DeviceCheck found = check();
  EXPECT_EQ(found.notWritten, 0);
  EXPECT_GT(found.relative, 0.05);
  EXPECT_FALSE(found.passed());
}

TEST_F(KernelProblemTest, SeesAnEmptyRowThatIsNotZero) {
  overwrite(0, 5, 0x11, 1);
  DeviceCheck found = check();
  EXPECT_EQ(found.wrongEmpty, 1);
  EXPECT_FALSE(found.passed());
}

TEST_F(KernelProblemTest, LaunchesEveryTileOnceWithItsArguments) {
  ok(session.stream->synchronize());
  ASSERT_EQ(driver.launches.size(), 1u);
  const DoubleLaunch &launch = driver.launches.front();
  EXPECT_EQ(launch.kernel, "attend_bf16_bf16_d64_q64_k64");
  // 2 heads x 3 blocks, 2 at once.
  EXPECT_EQ(launch.grid[0], 3u);
  EXPECT_EQ(launch.argument<int32_t>(3), 6);
  EXPECT_EQ(launch.argument<int64_t>(5), 64);
  EXPECT_EQ(launch.argument<int32_t>(6), 3);
  EXPECT_FLOAT_EQ(launch.argument<float>(7), 0.125f * 1.44269504f);
}

//===- RoutingProblemTest.cpp - Wrong routing must not pass ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaRoutingProblem.h"
#include "CudaSession.h"
#include "DoubleKernels.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace sart;
using namespace sart::cuda;

namespace {

class RoutingProblemTest : public ::testing::Test {
protected:
  void SetUp() override {
    shape.heads = 4;
    shape.kvHeads = 2;
    shape.sq = shape.skv = 600;
    shape.headDim = 64;
    shape.blockQ = shape.blockK = 64;
    shape.dtype = DType::BF16;
    for (const char *name : {"pool_bf16_d64_b64", "route_d64", "order_tiles"})
      addKernelByName(driver, name);
  }
  /// The check of routing by the double's kernels.
  RoutingCheck check(RoutingSettings settings = {}) {
    auto session = CudaSession::open(driver.driver());
    EXPECT_TRUE(session.ok()) << session.message();
    auto problem =
        CudaRoutingProblem::create(session->stream, shape, settings, 1, 9);
    EXPECT_TRUE(problem.ok()) << problem.message();
    CudaModuleTable modules(session->device);
    auto image = std::make_shared<const std::string>("\x7f"
                                                     "ELF sm_90a");
    Status prepared = problem->prepare(
        [&](const std::string &name) { return modules.function(image, name); },
        settings);
    EXPECT_TRUE(prepared.ok()) << prepared.message();
    auto found = problem->check();
    EXPECT_TRUE(found.ok()) << found.message();
    return found ? *found : RoutingCheck();
  }
  void replace(const char *name, std::vector<size_t> parameters,
               std::function<void(const DoubleLaunch &)> body = nullptr) {
    if (!body)
      body = [](const DoubleLaunch &) {};
    driver.addKernel(name, std::move(parameters), std::move(body));
  }
  static std::vector<size_t> routeParameters() {
    return {8, 4, 4, 4, 4, 4, 4, 8, 4};
  }

  DriverDouble driver;
  LayerShape shape;
};

} // namespace

TEST_F(RoutingProblemTest, PassesRightResults) {
  RoutingCheck found = check();
  EXPECT_TRUE(found.passed());
  EXPECT_EQ(found.rows, 4 * 10);
  EXPECT_GT(found.density, 0.1);
  EXPECT_LT(found.density, 0.9);
}

TEST_F(RoutingProblemTest, KeepsTheFloorAndAll) {
  RoutingSettings settings;
  settings.p = 1e-3;
  settings.minBlocks = 3;
  RoutingCheck found = check(settings);
  EXPECT_TRUE(found.passed());
  EXPECT_DOUBLE_EQ(found.density, 0.3);
  settings.p = 1;
  found = check(settings);
  EXPECT_TRUE(found.passed());
  EXPECT_EQ(found.density, 1);
}

TEST_F(RoutingProblemTest, SeesMeansThatWereNotWritten) {
  replace("pool_bf16_d64_b64", {8, 4});
  RoutingCheck found = check();
  EXPECT_TRUE(std::isinf(found.meanError));
  EXPECT_FALSE(found.passed());
}

TEST_F(RoutingProblemTest, SeesWrongSets) {
  replace("route_d64_r16", routeParameters(), [](const DoubleLaunch &launch) {
    auto *records =
        reinterpret_cast<DeviceRouteRecord *>(launch.argument<uint64_t>(0));
    for (int head = 0; head < 4; ++head)
      for (int row = 0; row < 10; ++row) {
        auto *list = reinterpret_cast<int32_t *>(records[head].mask) +
                     row * records[head].maskStride;
        list[0] = 1;
        list[1] = 0;
      }
  });
  RoutingCheck found = check();
  EXPECT_EQ(found.wrongRows, 0);
  EXPECT_GT(found.wrongBlocks, 0);
  EXPECT_FALSE(found.passed());
}

TEST_F(RoutingProblemTest, SeesListsThatWereNotWritten) {
  replace("route_d64_r16", routeParameters());
  RoutingCheck found = check();
  EXPECT_EQ(found.wrongRows, 40);
  EXPECT_FALSE(found.passed());
}

TEST_F(RoutingProblemTest, SeesWrongLoadsAndTiles) {
  replace("route_totals", {8, 8});
  replace("order_tiles", {8, 8, 4});
  RoutingCheck found = check();
  EXPECT_EQ(found.wrongLoads, 4);
  EXPECT_EQ(found.wrongTiles, 4);
  EXPECT_FALSE(found.passed());
}

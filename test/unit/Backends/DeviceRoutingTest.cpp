//===- DeviceRoutingTest.cpp - Launch shapes of the routing kernels -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/DeviceRouting.h"

#include "gtest/gtest.h"

using namespace sart;

TEST(DeviceRouting, RoutesSixteenRowsInACtaWhileTheyFit) {
  auto launch = deviceRouteLaunch(128, 40, 591, 591);
  ASSERT_TRUE(launch.ok()) << launch.message();
  EXPECT_EQ(launch->kernel, "route_d128_r16");
  EXPECT_EQ(launch->rowsPerCta, 16);
  EXPECT_EQ(launch->ctasPerRecord, 37);
  EXPECT_EQ(launch->grid, 40 * 37);
  EXPECT_EQ(launch->threads, 512);
  EXPECT_EQ(launch->scoreStride, 640);
  EXPECT_EQ(launch->sharedBytes, 16 * 1040 + 16 * 640 * 16);
}

TEST(DeviceRouting, RoutesFewerRowsInACtaOfLongSequences) {
  struct {
    int64_t kvBlocks;
    int32_t rows;
  } cases[] = {{768, 16}, {769, 8},  {1182, 8}, {1664, 8},
               {1665, 4}, {4680, 2}, {8192, 1}, {13952, 1}};
  for (auto [kvBlocks, rows] : cases) {
    auto launch = deviceRouteLaunch(128, 1, 100, kvBlocks);
    ASSERT_TRUE(launch.ok()) << launch.message();
    EXPECT_EQ(launch->rowsPerCta, rows) << kvBlocks;
    EXPECT_LE(launch->sharedBytes, maxDeviceSharedBytes);
    EXPECT_EQ(launch->threads, rows == 16 ? 512 : 256);
  }
  EXPECT_EQ(deviceRouteLaunch(256, 1, 100, 591)->kernel, "route_d256_r8");
  auto launch = deviceRouteLaunch(128, 1, 100, 13953);
  ASSERT_FALSE(launch.ok());
  EXPECT_EQ(launch.message(),
            "kv-blocks of a routed row exceed the shared memory of a thread "
            "block: got 13953, expected at most 13952 (use larger blocks)");
}

TEST(DeviceRouting, SortsUpTo32768RowsOfAnEntry) {
  auto launch = deviceOrderLaunch(3, 591);
  ASSERT_TRUE(launch.ok()) << launch.message();
  EXPECT_EQ(launch->grid, 3);
  EXPECT_EQ(launch->sortSize, 1024);
  EXPECT_EQ(launch->threads, 512);
  EXPECT_EQ(launch->sharedBytes, 4096);
  auto one = deviceOrderLaunch(1, 1);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->sortSize, 2);
  EXPECT_EQ(one->threads, 32);
  auto most = deviceOrderLaunch(1, 32768);
  ASSERT_TRUE(most.ok());
  EXPECT_EQ(most->threads, 1024);
  EXPECT_EQ(deviceOrderLaunch(1, 32769).message(),
            "q-blocks of an entry exceed the shared memory of a thread block: "
            "got 32769, expected at most 32768");
}

TEST(DeviceRouting, RefusesGridsThatAreTooLarge) {
  EXPECT_EQ(devicePoolLaunch("pool_bf16_d128_b128", 40, 591)->grid, 23640);
  EXPECT_EQ(devicePoolLaunch("pool_bf16_d128_b128", 1 << 20, 1 << 11).message(),
            "grid of pool_bf16_d128_b128 out of range: got 1048576 records of "
            "2048 thread blocks, expected 1 to 2147483647 in all");
  EXPECT_EQ(deviceMergeLaunch(0, 7).message(),
            "grid of merge_f32 out of range: got 0 records of 1 thread blocks, "
            "expected 1 to 2147483647 in all");
  EXPECT_EQ(deviceConvertLaunch("convert_f32_bf16", 2, 129, 64)->grid, 4);
  EXPECT_EQ(deviceTotalsLaunch(7)->grid, 7);
}

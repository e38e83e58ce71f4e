//===- MachineTest.cpp - What a machine costs -----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Machine.h"
#include "MachineTestSupport.h"

#include <gtest/gtest.h>

using namespace sart;
using namespace sart::test;

namespace {

LayerShape shapeOf(DType dtype, int64_t blockQ, int64_t blockK,
                   int64_t headDim) {
  LayerShape shape;
  shape.heads = shape.kvHeads = 8;
  shape.sq = shape.skv = 1024;
  shape.headDim = headDim;
  shape.blockQ = blockQ;
  shape.blockK = blockK;
  shape.dtype = dtype;
  return shape;
}

TEST(Machine, LevelsAreTheInnermostThatHaveBothRanks) {
  Machine machine = islands();
  EXPECT_EQ(machine.ranks(), 8);
  EXPECT_EQ(machine.levelOf(0, 3), 0u);
  EXPECT_EQ(machine.levelOf(3, 4), 1u);
  EXPECT_EQ(machine.levelOf(6, 5), 0u);
  EXPECT_EQ(machine.levelOf(7, 0), 1u);
  machine.links.clear();
  EXPECT_EQ(machine.ranks(), 1);
}

TEST(Machine, TimesRoundUp) {
  Machine machine = islands();
  // 400 GB/s: 2.5 ps a byte; 25 GB/s: 40 ps.
  EXPECT_EQ(machine.transferPs(0, 0), 0);
  EXPECT_EQ(machine.transferPs(1, 0), 3);
  EXPECT_EQ(machine.transferPs(1000, 0), 2500);
  EXPECT_EQ(machine.transferPs(1000, 1), 40000);
  EXPECT_EQ(machine.memoryPs(3000), 1000);
  EXPECT_EQ(machine.transferPs(INT64_MAX, 1), INT64_MAX);
  Machine half = machine.withLinkRate(500);
  EXPECT_EQ(half.transferPs(1000, 0), 5000);
  EXPECT_EQ(machine.withLinkRate(2000).transferPs(1000, 1), 20000);
  EXPECT_EQ(half.memoryPs(3000), 1000);
}

TEST(Machine, KernelsThatAreListed) {
  Machine machine = islands();
  KernelCost cost = machine.kernelOf(shapeOf(DType::BF16, 128, 128, 128));
  EXPECT_TRUE(cost.exact);
  EXPECT_EQ(cost.tilePs, 13000);
  EXPECT_EQ(cost.rowPs, 4000);
  cost = machine.kernelOf(shapeOf(DType::BF16, 64, 64, 128));
  EXPECT_TRUE(cost.exact);
  EXPECT_EQ(cost.tilePs, 4000);
}

TEST(Machine, KernelsInProportion) {
  Machine machine = islands();
  // Half the tile of 128x128 d128, the same row.
  KernelCost cost = machine.kernelOf(shapeOf(DType::BF16, 128, 64, 128));
  EXPECT_FALSE(cost.exact);
  EXPECT_EQ(cost.tilePs, 6500);
  EXPECT_EQ(cost.rowPs, 4000);
  // The other type of 16 bits and half the head dimension.
  cost = machine.kernelOf(shapeOf(DType::F16, 128, 128, 64));
  EXPECT_FALSE(cost.exact);
  EXPECT_EQ(cost.tilePs, 6500);
  EXPECT_EQ(cost.rowPs, 2000);
  // No type of 32 bits is listed; 64x64 is nearest to 48x48: 9/16.
  cost = machine.kernelOf(shapeOf(DType::F32, 48, 48, 128));
  EXPECT_FALSE(cost.exact);
  EXPECT_EQ(cost.kernel.blockQ, 64);
  EXPECT_EQ(cost.tilePs, 2250);
  EXPECT_EQ(cost.rowPs, 750);
}

TEST(Machine, CostModelOfAPlacement) {
  Machine machine = islands();
  Placement placement;
  placement.mesh = {4, 2};
  placement.shape = shapeOf(DType::BF16, 128, 128, 128);
  CostModel model = machine.costModel(placement);
  EXPECT_EQ(model.tilePs, 13000);
  EXPECT_EQ(model.rowPs, 4000);
  EXPECT_EQ(model.transferPs, 15000000); // 10 us and a launch of 5
  EXPECT_EQ(model.bytePs, 3);            // 2.5 inside an island
  EXPECT_EQ(model.scheduleNs, 120000);   // 100 us and 20
  placement.mesh = {8, 1};
  model = machine.costModel(placement);
  EXPECT_EQ(model.bytePs, 40);
  placement.mesh = {1, 8};
  model = machine.costModel(placement);
  EXPECT_EQ(model.transferPs, 0); // no head can move
  EXPECT_EQ(model.bytePs, 0);
  // What every planner accepts, whatever the machine.
  machine.device.kernels[0].tilePs.value = 10000000000000;
  machine.device.launchPs.value = machine.links[1].latencyPs.value =
      10000000000000;
  PlannerOptions options;
  placement.mesh = {8, 1};
  placement.shape.headDim = 256;
  options.cost = machine.costModel(placement);
  EXPECT_EQ(options.verify().message(), "");
}

TEST(Machine, Refusals) {
  auto message = [](auto change) {
    Machine machine = islands();
    change(machine);
    return machine.verify().message();
  };
  EXPECT_EQ(message([](Machine &) {}), "");
  EXPECT_EQ(message([](Machine &m) { m.name.clear(); }),
            "name: got none, expected one");
  EXPECT_EQ(message([](Machine &m) { m.device.name.clear(); }),
            "device.name: got none, expected one");
  EXPECT_EQ(message([](Machine &m) { m.device.ranks = 0; }),
            "device.ranks out of range: got 0, expected 1 to 1024");
  EXPECT_EQ(message([](Machine &m) { m.device.multiprocessors.value = 0; }),
            "device.multiprocessors out of range: got 0, expected 1 to "
            "1048576");
  EXPECT_EQ(message([](Machine &m) { m.syncPs.value = -1; }),
            "sync_us out of range: got -1, expected 0 to 10000000000000 "
            "picoseconds");
  EXPECT_EQ(message([](Machine &m) { m.planPs.source = 1; }),
            "source of planning_us out of range: got 1, expected 0 to 0");
  EXPECT_EQ(message([](Machine &m) { m.device.kernels.clear(); }),
            "kernels: got none, expected at least one");
  EXPECT_EQ(message([](Machine &m) { m.device.kernels[1].headDim = 100; }),
            "kernels[1]: head dimension not supported: got 100, expected a "
            "multiple of 8 from 32 to 256");
  EXPECT_EQ(message([](Machine &m) { m.device.kernels[0].tilePs.value = 0; }),
            "kernels[0].tile_ns out of range: got 0, expected 1 to "
            "10000000000000 picoseconds");
  EXPECT_EQ(message([](Machine &m) {
              m.device.kernels[1].blockQ = m.device.kernels[1].blockK = 128;
            }),
            "kernels[1]: got the combination of kernels[0], expected another "
            "one");
  EXPECT_EQ(message([](Machine &m) { m.links[1].ranks = 6; }),
            "links[1].ranks: got 6, expected a multiple of 4 from 8 to 1024");
  EXPECT_EQ(message([](Machine &m) { m.links[0].ranks = 8; }),
            "links[1].ranks: got 8, expected a multiple of 8 from 16 to 1024");
  EXPECT_EQ(message([](Machine &m) { m.links[0].name.clear(); }),
            "links[0].name: got none, expected one");
  EXPECT_EQ(message([](Machine &m) { m.links[1].bytesPerS.value = 0; }),
            "links[1].gb_per_s out of range: got 0, expected 1000000 to "
            "1000000000000000 bytes a second");
}

} // namespace

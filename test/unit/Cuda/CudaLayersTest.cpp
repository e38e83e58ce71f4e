//===- CudaLayersTest.cpp - Layers on the GPU backend over the double -----===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaTestSupport.h"
#include "DoubleKernels.h"
#include "Executor/ExecutorTestSupport.h"

using namespace sart;
using namespace sart::cuda;
using namespace sart::test;

namespace {

struct Case {
  int64_t ulysses, ring, heads, kvHeads, sq, skv;
  DType dtype = DType::BF16;
  bool swap = false, augment = false;
};

std::ostream &operator<<(std::ostream &stream, const Case &c) {
  return stream << c.ulysses << "x" << c.ring << " heads " << c.heads << "/"
                << c.kvHeads << " tokens " << c.sq << "/" << c.skv << " "
                << toString(c.dtype) << (c.swap ? " swap" : "")
                << (c.augment ? " augment" : "");
}

Placement placementOf(const Case &c) {
  Placement placement =
      test::placementOf(c.ulysses, c.ring, c.heads, c.kvHeads, c.sq, c.skv);
  placement.shape.dtype = c.dtype;
  placement.shape.headDim = 64;
  return placement;
}

TemplateOptions optionsOf(const Case &c) {
  TemplateOptions options = topP(0.8f, 1);
  options.planner.balance = c.swap ? Balance::Swap : Balance::None;
  options.planner.augment = c.augment;
  return options;
}

class CudaLayers : public CudaTest, public ::testing::WithParamInterface<Case> {
protected:
  std::shared_ptr<Backend> backendOf(const Program &program) {
    device = open();
    auto backend = CudaBackend::create(std::make_shared<CudaShared>(
        device, doubleKernels(driver, requiredDeviceKernels(program))));
    EXPECT_TRUE(backend.ok()) << backend.message();
    return std::move(*backend);
  }
};

void expectSameStats(const RunStats &got, const RunStats &expected) {
  EXPECT_EQ(got.tiles, expected.tiles);
  EXPECT_DOUBLE_EQ(got.density, expected.density);
  EXPECT_EQ(got.loadsBefore, expected.loadsBefore);
  EXPECT_EQ(got.loadsAfter, expected.loadsAfter);
  EXPECT_EQ(got.bytesSent, expected.bytesSent);
  EXPECT_EQ(got.planHash, expected.planHash);
  EXPECT_EQ(got.routing.rows, expected.routing.rows);
  EXPECT_EQ(got.routing.nearThreshold, expected.routing.nearThreshold);
  EXPECT_NEAR(got.routing.keptPooledMass, expected.routing.keptPooledMass,
              1e-9 * static_cast<double>(1 + expected.routing.rows));
  int64_t tiles = 0, expectedTiles = 0;
  for (const TraceEvent &event : got.events)
    tiles += event.name == "attend" ? event.tiles : 0;
  for (const TraceEvent &event : expected.events)
    expectedTiles += event.name == "attend" ? event.tiles : 0;
  EXPECT_EQ(tiles, expectedTiles) << "the trace says what attend computed";
}

} // namespace

TEST_P(CudaLayers, RoutedLayerEqualsTheReference) {
  Placement placement = placementOf(GetParam());
  Program program = templateOf(placement, optionsOf(GetParam()));
  for (bool strict : {true, false}) {
    ExecutorOptions options = strictOptions();
    options.poison = options.coverage = strict;
    LayerData expected(placement.shape, 11), data(placement.shape, 11);
    auto reference = executorOf(program, options);
    RunStats expectedStats = runAll(*reference, expected);
    auto executor = executorOf(program, options, backendOf(program));
    ASSERT_NE(executor, nullptr);
    for (int run = 0; run < 2; ++run) {
      data.forget();
      RunStats stats = runAll(*executor, data);
      expectSameStats(stats, expectedStats);
      BlockMask mask = maskOf(*executor);
      EXPECT_EQ(mask, maskOf(*reference));
      expectOracle(data, mask, program.scale);
    }
    device.reset();
  }
}

TEST_P(CudaLayers, ConstantMaskDenseAndTwoParts) {
  Placement placement = placementOf(GetParam());
  const LayerShape &shape = placement.shape;
  BlockMask mask =
      randomMask(shape.heads, shape.qBlocks(), shape.kvBlocks(), 0.3, 5);
  Program bound = boundOf(placement, mask);
  LayerData data(shape, 3);
  {
    auto executor = executorOf(bound, strictOptions(), backendOf(bound));
    ASSERT_NE(executor, nullptr);
    runAll(*executor, data);
    expectOracle(data, mask, bound.scale);
  }
  Program program = templateOf(placement, optionsOf(GetParam()));
  auto executor = executorOf(program, strictOptions(), backendOf(program));
  ASSERT_NE(executor, nullptr);
  RunOptions dense;
  dense.dense = true;
  data.forget();
  RunStats stats = runAll(*executor, data, dense);
  EXPECT_DOUBLE_EQ(stats.density, 1);
  expectOracle(data, maskOf(*executor), program.scale);

  // Begin and finish, and a begin that is dropped.
  data.forget();
  auto shards = data.shards(placement);
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(executor->begin(shards, {}).ok());
  Status status = executor->finish(shards, stats);
  ASSERT_TRUE(status.ok()) << status.message();
  expectOracle(data, maskOf(*executor), program.scale);
}

INSTANTIATE_TEST_SUITE_P(
    Meshes, CudaLayers,
    ::testing::Values(Case{1, 1, 3, 3, 100, 100}, Case{1, 1, 4, 2, 65, 127},
                      Case{1, 1, 2, 1, 1, 1, DType::F16},
                      Case{2, 1, 4, 4, 129, 130},
                      Case{1, 2, 3, 1, 100, 150, DType::F16},
                      Case{2, 2, 6, 2, 200, 170},
                      Case{2, 2, 6, 6, 160, 160, DType::BF16, true},
                      Case{4, 1, 7, 7, 97, 97, DType::BF16, true},
                      Case{2, 1, 4, 2, 90, 90, DType::BF16, true, true},
                      Case{4, 2, 3, 3, 33, 33}));

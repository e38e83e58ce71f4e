//===- BeginFinishTest.cpp - A layer in two parts -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutorTestSupport.h"

using namespace sart;
using namespace sart::test;

namespace {

/// Tensors of begin: queries and keys alone.
std::vector<RankTensors> withoutValues(std::vector<RankTensors> tensors) {
  for (RankTensors &own : tensors)
    own.v = own.o = own.lse = Tensor();
  return tensors;
}

/// Where the parts meet does not depend on what a rank has to do.
const std::vector<Placement> placements = {
    placementOf(1, 1, 7, 7, 63, 63),   placementOf(4, 1, 7, 7, 100, 150),
    placementOf(2, 2, 12, 3, 100, 63), placementOf(1, 4, 2, 2, 63, 63),
    placementOf(8, 1, 7, 7, 3, 3),     placementOf(2, 4, 12, 12, 1, 1),
    placementOf(4, 1, 7, 7, 63, 2)};

} // namespace

TEST(BeginFinish, GiveTheBitsOfRun) {
  for (const Placement &placement : placements) {
    Program layer = templateOf(placement, topP(0.7f));
    LayerData whole(placement.shape, 21), parts(placement.shape, 21);
    auto executor = executorOf(layer);
    RunStats wholeStats = runAll(*executor, whole);
    auto tensors = parts.shards(placement);
    Status status = executor->begin(withoutValues(tensors), {});
    ASSERT_TRUE(status.ok()) << status.message();
    RunStats stats;
    status = executor->finish(tensors, stats);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(whole.o, parts.o);
    EXPECT_EQ(whole.lse, parts.lse);
    EXPECT_EQ(stats.planHash, wholeStats.planHash);
    EXPECT_EQ(stats.bytesSent, wholeStats.bytesSent);
    EXPECT_EQ(stats.tiles, wholeStats.tiles);
    EXPECT_EQ(stats.events.size(), wholeStats.events.size());
    EXPECT_GT(stats.totalNs, 0);
  }
}

TEST(BeginFinish, BoundProgramsToo) {
  for (const Placement &placement : placements) {
    const LayerShape &shape = placement.shape;
    BlockMask mask =
        randomMask(shape.heads, shape.qBlocks(), shape.kvBlocks(), 0.5, 4);
    LayerData data(shape, 22);
    Program bound = boundOf(placement, mask);
    auto executor = executorOf(bound);
    auto tensors = data.shards(placement);
    Status status = executor->begin(withoutValues(tensors), {});
    ASSERT_TRUE(status.ok()) << status.message();
    RunStats stats;
    status = executor->finish(tensors, stats);
    ASSERT_TRUE(status.ok()) << status.message();
    expectOracle(data, mask, bound.scale);
  }
}

TEST(BeginFinish, ValuesAreReadInFinish) {
  Placement placement = placementOf(2, 1, 2, 2, 63, 63);
  LayerData data(placement.shape, 23);
  auto executor = executorOf(templateOf(placement, topP(0.7f)));
  ASSERT_TRUE(executor->begin(withoutValues(data.shards(placement)), {}).ok());
  for (int64_t i = 0; i < 2 * 63 * 32; ++i)
    storeFromFloat(data.v.data(), DType::F32, i, 2.5f);
  RunStats stats;
  ASSERT_TRUE(executor->finish(data.shards(placement), stats).ok());
  for (int64_t row = 0; row < 63; ++row)
    EXPECT_NEAR(data.oAt(1, row, 7), 2.5f, 1e-5f);
}

TEST(BeginFinish, PlanGivenToBeginMayGo) {
  Placement placement = placementOf(2, 1, 4, 4, 63, 63);
  Program layer = templateOf(placement, topP(0.7f));
  LayerData data(placement.shape, 24);
  auto executor = executorOf(layer);
  RunStats stats = runAll(*executor, data);
  auto plan = std::make_unique<Plan>(stats.plan);
  plan->moves.clear();
  plan->loadsAfter = plan->loadsBefore;
  uint64_t hash = plan->hash();
  RunOptions options;
  options.plan = plan.get();
  ASSERT_TRUE(
      executor->begin(withoutValues(data.shards(placement)), options).ok());
  plan.reset();
  ASSERT_TRUE(executor->finish(data.shards(placement), stats).ok());
  EXPECT_EQ(stats.planHash, hash);
  EXPECT_EQ(stats.bytesMoved, 0);
}

TEST(BeginFinish, OrderIsChecked) {
  Placement placement = placementOf(2, 1, 4, 4, 63, 63);
  LayerData data(placement.shape, 25);
  auto executor = executorOf(templateOf(placement, topP(0.7f)));
  auto tensors = data.shards(placement);
  RunStats stats;
  const char *message =
      "finish without begin: expected a successful begin first";
  EXPECT_EQ(executor->finish(tensors, stats).message(), message);
  // A begin that failed is none.
  EXPECT_FALSE(executor->begin({}, {}).ok());
  EXPECT_EQ(executor->finish(tensors, stats).message(), message);
  // A begin without its finish is dropped by the next begin or run.
  ASSERT_TRUE(executor->begin(tensors, {}).ok());
  ASSERT_TRUE(executor->begin(tensors, {}).ok());
  ASSERT_TRUE(executor->finish(tensors, stats).ok());
  std::vector<uint8_t> expected = data.o;
  EXPECT_EQ(executor->finish(tensors, stats).message(), message);
  ASSERT_TRUE(executor->begin(tensors, {}).ok());
  data.forget();
  runAll(*executor, data);
  EXPECT_EQ(data.o, expected);
  EXPECT_EQ(executor->finish(tensors, stats).message(), message);
}

TEST(BeginFinish, FinishChecksItsTensors) {
  Placement placement = placementOf(2, 1, 4, 4, 63, 63);
  LayerData data(placement.shape, 26);
  auto executor = executorOf(templateOf(placement, topP(0.7f)));
  auto tensors = data.shards(placement);
  ASSERT_TRUE(executor->begin(tensors, {}).ok());
  auto broken = tensors;
  broken[1].v.data = nullptr;
  RunStats stats;
  EXPECT_EQ(executor->finish(broken, stats).message(),
            "rank 1: data of tensor v missing: got a null pointer, expected "
            "4x32x32 elements");
}

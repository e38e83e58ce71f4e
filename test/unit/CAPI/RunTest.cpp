//===- RunTest.cpp - What a run computes and reports ----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"

#include <cstring>
#include <numeric>

using namespace capi_test;

TEST(Run, BothDevicesMeetTheOracleOnEveryMesh) {
  Shape shape;
  Tensors tensors(shape);
  for (auto [ulysses, ring] : {std::pair<int64_t, int64_t>{1, 1},
                               {2, 1},
                               {1, 3},
                               {3, 1},
                               {2, 2},
                               {4, 2}}) {
    std::vector<uint8_t> masks[2];
    std::vector<float> outs[2];
    for (int device = 0; device < 2; ++device) {
      Layer layer = makeLayer(sharedEngine(device ? "reference" : "cpu"),
                              routedText(shape), layerOptions(ulysses, ring));
      ASSERT_TRUE(layer);
      sa_run_stats stats = emptyStats();
      ASSERT_EQ(runWhole(layer.get(), tensors, &stats), "");
      masks[device] = lastMask(layer.get(), shape);
      outs[device] = tensors.outData;
      EXPECT_LT(tensors.error(masks[device]), 2e-4)
          << ulysses << " x " << ring << (device ? " reference" : " cpu");
      EXPECT_EQ(stats.ranks, ulysses * ring);
      EXPECT_EQ(stats.tiles,
                std::count(masks[device].begin(), masks[device].end(), 1));
      EXPECT_EQ(std::accumulate(stats.loads_after,
                                stats.loads_after + stats.ranks, int64_t(0)),
                stats.tiles);
    }
    EXPECT_EQ(masks[0], masks[1]) << ulysses << " x " << ring;
    for (size_t i = 0; i < outs[0].size(); ++i)
      ASSERT_NEAR(outs[0][i], outs[1][i], 2e-4) << i;
  }
}

TEST(Run, GivenMaskWithEmptyRowsIsWhatIsAttended) {
  Shape shape;
  Tensors tensors(shape);
  std::vector<uint8_t> mask(static_cast<size_t>(shape.tiles()));
  for (size_t i = 0; i < mask.size(); ++i)
    mask[i] = i * 7 % 3 == 0;
  // Head 2 has no tile, head 0's last row neither; 255 counts as selected.
  size_t head = mask.size() / 4, row = static_cast<size_t>(shape.kvBlocks());
  std::fill(mask.begin() + 2 * head, mask.begin() + 3 * head, 0);
  std::fill(mask.begin() + head - row, mask.begin() + head, 0);
  mask[0] = 255;
  for (const char *device : {"cpu", "reference"}) {
    sa_layer_options options = layerOptions(2, 2);
    options.mask = mask.data();
    options.mask_size = mask.size();
    Layer layer = makeLayer(sharedEngine(device), routedText(shape), options);
    ASSERT_TRUE(layer);
    sa_run_stats stats = emptyStats();
    ASSERT_EQ(runWhole(layer.get(), tensors, &stats), "");
    std::vector<uint8_t> got = lastMask(layer.get(), shape);
    for (size_t i = 0; i < mask.size(); ++i)
      ASSERT_EQ(got[i], mask[i] != 0) << i;
    EXPECT_LT(tensors.error(mask), 2e-4) << device;
    EXPECT_EQ(stats.kept_pooled_mass, 1);
  }
}

TEST(Run, CausalLayerSeesNoLaterKey) {
  Shape shape;
  shape.causal = true;
  shape.skv = 230;
  Tensors tensors(shape);
  Layer layer =
      makeLayer(sharedEngine(), routedText(shape), layerOptions(2, 2));
  ASSERT_TRUE(layer);
  ASSERT_EQ(runWhole(layer.get(), tensors), "");
  EXPECT_LT(tensors.error(lastMask(layer.get(), shape)), 2e-4);
}

TEST(Run, FirstStepsAttendDensely) {
  Shape shape;
  Tensors tensors(shape);
  sa_layer_options options = layerOptions(2, 1);
  options.dense_steps = 2;
  Layer layer = makeLayer(sharedEngine(), routedText(shape), options);
  ASSERT_TRUE(layer);
  for (int64_t step : {0, 2, 1, 3}) {
    sa_run_stats stats = emptyStats();
    ASSERT_EQ(runWhole(layer.get(), tensors, &stats, step), "");
    std::vector<uint8_t> mask = lastMask(layer.get(), shape);
    EXPECT_LT(tensors.error(mask), 2e-4);
    if (step < 2) {
      EXPECT_EQ(stats.tiles, shape.tiles()) << step;
      EXPECT_EQ(stats.density, 1) << step;
    } else {
      EXPECT_LT(stats.tiles, shape.tiles()) << step;
      EXPECT_LT(stats.density, 1) << step;
    }
  }
}

TEST(Run, PermutedLayerTakesAndGivesRasterOrder) {
  Shape shape;
  shape.sq = shape.skv = 3 * 8 * 8 + 5;
  shape.order = "#sparseattn.order<hilbert, grid = [3, 8, 8], prefix = 5>";
  Tensors tensors(shape);
  const int64_t grid[3] = {3, 8, 8};
  std::vector<int64_t> permutation(192);
  ASSERT_SA_OK(sa_order_permutation("hilbert", grid, permutation.data(), 192));
  for (int64_t &token : permutation)
    token += 5;
  permutation.insert(permutation.begin(), {0, 1, 2, 3, 4});
  for (const char *device : {"cpu", "reference"}) {
    Layer layer =
        makeLayer(sharedEngine(device), routedText(shape), layerOptions(2, 2));
    ASSERT_TRUE(layer);
    sa_layer_info info = {};
    info.struct_size = sizeof info;
    ASSERT_SA_OK(sa_layer_get_info(layer.get(), &info));
    EXPECT_EQ(info.permuted, 1);
    ASSERT_EQ(runWhole(layer.get(), tensors), "");
    EXPECT_LT(tensors.error(lastMask(layer.get(), shape), permutation), 2e-4)
        << device;
    // Its reference counts rows in raster order too.
    sa_tensor q = tensors.q(), k = tensors.k(), v = tensors.v();
    for (int64_t row : {0, 4, 5, 77, 196}) {
      double lse = 0;
      ASSERT_SA_OK(sa_layer_reference(layer.get(), &q, &k, &v, 3, &row, 1,
                                      nullptr, &lse, nullptr));
      EXPECT_NEAR(lse, tensors.lseData[static_cast<size_t>(3 * shape.sq + row)],
                  2e-4);
    }
    sa_tensor out = tensors.out(), lse = tensors.lse();
    EXPECT_SA_ERROR(
        sa_layer_run(layer.get(), &q, &k, &v, &out, &lse, nullptr, nullptr),
        "shards of a layer with permute ops: got shards, expected whole "
        "tensors (sa_layer_run_whole)");
  }
}

TEST(Run, StatsFillWhatTheCallersStructHolds) {
  Shape shape;
  Tensors tensors(shape);
  Layer layer = makeLayer(sharedEngine(), routedText(shape), layerOptions());
  ASSERT_TRUE(layer);
  sa_run_stats stats;
  std::memset(&stats, 0x5a, sizeof stats);
  stats.struct_size = offsetof(sa_run_stats, rho_after);
  ASSERT_EQ(runWhole(layer.get(), tensors, &stats), "");
  EXPECT_EQ(stats.struct_size, offsetof(sa_run_stats, rho_after));
  EXPECT_EQ(stats.ranks, 1);
  EXPECT_EQ(stats.rho_before, 1);
  EXPECT_EQ(stats.moves, 0x5a5a5a5a5a5a5a5a);
  EXPECT_EQ(stats.plan_hash, 0x5a5a5a5a5a5a5a5au);
  // A later version's struct keeps what this one does not know.
  struct {
    sa_run_stats known;
    uint64_t later;
  } wide = {emptyStats(), 77};
  wide.known.struct_size = sizeof wide;
  ASSERT_EQ(runWhole(layer.get(), tensors, &wide.known), "");
  EXPECT_EQ(wide.known.struct_size, sizeof wide);
  EXPECT_EQ(wide.later, 77u);
  EXPECT_GT(wide.known.ms, 0);
}

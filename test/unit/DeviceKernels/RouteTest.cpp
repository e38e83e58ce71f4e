//===- RouteTest.cpp - Device routing against the reference ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceKernelsSupport.h"

#include "ReferenceKernels.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace sart;

namespace {

/// One head, routed by the kernel and by the reference.
struct Case {
  int64_t qBlocks = 5, kvBlocks = 40, headDim = 64;
  float p = 0.9f, scale = 0.125f;
  int32_t minBlocks = 1;
  std::vector<Range> keep;
  std::vector<int32_t> visible;
  int64_t rowsPerCta = 0; ///< 0: as deviceRouteLaunch says
  std::vector<float> q, k;

  Case &normal(unsigned seed, double sharp) {
    q = randomFloats(qBlocks * headDim, seed,
                     std::normal_distribution<double>(0, sharp));
    k = randomFloats(kvBlocks * headDim, seed + 1,
                     std::normal_distribution<double>(0, 1));
    return *this;
  }
  Case &whole(unsigned seed, int low, int high) {
    q = randomFloats(qBlocks * headDim, seed,
                     std::uniform_int_distribution<int>(low, high));
    k = randomFloats(kvBlocks * headDim, seed + 1,
                     std::uniform_int_distribution<int>(low, high));
    return *this;
  }
};

class DeviceRoute : public ::testing::Test {
protected:
  DeviceModule kernels;

  void check(Case c);
};

void DeviceRoute::check(Case c) {
  SCOPED_TRACE(concat(c.qBlocks, "x", c.kvBlocks, " d", c.headDim, " p ", c.p,
                      " least ", c.minBlocks));
  auto launch = deviceRouteLaunch(c.headDim, 1, c.qBlocks, c.kvBlocks);
  ASSERT_TRUE(launch.ok()) << launch.message();
  if (c.rowsPerCta) {
    launch->kernel = concat("route_d", c.headDim, "_r8");
    launch->threads = 256;
    launch->rowsPerCta = static_cast<int32_t>(c.rowsPerCta);
    launch->ctasPerRecord =
        static_cast<int32_t>((c.qBlocks + c.rowsPerCta - 1) / c.rowsPerCta);
    launch->grid = launch->ctasPerRecord;
  }
  if (!kernels.module->lookupSymbol(launch->kernel))
    ASSERT_TRUE(succeeded(
        buildDeviceRoutingKernels(*kernels.module, routeSpec(c.headDim))));
  DeviceInterpreter device(*kernels.module);

  auto rows = static_cast<size_t>(c.qBlocks);
  size_t stride = static_cast<size_t>(c.kvBlocks) + 3;
  std::vector<int32_t> mask(rows * stride, -7);
  std::vector<uint32_t> summary(static_cast<size_t>(1 + (c.kvBlocks + 31) / 32),
                                0);
  std::vector<int32_t> rowTiles(rows, 0), wantTiles;
  std::vector<DeviceRowFigures> figures(rows);
  std::vector<DeviceRouteTotals> totals(1);
  std::vector<int32_t> keep = {0};
  if (!c.keep.empty())
    keep.clear();
  for (const Range &range : c.keep)
    for (int64_t border : {range.begin, range.end})
      keep.push_back(static_cast<int32_t>(border));
  std::vector<DeviceRouteRecord> records(1);
  DeviceRouteRecord &record = records[0];
  record.pooledQ = device.allow(c.q);
  record.pooledK = device.allow(c.k);
  record.mask = device.allow(mask);
  record.visible = c.visible.empty() ? 0 : device.allow(c.visible);
  record.summary = device.allow(summary);
  record.rowFigures = device.allow(figures);
  record.rowTiles = device.allow(rowTiles);
  record.qEnd = static_cast<int32_t>(c.qBlocks);
  record.kvBlocks = static_cast<int32_t>(c.kvBlocks);
  record.qStride = record.kStride = static_cast<int32_t>(c.headDim);
  record.maskStride = static_cast<int32_t>(stride);
  uint64_t list = device.allow(records);
  ASSERT_EQ(
      device.run(
          launch->kernel, launch->grid, launch->threads, launch->sharedBytes,
          {list, uint64_t(launch->rowsPerCta), uint64_t(launch->ctasPerRecord),
           uint64_t(launch->scoreStride), DeviceInterpreter::bitsOf(c.scale),
           DeviceInterpreter::bitsOf(c.p), uint64_t(c.minBlocks),
           device.allow(keep), uint64_t(c.keep.size())}),
      "");
  ASSERT_EQ(device.run("route_totals", 1, 32, 0, {list, device.allow(totals)}),
            "");

  std::vector<uint32_t> wantSummary(summary.size(), 0);
  RouteStats all;
  for (size_t i = 0; i < rows; ++i) {
    size_t visible = static_cast<size_t>(
        c.visible.empty() ? c.kvBlocks
                          : std::min<int64_t>(c.kvBlocks, c.visible[i]));
    std::vector<double> scores(visible);
    for (size_t j = 0; j < visible; ++j) {
      double dot = 0;
      for (int64_t d = 0; d < c.headDim; ++d)
        dot += static_cast<double>(c.q[i * c.headDim + d]) *
               static_cast<double>(c.k[j * c.headDim + d]);
      scores[j] = static_cast<double>(c.scale) * dot;
    }
    std::vector<int32_t> want(stride, -7);
    RouteStats stats;
    referenceRoute(scores, static_cast<double>(c.p), c.minBlocks, c.keep,
                   want.data(), stats);
    std::vector<int32_t> got(mask.begin() + i * stride,
                             mask.begin() + (i + 1) * stride);
    ASSERT_EQ(got, want) << "row " << i;
    EXPECT_NEAR(figures[i].keptMass, stats.keptPooledMass, 1e-12);
    EXPECT_EQ(figures[i].nearThreshold, stats.nearThreshold) << "row " << i;
    EXPECT_EQ(figures[i].tiles, want[0]);
    all += stats;
    wantTiles.push_back(want[0]);
    wantSummary[0] += static_cast<uint32_t>(want[0]);
    for (int32_t n = 1; n <= want[0]; ++n)
      wantSummary[static_cast<size_t>(1 + want[n] / 32)] |= 1u << want[n] % 32;
  }
  EXPECT_EQ(summary, wantSummary);
  EXPECT_EQ(rowTiles, wantTiles);
  EXPECT_NEAR(totals[0].keptMass, all.keptPooledMass, 1e-10);
  EXPECT_EQ(totals[0].nearThreshold, all.nearThreshold);
  EXPECT_EQ(totals[0].tiles, wantSummary[0]);
  EXPECT_EQ(totals[0].rows, c.qBlocks);
}

} // namespace

TEST_F(DeviceRoute, RandomScores) {
  for (int64_t kvBlocks : {1, 2, 31, 33, 127, 129, 300}) {
    Case c;
    c.kvBlocks = kvBlocks;
    for (double sharp : {0.5, 4.0, 60.0})
      check(c.normal(static_cast<unsigned>(kvBlocks), sharp));
  }
}

TEST_F(DeviceRoute, EveryHeadSize) {
  for (int64_t headDim : {64, 128, 256}) {
    Case c;
    c.headDim = headDim;
    c.qBlocks = 19; // a thread block and a part of one
    c.kvBlocks = 70;
    check(c.normal(3, 3));
  }
}

TEST_F(DeviceRoute, TiesAreTakenByIndex) {
  Case c;
  c.kvBlocks = 290;
  c.p = 0.7f;
  c.scale = 1.0f / 64;
  check(c.whole(5, 0, 1)); // few distinct scores, each many times
  c.minBlocks = 100;
  check(c.whole(6, -1, 1));
  c.whole(7, 0, 0); // all equal
  for (float p : {0.001f, 0.5f, 0.9f, 0.99f}) {
    c.p = p;
    c.minBlocks = 1;
    check(c);
  }
}

TEST_F(DeviceRoute, ThresholdsAndFloors) {
  Case c;
  c.kvBlocks = 150;
  c.normal(11, 3);
  struct {
    float p;
    int32_t least;
  } cases[] = {{1.0f, 1}, {2.0f, 1},     {0.0f, 7},  {0.0f, 64},  {0.0f, 900},
               {0.5f, 0}, {0.99999f, 1}, {0.9f, 50}, {0.9f, 150}, {1e-6f, 1}};
  for (auto [p, least] : cases) {
    c.p = p;
    c.minBlocks = least;
    check(c);
  }
}

TEST_F(DeviceRoute, FlatTailsNearTheThreshold) {
  // One block has nearly all the mass; hundreds of blocks lie within 1e-5 of p.
  Case c;
  c.kvBlocks = 400;
  c.scale = 1;
  c.q.assign(static_cast<size_t>(c.qBlocks * c.headDim), 0);
  c.k.assign(static_cast<size_t>(c.kvBlocks * c.headDim), 0);
  for (int64_t i = 0; i < c.qBlocks; ++i)
    c.q[static_cast<size_t>(i * c.headDim)] = 1;
  for (int64_t j = 0; j < c.kvBlocks; ++j)
    c.k[static_cast<size_t>(j * c.headDim)] = -1e-4f * static_cast<float>(j);
  c.k[static_cast<size_t>(7 * c.headDim)] = 19;
  c.p = 0.999999f;
  check(c);
  c.p = 0.999f;
  c.minBlocks = 30;
  check(c);
}

TEST_F(DeviceRoute, KeepRangesAndVisiblePrefixes) {
  Case c;
  c.kvBlocks = 200;
  c.qBlocks = 9;
  c.p = 0.3f;
  c.normal(13, 2);
  c.keep = {{0, 2}, {190, 200}, {100, 101}};
  check(c);
  c.keep = {{-5, 1}, {199, 400}, {7, 3}};
  check(c);
  c.visible = {0, 1, 2, 31, 32, 33, 199, 200, 999};
  check(c);
}

TEST_F(DeviceRoute, FewerRowsInAThreadBlock) {
  for (int64_t rows : {8, 4, 2, 1}) {
    Case c;
    c.qBlocks = 11;
    c.rowsPerCta = rows;
    check(c.normal(17, 3));
  }
  Case c; // more kv-blocks than 16 rows have room for
  c.qBlocks = 3;
  c.kvBlocks = 1800;
  check(c.normal(19, 4));
}

TEST_F(DeviceRoute, FarApartAndCloseScores) {
  // Halving by value takes off little at a time: 2^-j for j up to 120.
  Case c;
  c.kvBlocks = 120;
  c.scale = 1;
  c.q.assign(static_cast<size_t>(c.qBlocks * c.headDim), 0);
  c.k.assign(static_cast<size_t>(c.kvBlocks * c.headDim), 0);
  for (int64_t i = 0; i < c.qBlocks; ++i)
    c.q[static_cast<size_t>(i * c.headDim)] = i % 2 ? 1.0f : -1.0f;
  for (int64_t j = 0; j < c.kvBlocks; ++j)
    c.k[static_cast<size_t>(j * c.headDim)] =
        std::ldexp(1.0f, -static_cast<int>(j));
  for (int32_t least : {1, 60, 100, 119}) {
    c.p = 0.0f;
    c.minBlocks = least;
    check(c);
  }
}

//===- KernelFitTest.cpp - Affine costs from measured kernels -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelFit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

using namespace sart;

namespace {

KernelPoint point(int64_t tiles, int64_t rows, double ps) {
  KernelPoint result;
  result.tiles = tiles;
  result.rows = rows;
  result.ps = ps;
  result.name = "point";
  return result;
}

std::string readFile(const std::string &name) {
  std::ifstream stream(std::string(SPARSEATTN_H200) + "/" + name);
  return std::string((std::istreambuf_iterator<char>(stream)), {});
}

/// The shipped machine of 8 H200 with other kernels.
Machine h200(const std::vector<MachineKernel> &kernels) {
  std::ifstream stream(SPARSEATTN_MACHINES "/h200x8.json");
  Expected<Machine> machine =
      Machine::parse(std::string((std::istreambuf_iterator<char>(stream)), {}));
  EXPECT_TRUE(machine.ok()) << machine.message();
  if (!kernels.empty())
    machine->device.kernels = kernels;
  return *machine;
}

TEST(KernelFit, FindsWhatMadeTheTimes) {
  // 50 + 7 a tile + 30 a row.
  std::vector<KernelPoint> points;
  for (auto [tiles, rows] :
       {std::pair<int64_t, int64_t>{1000, 10}, {500, 100}, {9000, 300}})
    points.push_back(point(tiles, rows,
                           50 + 7 * static_cast<double>(tiles) +
                               30 * static_cast<double>(rows)));
  auto kernels = fitKernels(points, 50, 3);
  ASSERT_TRUE(kernels.ok()) << kernels.message();
  ASSERT_EQ(kernels->size(), 1u);
  EXPECT_EQ((*kernels)[0].tilePs.value, 7);
  EXPECT_EQ((*kernels)[0].rowPs.value, 30);
  EXPECT_EQ((*kernels)[0].tilePs.source, 3);
}

TEST(KernelFit, RowsWithoutACostOfTheirOwn) {
  // One point; the same rows for a tile; rows that would cost less than 0.
  for (const std::vector<KernelPoint> &points :
       {std::vector<KernelPoint>{point(100, 10, 1000)},
        {point(100, 10, 1000), point(200, 20, 2000)},
        {point(100, 10, 1000), point(100, 20, 999)}}) {
    auto kernels = fitKernels(points, 0, 0);
    ASSERT_TRUE(kernels.ok()) << kernels.message();
    EXPECT_EQ((*kernels)[0].tilePs.value, 10);
    EXPECT_EQ((*kernels)[0].rowPs.value, 0);
  }
}

TEST(KernelFit, Refusals) {
  EXPECT_EQ(fitKernels({}, 0, 0).message(),
            "measured kernels: got none, expected at least one");
  EXPECT_EQ(fitKernels({point(10, 1, 4e6)}, 5000000, 0).message(),
            "time of point: got 4 us for 10 tiles, expected more than 5 us of "
            "launching, and tiles");
  EXPECT_EQ(readKernelPoints("{").message(),
            "results: got no JSON object, expected one");
  EXPECT_EQ(readKernelPoints("{\"runs\": 3}").message(),
            "runs: got no list, expected one");
  EXPECT_EQ(readKernelPoints("{\"benchmark\": \"routing\"}").message(),
            "result kernels: got another one, expected that of "
            "sparseattn-bench kernels --device cuda --json");
}

TEST(KernelFit, ErrorsByNearestRank) {
  Machine machine = h200({{DType::BF16, 128, 128, 128, {100, 0}, {0, 0}}});
  machine.device.launchPs.value = 0;
  std::vector<KernelPoint> points;
  for (int64_t i = 1; i <= 40; ++i) // 1 to 40 % too little
    points.push_back(point(100, 1, 10000 / (1 - static_cast<double>(i) / 100)));
  FitErrors errors = predictKernels(machine, points);
  EXPECT_NEAR(errors.median, 0.205, 1e-9);
  EXPECT_NEAR(errors.p95, 0.38, 1e-9);
}

/// What the issue asks of predictions on the H200: held-out points within 10 %
/// in the median and 20 % at the 95th percentile.
void expectWithinBounds(const char *what, const FitErrors &errors,
                        size_t points) {
  EXPECT_EQ(errors.relative.size(), points);
  EXPECT_LE(errors.median, 0.10) << what;
  EXPECT_LE(errors.p95, 0.20) << what;
  testing::Test::RecordProperty(std::string(what) + "_median",
                                std::to_string(errors.median));
  testing::Test::RecordProperty(std::string(what) + "_p95",
                                std::to_string(errors.p95));
  std::printf("%s: %zu points, median %.2f %%, p95 %.2f %%\n", what, points,
              100 * errors.median, 100 * errors.p95);
}

TEST(KernelFit, PredictsHeldOutPointsOfTheH200) {
  // Held out: every second point of each kernel, in the file's order.
  auto points = readKernelPoints(readFile("attend.json"));
  ASSERT_TRUE(points.ok()) << points.message();
  ASSERT_EQ(points->size(), 14u);
  std::vector<KernelPoint> fitted, held;
  holdOut(*points, fitted, held);
  ASSERT_EQ(held.size(), 5u);
  Machine machine = h200({});
  auto kernels = fitKernels(fitted, machine.device.launchPs.value, 0);
  ASSERT_TRUE(kernels.ok()) << kernels.message();
  expectWithinBounds("every_second", predictKernels(h200(*kernels), held), 5);
}

/// Points of attend-pytorch.json, which another program timed: no baselines,
/// and no kernels of the other assembler.
std::vector<KernelPoint> pointsOfTheOtherRun() {
  struct Shape {
    int64_t heads, tokens, headDim, blockQ, blockK;
  };
  const std::map<std::string, Shape> shapes = {
      {"wan32k", {40, 32768, 128, 128, 128}},
      {"wan32k_f16", {40, 32768, 128, 128, 128}},
      {"wan75k", {40, 75600, 128, 128, 128}},
      {"wan75k_q128k64", {40, 75600, 128, 128, 64}},
      {"h7_109k_q64k64", {7, 109632, 128, 64, 64}},
      {"h8_109k", {8, 109632, 128, 128, 128}},
      {"d64", {16, 16384, 64, 128, 128}},
      {"d256", {12, 16384, 256, 128, 128}},
      {"gqa", {64, 32768, 128, 128, 128}},
      {"hunyuan", {24, 115712, 128, 128, 128}}};
  std::vector<KernelPoint> points;
  auto file = nlohmann::json::parse(readFile("attend-pytorch.json"));
  for (const auto &row : file["rows"]) {
    std::string kernel = row["kernel"];
    auto shape = shapes.find(row["shape"]);
    if (kernel.compare(0, 7, "attend_") != 0 || kernel.back() == '5' ||
        shape == shapes.end())
      continue;
    const Shape &s = shape->second;
    KernelPoint result;
    result.dtype = kernel.compare(7, 3, "f16") == 0 ? DType::F16 : DType::BF16;
    result.blockQ = s.blockQ;
    result.blockK = s.blockK;
    result.headDim = s.headDim;
    result.rows = s.heads * ((s.tokens + s.blockQ - 1) / s.blockQ);
    result.tiles =
        std::llround(row["density"].get<double>() *
                     static_cast<double>(
                         result.rows * ((s.tokens + s.blockK - 1) / s.blockK)));
    result.ps = row["median_ms"].get<double>() * 1e9;
    points.push_back(result);
  }
  return points;
}

TEST(KernelFit, ShippedMachinePredictsTheOtherRun) {
  // The shipped kernels are those of attend.json; none of these was seen.
  auto points = readKernelPoints(readFile("attend.json"));
  ASSERT_TRUE(points.ok()) << points.message();
  Machine machine = h200({});
  auto kernels = fitKernels(*points, machine.device.launchPs.value, 0);
  ASSERT_TRUE(kernels.ok()) << kernels.message();
  ASSERT_EQ(kernels->size(), machine.device.kernels.size());
  for (size_t i = 0; i < kernels->size(); ++i) {
    EXPECT_EQ((*kernels)[i].tilePs.value,
              machine.device.kernels[i].tilePs.value);
    EXPECT_EQ((*kernels)[i].rowPs.value, machine.device.kernels[i].rowPs.value);
  }
  std::vector<KernelPoint> others = pointsOfTheOtherRun();
  expectWithinBounds("other_run", predictKernels(machine, others),
                     others.size());
  EXPECT_EQ(others.size(), 15u);
}

} // namespace

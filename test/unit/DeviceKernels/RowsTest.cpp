//===- RowsTest.cpp - Pooling, tile order, conversion, merging ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceKernelsSupport.h"

#include "sparseattn-rt/Backend.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::sparseattn;
using namespace sart;

namespace {

/// x has `rows` rows in memory of `stride` elements each.
void checkPool(DType type, int64_t headDim, int64_t block, int64_t rows,
               bool whole) {
  DeviceModule kernels;
  KernelSpec spec = poolSpec(type, headDim, block);
  SCOPED_TRACE(concat(spec.name(), " rows ", rows));
  ASSERT_TRUE(succeeded(buildDeviceRoutingKernels(*kernels.module, spec)));
  int64_t stride = headDim + 16, blocks = (rows + block - 1) / block + 1;
  std::vector<float> values =
      whole ? randomFloats(rows * stride, 1,
                           std::uniform_int_distribution<int>(-99, 99))
            : randomFloats(rows * stride, 2,
                           std::normal_distribution<double>(0, 1));
  auto bytes = static_cast<size_t>(byteSize(type));
  std::vector<uint8_t> x(values.size() * bytes);
  for (size_t i = 0; i < values.size(); ++i)
    storeFromFloat(x.data(), type, static_cast<int64_t>(i), values[i]);
  int64_t yStride = headDim + 4;
  std::vector<float> y(static_cast<size_t>(blocks * yStride), -5.0f);

  DeviceInterpreter device(*kernels.module);
  std::vector<DevicePoolRecord> records(2);
  for (DevicePoolRecord &record : records) {
    record.x = device.allow(x);
    record.y = device.allow(y);
    record.xStride = stride;
    record.rows = static_cast<int32_t>(rows);
    record.yStride = static_cast<int32_t>(yStride);
  }
  // Block 0 by one record, the rest by the other; the last has no rows.
  records[0].blockEnd = 1;
  records[1].blockBegin = 1;
  records[1].blockEnd = static_cast<int32_t>(blocks);
  auto launch = devicePoolLaunch(spec.name(), 2, blocks);
  ASSERT_TRUE(launch.ok());
  ASSERT_EQ(
      device.run(launch->kernel, launch->grid, launch->threads, 0,
                 {device.allow(records), uint64_t(launch->ctasPerRecord)}),
      "");
  for (int64_t b = 0; b < blocks; ++b)
    for (int64_t d = 0; d < yStride; ++d) {
      float got = y[static_cast<size_t>(b * yStride + d)];
      if (d >= headDim) {
        ASSERT_EQ(got, -5.0f);
        continue;
      }
      double sum = 0;
      int64_t end = std::min(rows, (b + 1) * block);
      for (int64_t r = b * block; r < end; ++r)
        sum += loadAsFloat(x.data(), type, r * stride + d);
      auto want = static_cast<float>(
          sum / static_cast<double>(std::max<int64_t>(1, end - b * block)));
      if (whole)
        ASSERT_EQ(got, want) << "block " << b << " column " << d;
      else
        ASSERT_NEAR(got, want, 2e-7) << "block " << b << " column " << d;
    }
}

} // namespace

TEST(DevicePool, MeansOfValidRows) {
  checkPool(DType::BF16, 128, 128, 300, true);
  checkPool(DType::BF16, 128, 128, 128, false);
  checkPool(DType::BF16, 128, 64, 1, true);
  checkPool(DType::BF16, 64, 24, 100, true);
  checkPool(DType::BF16, 256, 64, 129, false);
  checkPool(DType::F16, 128, 128, 257, true);
  checkPool(DType::F32, 256, 8, 20, false);
  checkPool(DType::F32, 64, 256, 600, true);
}

TEST(DeviceOrder, LongestFirstWithinTheKvRange) {
  DeviceModule kernels;
  ASSERT_TRUE(
      succeeded(buildDeviceRoutingKernels(*kernels.module, routeSpec(128))));
  constexpr int64_t rows = 77, kvBlocks = 50, stride = 60;
  std::mt19937 generator(4);
  std::vector<int32_t> mask(rows * stride, 1000000);
  for (int64_t r = 0; r < rows; ++r) {
    int32_t &count = mask[r * stride] = 0;
    for (int32_t j = 0; j < kvBlocks; ++j)
      if (r % 9 != 0 && generator() % 4 == 0)
        mask[r * stride + 1 + count++] = j;
  }
  // Rows that nobody wrote.
  mask[4 * stride] = -1;
  mask[5 * stride] = stride;
  mask[6 * stride] = 0x7fffffff;
  struct {
    int32_t qBegin, qEnd, kvBegin, kvEnd;
  } cases[] = {{0, 77, 0, 50},
               {0, 77, 0, 1},
               {3, 40, 17, 33},
               {5, 6, 49, 60},
               {0, 77, 20, 20}};
  DeviceInterpreter device(*kernels.module);
  std::vector<DeviceOrderRecord> records;
  std::vector<DeviceTileRecord> want;
  for (const auto &c : cases) {
    DeviceOrderRecord record;
    record.mask = device.allow(mask);
    record.maskStride = stride;
    record.entry = 10 + static_cast<int32_t>(records.size());
    record.qBegin = c.qBegin;
    record.qEnd = c.qEnd;
    record.kvBegin = c.kvBegin;
    record.kvEnd = c.kvEnd;
    record.firstTile = static_cast<int32_t>(want.size());
    records.push_back(record);
    std::vector<DeviceTileRecord> tiles;
    for (int32_t q = c.qBegin; q < c.qEnd; ++q) {
      const int32_t *list = &mask[q * stride + 1];
      int32_t count = list[-1];
      DeviceTileRecord tile{record.entry, q, 0, 0};
      if (count < 0 || count >= stride) {
        tile.first = count | std::numeric_limits<int32_t>::min();
        count = 0;
      }
      for (int32_t i = 0; i < count; ++i) {
        tile.first += list[i] < c.kvBegin;
        tile.count += list[i] >= c.kvBegin && list[i] < c.kvEnd;
      }
      tiles.push_back(tile);
    }
    std::sort(tiles.begin(), tiles.end(),
              [](const DeviceTileRecord &a, const DeviceTileRecord &b) {
                return a.count != b.count ? a.count > b.count
                                          : a.qBlock < b.qBlock;
              });
    want.insert(want.end(), tiles.begin(), tiles.end());
  }
  std::vector<DeviceTileRecord> got(want.size());
  auto launch = deviceOrderLaunch(static_cast<int64_t>(records.size()), rows);
  ASSERT_TRUE(launch.ok());
  ASSERT_EQ(device.run("order_tiles", launch->grid, launch->threads,
                       launch->sharedBytes,
                       {device.allow(records), device.allow(got),
                        uint64_t(launch->sortSize)}),
            "");
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(got[i].entry, want[i].entry) << i;
    EXPECT_EQ(got[i].qBlock, want[i].qBlock) << i;
    EXPECT_EQ(got[i].count, want[i].count) << i;
    if (want[i].count > 0 || want[i].first < 0) {
      EXPECT_EQ(got[i].first, want[i].first) << i;
    }
  }
}

TEST(DeviceRows, ConvertsToNearestEven) {
  DeviceModule kernels;
  buildDeviceRowKernels(*kernels.module);
  struct {
    DType from, to;
  } cases[] = {{DType::F32, DType::BF16},
               {DType::F32, DType::F16},
               {DType::BF16, DType::F32},
               {DType::F16, DType::F32}};
  for (auto [from, to] : cases) {
    constexpr int64_t rows = 150, columns = 68, fromStride = 72, toStride = 80;
    std::vector<float> values = randomFloats(
        rows * fromStride, 8, std::normal_distribution<double>(0, 300));
    values[0] = 1 + 1.0f / 256; // halfway in bf16
    values[1] = 1 + 3.0f / 256;
    std::vector<uint8_t> x(values.size() * byteSize(from));
    std::vector<uint8_t> y(rows * toStride * byteSize(to), 0x55);
    std::vector<uint8_t> want = y;
    for (size_t i = 0; i < values.size(); ++i)
      storeFromFloat(x.data(), from, static_cast<int64_t>(i), values[i]);
    for (int64_t r = 0; r < rows - 1; ++r)
      for (int64_t c = 0; c < columns; ++c)
        storeFromFloat(want.data(), to, r * toStride + c,
                       loadAsFloat(x.data(), from, r * fromStride + c));
    std::string name = concat("convert_", toString(from), '_', toString(to));
    DeviceInterpreter device(*kernels.module);
    std::vector<DeviceConvertRecord> records(1);
    records[0] = {device.allow(x), device.allow(y), fromStride, toStride,
                  rows - 1};
    auto launch = deviceConvertLaunch(name, 1, rows, columns);
    ASSERT_TRUE(launch.ok());
    ASSERT_EQ(device.run(name, launch->grid, launch->threads, 0,
                         {device.allow(records),
                          uint64_t(launch->ctasPerRecord), columns}),
              "");
    EXPECT_TRUE(y == want) << name;
  }
}

TEST(DeviceRows, MergesPartialsAsTheHostDoes) {
  DeviceModule kernels;
  buildDeviceRowKernels(*kernels.module);
  constexpr int64_t rows = 37, columns = 132, stride = 136;
  constexpr float none = -std::numeric_limits<float>::infinity();
  std::normal_distribution<double> normal(0, 1), wide(0, 20);
  std::vector<float> part = randomFloats(rows * stride, 1, normal),
                     o = randomFloats(rows * stride, 2, normal),
                     lsePart = randomFloats(rows * 2, 3, wide),
                     lse = randomFloats(rows, 4, wide);
  for (int64_t r = 0; r < rows; ++r) {
    if (r % 5 == 0)
      lsePart[r * 2] = none;
    if (r % 7 != 0)
      continue;
    lse[r] = none;
    // What an empty side holds is not read, unless both are empty.
    for (int64_t c = 0; c < columns; ++c)
      o[r * stride + c] = r % 5 == 0 ? 0 : std::nanf("");
  }
  lse[1] = lsePart[2] = 1000;
  std::vector<float> wantO = o, wantLse = lse;
  mergePartials(part.data(), stride, lsePart.data(), 2, wantO.data(), stride,
                wantLse.data(), 1, rows, columns);
  DeviceInterpreter device(*kernels.module);
  std::vector<DeviceMergeRecord> records(1);
  records[0] = {device.allow(part),
                device.allow(lsePart),
                device.allow(o),
                device.allow(lse),
                stride,
                2,
                stride,
                1,
                rows};
  auto launch = deviceMergeLaunch(1, rows);
  ASSERT_TRUE(launch.ok());
  ASSERT_EQ(device.run("merge_f32", launch->grid, launch->threads, 0,
                       {device.allow(records), uint64_t(launch->ctasPerRecord),
                        columns}),
            "");
  for (int64_t r = 0; r < rows; ++r) {
    if (wantLse[r] == none)
      EXPECT_EQ(lse[r], none);
    else
      EXPECT_NEAR(lse[r], wantLse[r], 2e-6 * std::max(1.0f, std::fabs(lse[r])));
    for (int64_t c = 0; c < stride; ++c)
      ASSERT_NEAR(o[r * stride + c], wantO[r * stride + c], 1e-6)
          << r << ", " << c;
  }
}

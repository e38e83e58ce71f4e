//===- DoubleKernels.cpp - What device kernels do, in loops of the host ---===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DoubleKernels.h"

#include "ReferenceKernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

using namespace sart;
using namespace sart::cuda;

template <typename T>
static T *at(uint64_t address) {
  return reinterpret_cast<T *>(address);
}

/// Element (column, row, head) of a mapped tensor; zero outside.
static double mapped(const DoubleMap &map, int64_t column, int64_t row,
                     int64_t head) {
  if (row >= static_cast<int64_t>(map.sizes[1]))
    return 0;
  DType dtype = map.type == tensorMapBFloat16 ? DType::BF16 : DType::F16;
  const char *base = static_cast<const char *>(map.address) +
                     row * static_cast<int64_t>(map.strides[0]) +
                     head * static_cast<int64_t>(map.strides[1]);
  return static_cast<double>(loadAsFloat(base, dtype, column));
}

/// One tile of a launch of attend.
static void attendTile(DriverDouble &driver, const KernelSpec &spec,
                       const DoubleLaunch &launch,
                       const DeviceTileRecord &tile) {
  const auto &entry =
      at<const EntryRecord>(launch.argument<uint64_t>(1))[tile.entry];
  auto mapOf = [&](int64_t which) -> const DoubleMap & {
    return driver.mapOf(launch.arguments[0].data() +
                        (3 * entry.source + which) * 128);
  };
  const DoubleMap &q = mapOf(0), &k = mapOf(1), &v = mapOf(2);
  auto oStride = launch.argument<int64_t>(5);
  auto maskStride = launch.argument<int32_t>(6);
  auto scale = static_cast<double>(launch.argument<float>(7));
  const int32_t *list = at<const int32_t>(entry.mask) +
                        int64_t(tile.qBlock) * maskStride + 1 + tile.first;
  std::vector<double> sum(static_cast<size_t>(spec.headDim));
  for (int64_t row = tile.qBlock * spec.blockQ;
       row < std::min<int64_t>((tile.qBlock + 1) * spec.blockQ, entry.qRows);
       ++row) {
    std::vector<std::pair<int64_t, double>> scores;
    double largest = -std::numeric_limits<double>::infinity();
    for (int32_t i = 0; i < tile.count; ++i)
      for (int64_t key = list[i] * spec.blockK;
           key < std::min<int64_t>((list[i] + 1) * spec.blockK, entry.kvRows);
           ++key) {
        double dot = 0;
        for (int64_t d = 0; d < spec.headDim; ++d)
          dot +=
              mapped(q, d, row, entry.qHead) * mapped(k, d, key, entry.kvHead);
        scores.emplace_back(key, dot * scale);
        largest = std::max(largest, dot * scale);
      }
    double weights = 0;
    std::fill(sum.begin(), sum.end(), 0.0);
    for (const auto &[key, score] : scores) {
      double weight = std::exp2(score - largest);
      weights += weight;
      for (int64_t d = 0; d < spec.headDim; ++d)
        sum[static_cast<size_t>(d)] += weight * mapped(v, d, key, entry.kvHead);
    }
    for (int64_t d = 0; d < spec.headDim; ++d)
      storeFromFloat(at<void>(entry.o), spec.outDtype, row * oStride + d,
                     weights > 0 ? static_cast<float>(
                                       sum[static_cast<size_t>(d)] / weights)
                                 : 0.0f);
    at<float>(entry.lse)[row] =
        weights > 0
            ? static_cast<float>((largest + std::log2(weights)) * std::log(2.0))
            : -std::numeric_limits<float>::infinity();
  }
}

static void attend(DriverDouble &driver, const KernelSpec &spec,
                   const DoubleLaunch &launch) {
  auto *tiles = at<const DeviceTileRecord>(launch.argument<uint64_t>(2));
  auto count = launch.argument<int32_t>(3);
  auto *counter = at<int32_t>(launch.argument<uint64_t>(4));
  while (*counter < count)
    attendTile(driver, spec, launch, tiles[(*counter)++]);
}

static void pool(const KernelSpec &spec, const DoubleLaunch &launch) {
  auto *records = at<const DevicePoolRecord>(launch.argument<uint64_t>(0));
  auto ctas = launch.argument<int32_t>(1);
  for (unsigned r = 0; r < launch.grid[0] / static_cast<unsigned>(ctas); ++r) {
    const DevicePoolRecord &record = records[r];
    for (int64_t block = record.blockBegin; block < record.blockEnd; ++block) {
      int64_t begin = block * spec.blockQ;
      int64_t end = std::min<int64_t>(begin + spec.blockQ, record.rows);
      for (int64_t d = 0; d < spec.headDim; ++d) {
        double sum = 0;
        for (int64_t row = begin; row < end; ++row)
          sum += static_cast<double>(loadAsFloat(at<void>(record.x), spec.dtype,
                                                 row * record.xStride + d));
        at<float>(record.y)[block * record.yStride + d] =
            end > begin ? static_cast<float>(sum / double(end - begin)) : 0;
      }
    }
  }
}

static void route(int64_t headDim, const DoubleLaunch &launch) {
  auto *records = at<const DeviceRouteRecord>(launch.argument<uint64_t>(0));
  auto ctas = launch.argument<int32_t>(2);
  auto scale = static_cast<double>(launch.argument<float>(4));
  auto p = static_cast<double>(launch.argument<float>(5));
  auto minBlocks = launch.argument<int32_t>(6);
  auto *pairs = at<const int32_t>(launch.argument<uint64_t>(7));
  std::vector<Range> keep;
  for (int32_t i = 0; i < launch.argument<int32_t>(8); ++i)
    keep.push_back({pairs[2 * i], pairs[2 * i + 1]});
  for (unsigned r = 0; r < launch.grid[0] / static_cast<unsigned>(ctas); ++r) {
    const DeviceRouteRecord &record = records[r];
    for (int32_t block = record.qBegin; block < record.qEnd; ++block) {
      int32_t index = block - record.qBegin;
      int32_t visible =
          record.visible ? at<int32_t>(record.visible)[index] : record.kvBlocks;
      std::vector<double> scores(static_cast<size_t>(visible));
      for (int64_t j = 0; j < visible; ++j) {
        double dot = 0;
        for (int64_t d = 0; d < headDim; ++d)
          dot += static_cast<double>(
                     at<float>(record.pooledQ)[block * record.qStride + d]) *
                 static_cast<double>(
                     at<float>(record.pooledK)[j * record.kStride + d]);
        scores[static_cast<size_t>(j)] = scale * dot;
      }
      RouteStats stats;
      int32_t *row = at<int32_t>(record.mask) + block * record.maskStride;
      referenceRoute(scores, p, minBlocks, keep, row, stats);
      at<DeviceRowFigures>(record.rowFigures)[index] = {
          stats.keptPooledMass, static_cast<int32_t>(stats.nearThreshold),
          row[0]};
      auto *summary = at<uint32_t>(record.summary);
      summary[0] += static_cast<uint32_t>(row[0]);
      for (int32_t i = 1; i <= row[0]; ++i)
        summary[1 + row[i] / 32] |= uint32_t(1) << (row[i] % 32);
      if (record.rowTiles && row[0])
        at<int32_t>(record.rowTiles)[block] = row[0];
    }
  }
}

static void totals(const DoubleLaunch &launch) {
  auto *records = at<const DeviceRouteRecord>(launch.argument<uint64_t>(0));
  auto *sums = at<DeviceRouteTotals>(launch.argument<uint64_t>(1));
  for (unsigned r = 0; r < launch.grid[0]; ++r) {
    sums[r] = {};
    sums[r].rows = records[r].qEnd - records[r].qBegin;
    for (int64_t i = 0; i < sums[r].rows; ++i) {
      const auto &row = at<DeviceRowFigures>(records[r].rowFigures)[i];
      sums[r].keptMass += row.keptMass;
      sums[r].nearThreshold += row.nearThreshold;
      sums[r].tiles += row.tiles;
    }
  }
}

static void orderTiles(const DoubleLaunch &launch) {
  auto *records = at<const DeviceOrderRecord>(launch.argument<uint64_t>(0));
  auto *tiles = at<DeviceTileRecord>(launch.argument<uint64_t>(1));
  for (unsigned r = 0; r < launch.grid[0]; ++r) {
    const DeviceOrderRecord &record = records[r];
    std::vector<DeviceTileRecord> own;
    for (int32_t block = record.qBegin; block < record.qEnd; ++block) {
      const int32_t *row =
          at<int32_t>(record.mask) + block * int64_t(record.maskStride);
      if (row[0] < 0 || row[0] >= record.maskStride) {
        own.push_back({record.entry, block,
                       row[0] | std::numeric_limits<int32_t>::min(), 0});
        continue;
      }
      const int32_t *begin =
          std::lower_bound(row + 1, row + 1 + row[0], record.kvBegin);
      const int32_t *end =
          std::lower_bound(begin, row + 1 + row[0], record.kvEnd);
      own.push_back({record.entry, block, static_cast<int32_t>(begin - row - 1),
                     static_cast<int32_t>(end - begin)});
    }
    std::sort(own.begin(), own.end(),
              [](const DeviceTileRecord &a, const DeviceTileRecord &b) {
                return std::tie(b.count, a.qBlock) <
                       std::tie(a.count, b.qBlock);
              });
    std::copy(own.begin(), own.end(), tiles + record.firstTile);
  }
}

static void convert(const KernelSpec &spec, const DoubleLaunch &launch) {
  auto *records = at<const DeviceConvertRecord>(launch.argument<uint64_t>(0));
  auto ctas = launch.argument<int32_t>(1);
  auto columns = launch.argument<int32_t>(2);
  for (unsigned r = 0; r < launch.grid[0] / static_cast<unsigned>(ctas); ++r)
    for (int64_t row = 0; row < records[r].rows; ++row)
      for (int64_t i = 0; i < columns; ++i)
        storeFromFloat(at<void>(records[r].to), spec.outDtype,
                       row * records[r].toStride + i,
                       loadAsFloat(at<void>(records[r].from), spec.dtype,
                                   row * records[r].fromStride + i));
}

static void merge(const DoubleLaunch &launch) {
  auto *records = at<const DeviceMergeRecord>(launch.argument<uint64_t>(0));
  auto ctas = launch.argument<int32_t>(1);
  for (unsigned r = 0; r < launch.grid[0] / static_cast<unsigned>(ctas); ++r) {
    const DeviceMergeRecord &record = records[r];
    mergePartials(at<float>(record.oPart), record.oPartStride,
                  at<float>(record.lsePart), record.lsePartStride,
                  at<float>(record.o), record.oStride, at<float>(record.lse),
                  record.lseStride, record.rows, launch.argument<int32_t>(2));
  }
}

DeviceLaunch sart::cuda::doubleAttendLaunch(const KernelSpec &spec) {
  DeviceLaunch launch;
  launch.entry = spec.name();
  launch.threads = 384;
  launch.sharedBytes = 163968;
  launch.persistent = true;
  launch.tilesPerCta = 2;
  launch.tileRows = static_cast<int32_t>(spec.blockQ);
  launch.qBoxRows = static_cast<int32_t>(spec.blockQ);
  launch.kvBoxRows = static_cast<int32_t>(spec.blockK);
  launch.boxCols = 64;
  return launch;
}

std::vector<size_t> sart::cuda::attendParameterBytes() {
  return {maxSources * 3 * 128, 8, 8, 4, 8, 8, 4, 4};
}

std::shared_ptr<KernelTable>
sart::cuda::doubleKernels(DriverDouble &driver,
                          const std::vector<KernelSpec> &specs) {
  auto table = std::make_shared<KernelTable>();
  auto binary = std::make_shared<const std::string>("\x7f"
                                                    "ELF sm_90a");
  auto add = [&](const KernelSpec &spec, const std::string &entry,
                 std::vector<size_t> parameters,
                 std::function<void(const DoubleLaunch &)> body) {
    driver.addKernel(entry, std::move(parameters), std::move(body));
    LoadedKernel kernel;
    kernel.spec = spec;
    kernel.launch = doubleAttendLaunch(spec);
    kernel.launch->entry = entry;
    kernel.binary = binary;
    table->add(std::move(kernel));
  };
  for (const KernelSpec &spec : specs) {
    switch (spec.kind) {
    case KernelSpec::Kind::Attend:
      add(spec, spec.name(), attendParameterBytes(),
          [&driver, spec](const DoubleLaunch &launch) {
            attend(driver, spec, launch);
          });
      break;
    case KernelSpec::Kind::Pool:
      add(spec, spec.name(), {8, 4},
          [spec](const DoubleLaunch &launch) { pool(spec, launch); });
      break;
    case KernelSpec::Kind::Route:
      for (const char *capacity : {"_r16", "_r8"})
        add(spec, spec.name() + capacity, {8, 4, 4, 4, 4, 4, 4, 8, 4},
            [headDim = spec.headDim](const DoubleLaunch &launch) {
              route(headDim, launch);
            });
      add(spec, "route_totals", {8, 8}, totals);
      break;
    case KernelSpec::Kind::OrderTiles:
      add(spec, spec.name(), {8, 8, 4}, orderTiles);
      break;
    case KernelSpec::Kind::Merge:
      add(spec, spec.name(), {8, 4, 4}, merge);
      break;
    case KernelSpec::Kind::Convert:
      add(spec, spec.name(), {8, 4, 4},
          [spec](const DoubleLaunch &launch) { convert(spec, launch); });
      break;
    }
  }
  return table;
}

/// "a_b_c" to its parts.
static std::vector<std::string> partsOf(const std::string &name) {
  std::vector<std::string> parts(1);
  for (char c : name)
    if (c == '_')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

void sart::cuda::addKernelByName(DriverDouble &driver,
                                 const std::string &name) {
  std::vector<std::string> parts = partsOf(name);
  KernelSpec spec;
  auto dtype = [&](size_t part) {
    auto parsed = part < parts.size() ? parseDType(parts[part])
                                      : Expected<DType>(Status::error(""));
    return parsed ? *parsed : DType::F32;
  };
  auto number = [&](size_t part) -> int64_t {
    return part < parts.size() && parts[part].size() > 1
               ? std::atoll(parts[part].c_str() + 1)
               : 0;
  };
  if (parts[0] == "attend") {
    spec.dtype = dtype(1);
    spec.outDtype = dtype(2);
    spec.headDim = number(3);
    spec.blockQ = number(4);
    spec.blockK = number(5);
  } else if (parts[0] == "pool") {
    spec.kind = KernelSpec::Kind::Pool;
    spec.dtype = dtype(1);
    spec.headDim = number(2);
    spec.blockQ = number(3);
  } else if (parts[0] == "route") {
    spec.kind = KernelSpec::Kind::Route;
    spec.headDim = std::max<int64_t>(number(1), 1);
  } else if (parts[0] == "order") {
    spec.kind = KernelSpec::Kind::OrderTiles;
  } else if (parts[0] == "merge") {
    spec.kind = KernelSpec::Kind::Merge;
  } else if (parts[0] == "convert") {
    spec.kind = KernelSpec::Kind::Convert;
    spec.dtype = dtype(1);
    spec.outDtype = dtype(2);
  } else {
    return;
  }
  (void)doubleKernels(driver, {spec});
}

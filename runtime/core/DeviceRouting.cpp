//===- DeviceRouting.cpp - Launch shapes of the routing kernels -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/DeviceRouting.h"

#include <algorithm>
#include <limits>

using namespace sart;

static int64_t ceilDiv(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

static Expected<DeviceRoutingLaunch> launchOf(const std::string &kernel,
                                              int64_t records,
                                              int64_t ctasPerRecord,
                                              int32_t threads) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (records < 1 || ctasPerRecord < 1 || ctasPerRecord > most / records)
    return makeError("grid of ", kernel, " out of range: got ", records,
                     " records of ", ctasPerRecord,
                     " thread blocks, expected 1 to ", most, " in all");
  DeviceRoutingLaunch launch;
  launch.kernel = kernel;
  launch.grid = records * ctasPerRecord;
  launch.threads = threads;
  launch.ctasPerRecord = static_cast<int32_t>(ctasPerRecord);
  return launch;
}

Expected<DeviceRoutingLaunch> sart::devicePoolLaunch(const std::string &kernel,
                                                     int64_t records,
                                                     int64_t blocksPerRecord) {
  return launchOf(kernel, records, blocksPerRecord, 256);
}

Expected<DeviceRoutingLaunch> sart::deviceRouteLaunch(int64_t headDim,
                                                      int64_t records,
                                                      int64_t rowsPerRecord,
                                                      int64_t kvBlocks) {
  // Each kv-block takes a score and a mass, both fp64, for each row. Queries
  // are kept in fp64, rows padded by two; their memory is used again by the
  // selection, 1 KB for each row's warp.
  int64_t stride = ceilDiv(std::max<int64_t>(kvBlocks, 1), 128) * 128;
  auto fixedBytes = [&](int64_t rows) {
    return rows * std::max<int64_t>((headDim + 2) * 8, 1024);
  };
  auto bytes = [&](int64_t rows, int64_t capacity) {
    return fixedBytes(capacity) + rows * stride * 16;
  };
  int64_t capacity = 16, rows = 16;
  // Scoring 16 rows of 256 elements takes more registers than there are.
  if (headDim > 128 || bytes(rows, capacity) > maxDeviceSharedBytes) {
    capacity = rows = 8;
    while (rows > 1 && bytes(rows, capacity) > maxDeviceSharedBytes)
      rows /= 2;
  }
  if (bytes(rows, capacity) > maxDeviceSharedBytes)
    return makeError(
        "kv-blocks of a routed row exceed the shared memory of a thread "
        "block: got ",
        kvBlocks, ", expected at most ",
        (maxDeviceSharedBytes - fixedBytes(capacity)) / 2048 * 128,
        " (use larger blocks)");
  auto launch = launchOf(concat("route_d", headDim, "_r", capacity), records,
                         ceilDiv(rowsPerRecord, rows),
                         static_cast<int32_t>(32 * capacity));
  if (!launch)
    return launch.status();
  launch->sharedBytes = static_cast<int32_t>(bytes(rows, capacity));
  launch->rowsPerCta = static_cast<int32_t>(rows);
  launch->scoreStride = static_cast<int32_t>(stride);
  return launch;
}

Expected<DeviceRoutingLaunch> sart::deviceTotalsLaunch(int64_t records) {
  return launchOf("route_totals", records, 1, 32);
}

Expected<DeviceRoutingLaunch> sart::deviceOrderLaunch(int64_t records,
                                                      int64_t rowsPerRecord) {
  constexpr int64_t most = 32768; // a power of two, 4 bytes each
  if (rowsPerRecord > most)
    return makeError("q-blocks of an entry exceed the shared memory of a "
                     "thread block: got ",
                     rowsPerRecord, ", expected at most ", most);
  int64_t size = 2;
  while (size < rowsPerRecord)
    size *= 2;
  auto threads = static_cast<int32_t>(std::clamp<int64_t>(size / 2, 32, 1024));
  auto launch = launchOf("order_tiles", records, 1, threads);
  if (!launch)
    return launch.status();
  launch->sortSize = static_cast<int32_t>(size);
  launch->sharedBytes = static_cast<int32_t>(size * 4);
  return launch;
}

Expected<DeviceRoutingLaunch>
sart::deviceConvertLaunch(const std::string &kernel, int64_t records,
                          int64_t rowsPerRecord, int64_t columns) {
  // Threads take 8 groups of 4 elements each.
  return launchOf(kernel, records, ceilDiv(rowsPerRecord * columns, 8192), 256);
}

Expected<DeviceRoutingLaunch> sart::deviceMergeLaunch(int64_t records,
                                                      int64_t rowsPerRecord) {
  return launchOf("merge_f32", records, ceilDiv(rowsPerRecord, 8), 256);
}

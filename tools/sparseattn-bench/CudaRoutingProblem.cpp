//===- CudaRoutingProblem.cpp - Routing on a GPU --------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaRoutingProblem.h"

#include "sparseattn-rt/Planner.h"

#include <algorithm>
#include <cmath>

using namespace sart;
using namespace sart::cuda;

int64_t CudaRoutingProblem::summaryWords() const {
  return MaskSummary::rowWords(shape.kvBlocks());
}

double CudaRoutingProblem::pooledBytes() const {
  double rows = 0;
  for (int64_t side : {0, 1})
    rows += static_cast<double>(headsOf(side) * rowsOf(side));
  return rows * static_cast<double>(shape.headDim * byteSize(shape.dtype));
}

void CudaRoutingProblem::generate(uint16_t *to, int64_t set, int64_t side,
                                  int64_t begin, int64_t end) const {
  int64_t dim = shape.headDim, number = set * 2 + side;
  std::vector<double> noise(static_cast<size_t>(dim)),
      mean(static_cast<size_t>(dim));
  int64_t known = -1;
  for (int64_t row = begin; row < end; ++row) {
    int64_t head = row / rowsOf(side);
    int64_t block = head * blocksOf(side) + row % rowsOf(side) / blockOf(side);
    if (block != known)
      means.fill(mean.data(), number, block * dim, dim);
    known = block;
    source.fill(noise.data(), number, row * dim, dim);
    for (int64_t d = 0; d < dim; ++d)
      storeFromFloat(
          to, shape.dtype, (row - begin) * dim + d,
          static_cast<float>(noise[static_cast<size_t>(d)] +
                             settings.spread * mean[static_cast<size_t>(d)]));
  }
}

Expected<CudaRoutingProblem> CudaRoutingProblem::create(
    std::shared_ptr<CudaStream> stream, const LayerShape &shape,
    const RoutingSettings &settings, int64_t sets, int64_t seed) {
  CudaRoutingProblem problem(std::move(stream), shape, settings, seed);
  auto staging = DeviceStaging::create(problem.stream);
  if (!staging)
    return staging.status();
  for (int64_t set = 0; set < sets; ++set) {
    problem.inputs.emplace_back();
    for (int64_t side : {0, 1}) {
      DeviceMemory &memory = problem.inputs.back()[static_cast<size_t>(side)];
      int64_t rows = problem.headsOf(side) * problem.rowsOf(side);
      SART_RETURN_IF_ERROR(staging->reserve(memory, rows * shape.headDim * 2,
                                            side == 0 ? "q" : "k"));
      SART_RETURN_IF_ERROR(
          staging->generate(memory, rows, shape.headDim,
                            [&](uint16_t *to, int64_t begin, int64_t end) {
                              problem.generate(to, set, side, begin, end);
                            }));
    }
  }
  int64_t rows = shape.heads * shape.qBlocks();
  for (int64_t side : {0, 1})
    SART_RETURN_IF_ERROR(staging->reserve(
        problem.pooled[static_cast<size_t>(side)],
        problem.headsOf(side) * problem.blocksOf(side) * shape.headDim * 4,
        "means"));
  SART_RETURN_IF_ERROR(
      staging->reserve(problem.mask, rows * problem.listStride() * 4, "lists"));
  SART_RETURN_IF_ERROR(staging->reserve(
      problem.summary, shape.heads * problem.summaryWords() * 4, "summaries"));
  SART_RETURN_IF_ERROR(staging->reserve(
      problem.figures, rows * int64_t(sizeof(DeviceRowFigures)),
      "figures of rows"));
  SART_RETURN_IF_ERROR(staging->reserve(
      problem.totals, shape.heads * int64_t(sizeof(DeviceRouteTotals)),
      "totals"));
  SART_RETURN_IF_ERROR(staging->reserve(
      problem.tiles, rows * int64_t(sizeof(DeviceTileRecord)), "tiles"));
  problem.staging.emplace(std::move(*staging));
  return problem;
}

Status CudaRoutingProblem::prepare(const Finder &find,
                                   const RoutingSettings &policy) {
  settings = policy;
  auto resolve = [&](Stage &stage,
                     Expected<DeviceRoutingLaunch> launch) -> Status {
    if (!launch)
      return launch.status();
    stage.launch = *launch;
    auto function = find(launch->kernel);
    if (!function)
      return function.status();
    stage.function = *function;
    return Status::success();
  };
  for (int64_t side : {0, 1}) {
    std::string name = concat("pool_", toString(shape.dtype), "_d",
                              shape.headDim, "_b", blockOf(side));
    SART_RETURN_IF_ERROR(
        resolve(poolStage[static_cast<size_t>(side)],
                devicePoolLaunch(name, headsOf(side), blocksOf(side))));
  }
  SART_RETURN_IF_ERROR(resolve(
      routeStage, deviceRouteLaunch(shape.headDim, shape.heads, shape.qBlocks(),
                                    shape.kvBlocks())));
  SART_RETURN_IF_ERROR(resolve(totalsStage, deviceTotalsLaunch(shape.heads)));
  SART_RETURN_IF_ERROR(
      resolve(orderStage, deviceOrderLaunch(shape.heads, shape.qBlocks())));

  poolRecords.resize(inputs.size());
  auto after = [](DevicePtr start, int64_t bytes) {
    return start + static_cast<DevicePtr>(bytes);
  };
  for (size_t set = 0; set < inputs.size(); ++set)
    for (size_t side = 0; side < 2; ++side) {
      auto which = static_cast<int64_t>(side);
      std::vector<DevicePoolRecord> records;
      for (int64_t head = 0; head < headsOf(which); ++head) {
        DevicePoolRecord record;
        record.x = after(inputs[set][side].address(),
                         head * rowsOf(which) * shape.headDim * 2);
        record.y = after(pooled[side].address(),
                         head * blocksOf(which) * shape.headDim * 4);
        record.xStride = shape.headDim;
        record.rows = static_cast<int32_t>(rowsOf(which));
        record.yStride = static_cast<int32_t>(shape.headDim);
        record.blockEnd = static_cast<int32_t>(blocksOf(which));
        records.push_back(record);
      }
      SART_RETURN_IF_ERROR(staging->upload(
          poolRecords[set][side], records.data(),
          records.size() * sizeof(records[0]), "records of pool"));
    }
  std::vector<DeviceRouteRecord> routes;
  std::vector<DeviceOrderRecord> orders;
  auto q = static_cast<int32_t>(shape.qBlocks());
  auto kv = static_cast<int32_t>(shape.kvBlocks());
  for (int64_t head = 0; head < shape.heads; ++head) {
    DeviceRouteRecord route;
    route.pooledQ = after(pooled[0].address(), head * q * shape.headDim * 4);
    route.pooledK = after(pooled[1].address(),
                          shape.kvHeadOf(head) * kv * shape.headDim * 4);
    route.mask = after(mask.address(), head * q * listStride() * 4);
    route.summary = after(summary.address(), head * summaryWords() * 4);
    route.rowFigures =
        after(figures.address(), head * q * int64_t(sizeof(DeviceRowFigures)));
    route.qEnd = q;
    route.kvBlocks = kv;
    route.qStride = route.kStride = static_cast<int32_t>(shape.headDim);
    route.maskStride = static_cast<int32_t>(listStride());
    routes.push_back(route);
    DeviceOrderRecord order;
    order.mask = route.mask;
    order.maskStride = route.maskStride;
    order.entry = static_cast<int32_t>(head);
    order.qEnd = q;
    order.kvEnd = kv;
    order.firstTile = static_cast<int32_t>(head * q);
    orders.push_back(order);
  }
  SART_RETURN_IF_ERROR(staging->upload(routeRecords, routes.data(),
                                       routes.size() * sizeof(routes[0]),
                                       "records of route"));
  return staging->upload(orderRecords, orders.data(),
                         orders.size() * sizeof(orders[0]), "records of order");
}

Status CudaRoutingProblem::launch(const Stage &stage,
                                  const KernelArguments &arguments) {
  LaunchShape grid;
  grid.grid = stage.launch.grid;
  grid.threads = stage.launch.threads;
  grid.sharedBytes = stage.launch.sharedBytes;
  return stream->launch(*stage.function, grid, arguments);
}

Status CudaRoutingProblem::pool(int64_t set) {
  auto which = static_cast<size_t>(set) % inputs.size();
  for (size_t side = 0; side < 2; ++side)
    SART_RETURN_IF_ERROR(launch(
        poolStage[side], KernelArguments()
                             .add(poolRecords[which][side].address())
                             .add(poolStage[side].launch.ctasPerRecord)));
  return Status::success();
}

Status CudaRoutingProblem::route() {
  SART_RETURN_IF_ERROR(
      stream->fill(summary.address(), 0, shape.heads * summaryWords() * 4));
  const DeviceRoutingLaunch &how = routeStage.launch;
  auto minBlocks = static_cast<int32_t>(
      std::clamp<int64_t>(settings.minBlocks, 1, shape.kvBlocks()));
  double scale = 1 / std::sqrt(static_cast<double>(shape.headDim));
  return launch(routeStage, KernelArguments()
                                .add(routeRecords.address())
                                .add(how.rowsPerCta)
                                .add(how.ctasPerRecord)
                                .add(how.scoreStride)
                                .add(static_cast<float>(scale))
                                .add(static_cast<float>(settings.p))
                                .add(minBlocks)
                                .add(DevicePtr(0))
                                .add(int32_t(0)));
}

Status CudaRoutingProblem::loads() {
  return launch(
      totalsStage,
      KernelArguments().add(routeRecords.address()).add(totals.address()));
}

Status CudaRoutingProblem::order() {
  return launch(orderStage, KernelArguments()
                                .add(orderRecords.address())
                                .add(tiles.address())
                                .add(orderStage.launch.sortSize));
}

Status CudaRoutingProblem::all(int64_t set) {
  SART_RETURN_IF_ERROR(pool(set));
  SART_RETURN_IF_ERROR(route());
  SART_RETURN_IF_ERROR(loads());
  return order();
}

Status CudaRoutingProblem::download(Results &results) {
  auto get = [&](const DeviceMemory &memory, auto &vector,
                 int64_t count) -> Status {
    vector.resize(static_cast<size_t>(count));
    return staging->download(vector.data(), memory.address(),
                             count * int64_t(sizeof(vector[0])));
  };
  int64_t rows = shape.heads * shape.qBlocks();
  for (int64_t side : {0, 1})
    SART_RETURN_IF_ERROR(get(pooled[static_cast<size_t>(side)],
                             results.pooled[side],
                             headsOf(side) * blocksOf(side) * shape.headDim));
  SART_RETURN_IF_ERROR(get(mask, results.mask, rows * listStride()));
  SART_RETURN_IF_ERROR(
      get(summary, results.summary, shape.heads * summaryWords()));
  SART_RETURN_IF_ERROR(get(totals, results.totals, shape.heads));
  return get(tiles, results.tiles, rows);
}

Expected<RoutingCheck> CudaRoutingProblem::check() {
  for (const DeviceMemory *memory :
       {&pooled[0], &pooled[1], &mask, &summary, &figures, &totals, &tiles})
    SART_RETURN_IF_ERROR(
        stream->fill(memory->address(), 0xff, memory->bytes()));
  SART_RETURN_IF_ERROR(all(0));
  SART_RETURN_IF_ERROR(stream->synchronize());
  Results results;
  SART_RETURN_IF_ERROR(download(results));
  RoutingCheck found;
  checkMeans(results, found);
  checkSets(results, found);
  // What follows from the lists, which must be lists first.
  if (found.wrongRows == 0) {
    checkLoads(results, found);
    checkTiles(results, found);
  }
  return found;
}

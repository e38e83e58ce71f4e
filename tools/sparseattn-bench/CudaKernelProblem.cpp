//===- CudaKernelProblem.cpp - Attention on a GPU -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaKernelProblem.h"

#include <algorithm>
#include <atomic>
#include <cmath>

using namespace sart;
using namespace sart::cuda;

static constexpr double kLog2OfE = 1.4426950408889634;

Expected<CudaKernelProblem>
CudaKernelProblem::create(std::shared_ptr<CudaStream> stream,
                          const LayerShape &shape, int64_t sets, int64_t seed) {
  CudaKernelProblem problem(std::move(stream), shape, seed);
  auto staging = DeviceStaging::create(problem.stream);
  if (!staging)
    return staging.status();
  SART_RETURN_IF_ERROR(
      staging->reserve(problem.o, problem.elements(0) * 2, "results"));
  SART_RETURN_IF_ERROR(
      staging->reserve(problem.lse, shape.heads * shape.sq * 4, "lse"));
  SART_RETURN_IF_ERROR(staging->reserve(problem.counter, 4, "tile counter"));
  static constexpr const char *kNames[] = {"q", "k", "v"};
  for (int64_t set = 0; set < sets; ++set) {
    problem.inputs.emplace_back();
    for (int64_t tensor = 0; tensor < 3; ++tensor) {
      DeviceMemory &memory =
          problem.inputs.back().qkv[static_cast<size_t>(tensor)];
      int64_t count = problem.elements(tensor), row = shape.headDim;
      SART_RETURN_IF_ERROR(staging->reserve(memory, count * 2, kNames[tensor]));
      SART_RETURN_IF_ERROR(staging->generate(
          memory, count / row, row,
          [&](uint16_t *to, int64_t begin, int64_t end) {
            problem.source.fill(to, streamOf(set, tensor), begin * row,
                                (end - begin) * row);
          }));
    }
  }
  problem.staging.emplace(std::move(*staging));
  return problem;
}

Status CudaKernelProblem::useLists(const BlockLists &given) {
  layer.blockQ = given.shape().blockQ;
  layer.blockK = given.shape().blockK;
  SART_RETURN_IF_ERROR(staging->upload(lists, given.rows().data(),
                                       given.rows().size() * sizeof(int32_t),
                                       "lists"));
  std::vector<DeviceTileRecord> order = given.orderedTiles();
  tileCount = static_cast<int64_t>(order.size());
  listStride = given.stride();
  SART_RETURN_IF_ERROR(staging->upload(
      tiles, order.data(), order.size() * sizeof(order[0]), "tiles"));
  std::vector<EntryRecord> records;
  for (int64_t head = 0; head < layer.heads; ++head) {
    EntryRecord record;
    record.o = o.address() +
               static_cast<uint64_t>(head * layer.sq * layer.headDim * 2);
    record.lse = lse.address() + static_cast<uint64_t>(head * layer.sq * 4);
    record.mask =
        lists.address() +
        static_cast<uint64_t>(head * layer.qBlocks() * listStride * 4);
    // Both sources hold the same: a head of the other one must not differ.
    record.source = static_cast<int32_t>(head % maxSources);
    record.qHead = static_cast<int32_t>(head);
    record.kvHead = static_cast<int32_t>(layer.kvHeadOf(head));
    record.qRows = static_cast<int32_t>(layer.sq);
    record.kvRows = static_cast<int32_t>(layer.skv);
    records.push_back(record);
  }
  return staging->upload(entries, records.data(),
                         records.size() * sizeof(records[0]), "entries");
}

Expected<TensorMap> CudaKernelProblem::mapOf(int64_t set, int64_t tensor,
                                             const DeviceLaunch &how) const {
  TensorMapView view;
  view.address = input(set, tensor);
  view.dtype = layer.dtype;
  view.columns = layer.headDim;
  view.rows = tensor == 0 ? layer.sq : layer.skv;
  view.heads = tensor == 0 ? layer.heads : layer.kvHeads;
  view.rowBytes = layer.headDim * 2;
  view.headBytes = view.rows * view.rowBytes;
  view.batchBytes = view.heads * view.headBytes;
  view.boxColumns = how.boxCols;
  view.boxRows = tensor == 0 ? how.qBoxRows : how.kvBoxRows;
  static constexpr const char *kNames[] = {"q", "k", "v"};
  return encodeTensorMap(stream->device()->driver(), view, kNames[tensor]);
}

Status CudaKernelProblem::launch(const CudaFunction &function,
                                 const DeviceLaunch &how, int64_t set) {
  TensorMap maps[maxSources][3];
  for (int64_t tensor = 0; tensor < 3; ++tensor) {
    Expected<TensorMap> map = mapOf(set, tensor, how);
    if (!map)
      return map.status();
    for (auto &source : maps)
      source[tensor] = *map;
  }
  LaunchShape grid;
  int64_t workers = (tileCount + how.tilesPerCta - 1) / how.tilesPerCta;
  grid.grid = how.persistent
                  ? std::min<int64_t>(
                        workers, stream->device()->properties().multiprocessors)
                  : workers;
  grid.threads = how.threads;
  grid.sharedBytes = how.sharedBytes;
  double scale = kLog2OfE / std::sqrt(static_cast<double>(layer.headDim));
  KernelArguments arguments;
  arguments.addBytes(maps, sizeof(maps), 64)
      .add(entries.address())
      .add(tiles.address())
      .add(static_cast<int32_t>(tileCount))
      .add(counter.address())
      .add(layer.headDim)
      .add(static_cast<int32_t>(listStride))
      .add(static_cast<float>(scale));
  SART_RETURN_IF_ERROR(stream->fill(counter.address(), 0, 4));
  return stream->launch(function, grid, arguments);
}

Status CudaKernelProblem::poison() {
  // All bits set is NaN in every type.
  SART_RETURN_IF_ERROR(stream->fill(o.address(), 0xff, elements(0) * 2));
  return stream->fill(lse.address(), 0xff, layer.heads * layer.sq * 4);
}

Status CudaKernelProblem::countNotWritten(DeviceCheck &result) {
  std::atomic<int64_t> found{0};
  auto scan = [&](const DeviceMemory &memory, DType dtype, int64_t count) {
    int64_t size = byteSize(dtype);
    return staging->scan(
        memory, count * size,
        [&](const char *part, int64_t begin, int64_t end) {
          inThreads((end - begin) / size, [&](int64_t first, int64_t last) {
            int64_t here = 0;
            for (int64_t i = first; i < last; ++i)
              here += std::isnan(loadAsFloat(part, dtype, i));
            found += here;
          });
        });
  };
  SART_RETURN_IF_ERROR(scan(o, layer.dtype, elements(0)));
  SART_RETURN_IF_ERROR(scan(lse, DType::F32, layer.heads * layer.sq));
  result.notWritten = found;
  return Status::success();
}

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
#include <cstring>
#include <limits>
#include <numeric>
#include <thread>

using namespace sart;
using namespace sart::cuda;

static constexpr int64_t kStagingBytes = int64_t(64) << 20;
static constexpr double kLog2OfE = 1.4426950408889634;

void sart::inThreads(int64_t count,
                     const std::function<void(int64_t, int64_t)> &body) {
  int64_t workers = std::clamp<int64_t>(
      static_cast<int64_t>(std::thread::hardware_concurrency()), 1,
      std::max<int64_t>(1, count));
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < workers; ++i)
    threads.emplace_back(body, count * i / workers, count * (i + 1) / workers);
  body(0, count / workers);
  for (std::thread &thread : threads)
    thread.join();
}

Status sart::copyToDevice(CudaStream &stream, const PinnedMemory &staging,
                          DevicePtr to, const void *from, int64_t bytes) {
  const auto *source = static_cast<const char *>(from);
  for (int64_t done = 0; done < bytes; done += staging.bytes()) {
    int64_t part = std::min(staging.bytes(), bytes - done);
    std::memcpy(staging.data(), source + done, static_cast<size_t>(part));
    SART_RETURN_IF_ERROR(stream.copy(to + static_cast<DevicePtr>(done),
                                     addressOf(staging.data()), part));
    SART_RETURN_IF_ERROR(stream.synchronize());
  }
  return Status::success();
}

Status sart::copyFromDevice(CudaStream &stream, const PinnedMemory &staging,
                            void *to, DevicePtr from, int64_t bytes) {
  for (int64_t done = 0; done < bytes; done += staging.bytes()) {
    int64_t part = std::min(staging.bytes(), bytes - done);
    SART_RETURN_IF_ERROR(stream.copy(
        addressOf(staging.data()), from + static_cast<DevicePtr>(done), part));
    SART_RETURN_IF_ERROR(stream.synchronize());
    std::memcpy(static_cast<char *>(to) + done, staging.data(),
                static_cast<size_t>(part));
  }
  return Status::success();
}

/// Makes `memory` at least `bytes` long.
static Status grow(DeviceMemory &memory,
                   const std::shared_ptr<CudaDevice> &device, int64_t bytes,
                   const char *what) {
  if (memory.bytes() >= bytes)
    return Status::success();
  memory = DeviceMemory();
  auto created = DeviceMemory::allocate(device, bytes, what);
  if (!created)
    return created.status();
  memory = std::move(*created);
  return Status::success();
}

Expected<CudaKernelProblem>
CudaKernelProblem::create(std::shared_ptr<CudaStream> stream,
                          const LayerShape &shape, int64_t sets, int64_t seed) {
  CudaKernelProblem problem(std::move(stream), shape, seed);
  const std::shared_ptr<CudaDevice> &device = problem.stream->device();
  auto staging = PinnedMemory::allocate(device, kStagingBytes, "staging");
  if (!staging)
    return staging.status();
  problem.staging = std::move(*staging);
  SART_RETURN_IF_ERROR(
      grow(problem.o, device, problem.elements(0) * 2, "results"));
  SART_RETURN_IF_ERROR(
      grow(problem.lse, device, shape.heads * shape.sq * 4, "lse"));
  SART_RETURN_IF_ERROR(grow(problem.counter, device, 4, "tile counter"));
  static constexpr const char *kNames[] = {"q", "k", "v"};
  for (int64_t set = 0; set < sets; ++set) {
    problem.inputs.emplace_back();
    for (int64_t tensor = 0; tensor < 3; ++tensor) {
      DeviceMemory &memory =
          problem.inputs.back().qkv[static_cast<size_t>(tensor)];
      int64_t count = problem.elements(tensor);
      SART_RETURN_IF_ERROR(grow(memory, device, count * 2, kNames[tensor]));
      SART_RETURN_IF_ERROR(
          problem.generate(memory, streamOf(set, tensor), count));
    }
  }
  return problem;
}

Status CudaKernelProblem::generate(const DeviceMemory &to, int64_t number,
                                   int64_t count) {
  int64_t most = staging.bytes() / 2;
  auto *host = reinterpret_cast<uint16_t *>(staging.data());
  for (int64_t begin = 0; begin < count; begin += most) {
    int64_t part = std::min(most, count - begin);
    inThreads(part, [&](int64_t first, int64_t last) {
      source.fill(host + first, number, begin + first, last - first);
    });
    SART_RETURN_IF_ERROR(
        stream->copy(to.address() + static_cast<DevicePtr>(begin * 2),
                     addressOf(host), part * 2));
    SART_RETURN_IF_ERROR(stream->synchronize());
  }
  return Status::success();
}

Status CudaKernelProblem::useLists(const BlockLists &given) {
  layer.blockQ = given.shape().blockQ;
  layer.blockK = given.shape().blockK;
  const std::shared_ptr<CudaDevice> &device = stream->device();
  auto upload = [&](DeviceMemory &memory, const void *data, size_t bytes,
                    const char *what) -> Status {
    auto size = static_cast<int64_t>(bytes);
    SART_RETURN_IF_ERROR(grow(memory, device, size, what));
    return copyToDevice(*stream, staging, memory.address(), data, size);
  };
  SART_RETURN_IF_ERROR(upload(lists, given.rows().data(),
                              given.rows().size() * sizeof(int32_t), "lists"));
  std::vector<DeviceTileRecord> order = given.orderedTiles();
  tileCount = static_cast<int64_t>(order.size());
  listStride = given.stride();
  SART_RETURN_IF_ERROR(
      upload(tiles, order.data(), order.size() * sizeof(order[0]), "tiles"));
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
  return upload(entries, records.data(), records.size() * sizeof(records[0]),
                "entries");
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
  auto scan = [&](const DeviceMemory &memory, DType dtype,
                  int64_t count) -> Status {
    int64_t size = byteSize(dtype), most = staging.bytes() / size;
    for (int64_t begin = 0; begin < count; begin += most) {
      int64_t part = std::min(most, count - begin);
      SART_RETURN_IF_ERROR(
          stream->copy(addressOf(staging.data()),
                       memory.address() + static_cast<DevicePtr>(begin * size),
                       part * size));
      SART_RETURN_IF_ERROR(stream->synchronize());
      inThreads(part, [&](int64_t first, int64_t last) {
        int64_t here = 0;
        for (int64_t i = first; i < last; ++i)
          here += std::isnan(loadAsFloat(staging.data(), dtype, i));
        found += here;
      });
    }
    return Status::success();
  };
  SART_RETURN_IF_ERROR(scan(o, layer.dtype, elements(0)));
  SART_RETURN_IF_ERROR(scan(lse, DType::F32, layer.heads * layer.sq));
  result.notWritten = found;
  return Status::success();
}

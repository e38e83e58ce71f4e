//===- CudaAttend.cpp - Attention on a GPU --------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One launch for all heads of an instruction. A kernel orders the tiles on the
// device, longest first in each head; CTAs take them from a counter.
//
//===----------------------------------------------------------------------===//
#include "CudaBackend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

using namespace sart;
using namespace sart::cuda;

/// log2(e): kernels compute powers of two.
static constexpr double log2OfE = 1.4426950408889634;

bool CudaBackend::MapKey::operator<(const MapKey &o) const {
  auto fields = [](const MapKey &key) {
    return std::tie(key.base, key.dtype, key.rows, key.rowStride, key.slots,
                    key.slotStride, key.columns, key.boxColumns, key.boxRows);
  };
  return fields(*this) < fields(o);
}

/// The first slot of a view's window.
static const char *baseOf(const SlotView &view) {
  return static_cast<const char *>(view.data) -
         view.slot * view.slotStride * byteSize(view.dtype);
}

Expected<TensorMap> CudaBackend::mapOf(const SlotView &view,
                                       const DeviceLaunch &launch,
                                       int32_t boxRows, const char *what) {
  MapKey key = {baseOf(view),     view.dtype,     view.rows,
                view.rowStride,   view.slots,     view.slotStride,
                view.rowElements, launch.boxCols, boxRows};
  auto found = maps.find(key);
  if (found != maps.end())
    return found->second;
  TensorMapView tensor;
  tensor.address = addressOf(key.base);
  tensor.dtype = view.dtype;
  tensor.columns = view.rowElements;
  // Nothing is loaded from a tensor without rows.
  tensor.rows = std::max<int64_t>(view.rows, 1);
  tensor.heads = std::max<int64_t>(view.slots, 1);
  tensor.rowBytes = view.rowStride * byteSize(view.dtype);
  tensor.headBytes = view.slotStride * byteSize(view.dtype);
  tensor.boxColumns = launch.boxCols;
  tensor.boxRows = boxRows;
  auto map = encodeTensorMap(shared->device->driver(), tensor, what);
  if (map)
    maps.emplace(key, *map);
  return map;
}

Status CudaBackend::checkAttend(const std::vector<AttendTask> &tasks) const {
  const AttendTask &first = tasks.front();
  for (const AttendTask &task : tasks) {
    // One instruction names one window per operand.
    DType inputs = first.q.dtype;
    if (task.k.dtype != inputs || task.v.dtype != inputs ||
        task.lse.dtype != DType::F32 || task.mask.dtype != DType::I32)
      return makeError(
          "dtypes of attend do not match: got ", toString(task.q.dtype), ", ",
          toString(task.k.dtype), ", ", toString(task.v.dtype), ", lse ",
          toString(task.lse.dtype), ", mask ", toString(task.mask.dtype),
          ", expected ", toString(inputs), " three times, f32 and i32");
    if (task.lse.rowStride != 1)
      return makeError("stride of lse: got ", task.lse.rowStride,
                       ", expected 1");
    for (auto part : {&AttendTask::q, &AttendTask::k, &AttendTask::v})
      if (baseOf(task.*part) != baseOf(first.*part) ||
          (task.*part).rows != (first.*part).rows)
        return makeError("windows of attend: got tasks of several windows, "
                         "expected one for each operand");
    if (task.o.rowStride != first.o.rowStride ||
        task.mask.rowStride != first.mask.rowStride)
      return makeError("strides of attend: got ", task.o.rowStride, " and ",
                       task.mask.rowStride,
                       ", expected those of the first "
                       "task, ",
                       first.o.rowStride, " and ", first.mask.rowStride);
  }
  return Status::success();
}

Status CudaBackend::orderTiles(const std::vector<AttendTask> &tasks,
                               DevicePtr tiles) {
  std::vector<DeviceOrderRecord> records;
  int64_t next = 0, most = 0;
  for (const AttendTask &task : tasks) {
    DeviceOrderRecord record;
    record.mask = addressOf(task.mask.data);
    record.maskStride = static_cast<int32_t>(task.mask.rowStride);
    record.entry = static_cast<int32_t>(records.size());
    record.qBegin = static_cast<int32_t>(task.qBegin);
    record.qEnd = static_cast<int32_t>(task.qEnd);
    record.kvBegin = static_cast<int32_t>(task.kvBlocks.begin);
    record.kvEnd = static_cast<int32_t>(task.kvBlocks.end);
    record.firstTile = static_cast<int32_t>(next);
    records.push_back(record);
    next += task.qEnd - task.qBegin;
    most = std::max(most, task.qEnd - task.qBegin);
  }
  auto shape = deviceOrderLaunch(static_cast<int64_t>(records.size()), most);
  if (!shape)
    return shape.status();
  auto uploaded = scratch.upload(records);
  if (!uploaded)
    return uploaded.status();
  return launch(
      *shape, KernelArguments().add(*uploaded).add(tiles).add(shape->sortSize));
}

Status CudaBackend::attend(const Program &program,
                           const std::vector<AttendTask> &tasks) {
  attended.emplace_back();
  int64_t tileCount = 0;
  for (const AttendTask &task : tasks)
    tileCount += task.qEnd - task.qBegin;
  if (tileCount == 0)
    return Status::success();
  if (tileCount > std::numeric_limits<int32_t>::max())
    return makeError("tiles of an attend: got ", tileCount, ", expected below ",
                     std::numeric_limits<int32_t>::max());
  SART_RETURN_IF_ERROR(checkAttend(tasks));
  const AttendTask &first = tasks.front();
  auto kernel = find(attendKernel(program, first.q.dtype, first.o.dtype));
  if (!kernel)
    return kernel.status();
  const DeviceLaunch &how = *(*kernel)->launch;
  DeviceScope scope(*shared->device);
  SART_RETURN_IF_ERROR(scope.status());
  auto function = functionOf(**kernel);
  if (!function)
    return function.status();

  TensorMap sources[maxSources][3];
  const SlotView *views[3] = {&first.q, &first.k, &first.v};
  const char *names[3] = {"window of q", "window of k", "window of v"};
  for (size_t i = 0; i < 3; ++i) {
    auto map =
        mapOf(*views[i], how, i == 0 ? how.qBoxRows : how.kvBoxRows, names[i]);
    if (!map)
      return map.status();
    for (auto &source : sources)
      source[i] = *map;
  }
  std::vector<EntryRecord> entries;
  for (const AttendTask &task : tasks) {
    EntryRecord entry;
    entry.o = addressOf(task.o.data);
    entry.lse = addressOf(task.lse.data);
    entry.mask = addressOf(task.mask.data);
    entry.qHead = static_cast<int32_t>(task.q.slot);
    entry.kvHead = static_cast<int32_t>(task.k.slot);
    entry.qRows = static_cast<int32_t>(task.q.rows);
    entry.kvRows = static_cast<int32_t>(task.k.rows);
    entries.push_back(entry);
  }
  auto entryMemory = scratch.upload(entries);
  if (!entryMemory)
    return entryMemory.status();
  int64_t tileBytes = tileCount * int64_t(sizeof(DeviceTileRecord));
  auto tiles = scratch.reserve(tileBytes);
  if (!tiles)
    return tiles.status();
  auto counter = scratch.reserve(sizeof(int32_t));
  if (!counter)
    return counter.status();
  SART_RETURN_IF_ERROR(stream().fill(*counter, 0, sizeof(int32_t)));
  SART_RETURN_IF_ERROR(orderTiles(tasks, *tiles));

  LaunchShape shape;
  int64_t workers = (tileCount + how.tilesPerCta - 1) / how.tilesPerCta;
  shape.grid = how.persistent
                   ? std::min<int64_t>(
                         workers, shared->device->properties().multiprocessors)
                   : workers;
  shape.threads = how.threads;
  shape.sharedBytes = how.sharedBytes;
  KernelArguments arguments;
  arguments.addBytes(sources, sizeof(sources), 64)
      .add(*entryMemory)
      .add(*tiles)
      .add(static_cast<int32_t>(tileCount))
      .add(*counter)
      .add(static_cast<int64_t>(first.o.rowStride))
      .add(static_cast<int32_t>(first.mask.rowStride))
      .add(static_cast<float>(static_cast<double>(program.scale) * log2OfE));
  SART_RETURN_IF_ERROR(stream().launch(**function, shape, arguments));

  // The lists' lengths are what was computed; the host adds them at the end.
  auto counted = scratch.download(*tiles, tileBytes);
  if (!counted)
    return counted.status();
  attended.back() = {reinterpret_cast<const DeviceTileRecord *>(*counted),
                     tileCount, first.mask.rowElements - 1};
  return Status::success();
}

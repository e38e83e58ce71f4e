//===- CudaRouting.cpp - Pooling and routing on a GPU ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CudaBackend.h"

#include <algorithm>

using namespace sart;
using namespace sart::cuda;

Status CudaBackend::pool(const Program &program, bool keySide,
                         const std::vector<PoolTask> &tasks) {
  std::vector<DevicePoolRecord> records;
  int64_t most = 0;
  for (const PoolTask &task : tasks) {
    if (task.y.dtype != DType::F32 || task.x.dtype != tasks.front().x.dtype)
      return makeError("dtypes of pool do not match: got ",
                       toString(task.x.dtype), " to ", toString(task.y.dtype),
                       ", expected ", toString(tasks.front().x.dtype),
                       " to f32");
    if (task.blockBegin == task.blockEnd)
      continue;
    DevicePoolRecord record;
    record.x = addressOf(task.x.data);
    record.y = addressOf(task.y.data);
    record.xStride = task.x.rowStride;
    record.rows = static_cast<int32_t>(task.x.rows);
    record.yStride = static_cast<int32_t>(task.y.rowStride);
    record.blockBegin = static_cast<int32_t>(task.blockBegin);
    record.blockEnd = static_cast<int32_t>(task.blockEnd);
    records.push_back(record);
    most = std::max(most, task.blockEnd - task.blockBegin);
  }
  if (records.empty())
    return Status::success();
  DeviceScope scope(*shared->device);
  SART_RETURN_IF_ERROR(scope.status());
  auto shape = devicePoolLaunch(
      poolKernel(program, tasks.front().x.dtype, keySide).name(),
      static_cast<int64_t>(records.size()), most);
  if (!shape)
    return shape.status();
  auto memory = scratch.upload(records);
  if (!memory)
    return memory.status();
  return launch(*shape,
                KernelArguments().add(*memory).add(shape->ctasPerRecord));
}

Status CudaBackend::route(const Program &program,
                          const std::vector<RouteTask> &tasks, RouteStats &) {
  const RoutingPolicy &policy = program.policy;
  bool topK = policy.kind == RoutingPolicy::Kind::TopK;
  int64_t kvBlocks = program.placement.shape.kvBlocks();
  DeviceScope scope(*shared->device);
  SART_RETURN_IF_ERROR(scope.status());
  std::vector<DeviceRouteRecord> records;
  int64_t most = 0;
  for (const RouteTask &task : tasks) {
    if (task.pooledQ.dtype != DType::F32 || task.pooledK.dtype != DType::F32 ||
        task.mask.dtype != DType::I32)
      return makeError(
          "dtypes of route do not match: got ", toString(task.pooledQ.dtype),
          ", ", toString(task.pooledK.dtype), ", mask ",
          toString(task.mask.dtype), ", expected f32, f32 and i32");
    int64_t rows = task.qEnd - task.qBegin;
    if (rows == 0)
      continue;
    DeviceRouteRecord record;
    record.pooledQ = addressOf(task.pooledQ.data);
    record.pooledK = addressOf(task.pooledK.data);
    record.mask = addressOf(task.mask.data);
    record.summary = addressOf(task.summary.data);
    record.rowTiles =
        record.summary + MaskSummary::rowWords(kvBlocks) * sizeof(int32_t);
    record.qBegin = static_cast<int32_t>(task.qBegin);
    record.qEnd = static_cast<int32_t>(task.qEnd);
    record.kvBlocks = static_cast<int32_t>(kvBlocks);
    record.qStride = static_cast<int32_t>(task.pooledQ.rowStride);
    record.kStride = static_cast<int32_t>(task.pooledK.rowStride);
    record.maskStride = static_cast<int32_t>(task.mask.rowStride);
    bool whole = std::all_of(task.visible.begin(), task.visible.end(),
                             [&](int64_t n) { return n == kvBlocks; });
    if (!whole) {
      auto visible = scratch.upload(
          std::vector<int32_t>(task.visible.begin(), task.visible.end()));
      if (!visible)
        return visible.status();
      record.visible = *visible;
    }
    auto figures = scratch.reserve(rows * int64_t(sizeof(DeviceRowFigures)));
    if (!figures)
      return figures.status();
    record.rowFigures = *figures;
    records.push_back(record);
    most = std::max(most, rows);
  }
  auto count = static_cast<int64_t>(records.size());
  if (count == 0)
    return Status::success();
  std::vector<int32_t> keep;
  for (const Range &range : policy.keep)
    for (int64_t border : {range.begin, range.end})
      keep.push_back(
          static_cast<int32_t>(std::clamp<int64_t>(border, 0, kvBlocks)));

  auto shape =
      deviceRouteLaunch(program.placement.shape.headDim, count, most, kvBlocks);
  if (!shape)
    return shape.status();
  auto memory = scratch.upload(records);
  if (!memory)
    return memory.status();
  auto keepMemory = scratch.upload(keep);
  if (!keepMemory)
    return keepMemory.status();
  auto minBlocks = static_cast<int32_t>(std::min(
      topK ? policy.k : policy.minBlocks, std::max<int64_t>(kvBlocks, 1)));
  SART_RETURN_IF_ERROR(
      launch(*shape, KernelArguments()
                         .add(*memory)
                         .add(shape->rowsPerCta)
                         .add(shape->ctasPerRecord)
                         .add(shape->scoreStride)
                         .add(program.scale)
                         .add(topK ? 0.0f : policy.p)
                         .add(minBlocks)
                         .add(*keepMemory)
                         .add(static_cast<int32_t>(keep.size() / 2))));

  auto totalsShape = deviceTotalsLaunch(count);
  if (!totalsShape)
    return totalsShape.status();
  int64_t bytes = count * int64_t(sizeof(DeviceRouteTotals));
  auto totals = scratch.reserve(bytes);
  if (!totals)
    return totals.status();
  SART_RETURN_IF_ERROR(
      launch(*totalsShape, KernelArguments().add(*memory).add(*totals)));
  auto staged = scratch.download(*totals, bytes);
  if (!staged)
    return staged.status();
  routed.push_back(
      {reinterpret_cast<const DeviceRouteTotals *>(*staged), count});
  return Status::success();
}

//===- CudaRows.cpp - Merging and converting on a GPU ---------------------===//
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

/// Kernels take elements in groups of this many.
static constexpr int64_t groupElements = 4;

static Status checkColumns(const char *what, int64_t columns) {
  if (columns % groupElements != 0)
    return makeError("elements of a row to ", what, " on a GPU: got ", columns,
                     ", expected a multiple of ", groupElements);
  return Status::success();
}

static uint64_t rowOf(const SlotView &view, int64_t row) {
  return addressOf(view.data) +
         static_cast<uint64_t>(row * view.rowStride * byteSize(view.dtype));
}

Status CudaBackend::merge(const Program &,
                          const std::vector<MergeTask> &tasks) {
  std::vector<DeviceMergeRecord> records;
  int64_t most = 0, columns = 0;
  for (const MergeTask &task : tasks) {
    if (task.rowBegin == task.rowEnd)
      continue;
    DeviceMergeRecord record;
    record.oPart = rowOf(task.oPart, task.rowBegin);
    record.lsePart = rowOf(task.lsePart, task.rowBegin);
    record.o = rowOf(task.o, task.rowBegin);
    record.lse = rowOf(task.lse, task.rowBegin);
    record.oPartStride = task.oPart.rowStride;
    record.lsePartStride = task.lsePart.rowStride;
    record.oStride = task.o.rowStride;
    record.lseStride = task.lse.rowStride;
    record.rows = task.rowEnd - task.rowBegin;
    records.push_back(record);
    most = std::max(most, record.rows);
    columns = task.o.rowElements;
  }
  if (records.empty())
    return Status::success();
  SART_RETURN_IF_ERROR(checkColumns("merge", columns));
  DeviceScope scope(*shared->device);
  SART_RETURN_IF_ERROR(scope.status());
  auto shape = deviceMergeLaunch(static_cast<int64_t>(records.size()), most);
  if (!shape)
    return shape.status();
  auto memory = scratch.upload(records);
  if (!memory)
    return memory.status();
  return launch(*shape, KernelArguments()
                            .add(*memory)
                            .add(shape->ctasPerRecord)
                            .add(static_cast<int32_t>(columns)));
}

Status CudaBackend::convert(const Program &,
                            const std::vector<ConvertTask> &tasks) {
  std::vector<DeviceConvertRecord> records;
  int64_t most = 0;
  DeviceScope scope(*shared->device);
  SART_RETURN_IF_ERROR(scope.status());
  for (const ConvertTask &task : tasks) {
    // One instruction names one window per operand.
    const ConvertTask &first = tasks.front();
    if (task.from.dtype != first.from.dtype ||
        task.to.dtype != first.to.dtype ||
        task.to.rowElements != first.to.rowElements)
      return makeError("tasks of a conversion do not match: got ",
                       toString(task.from.dtype), " to ",
                       toString(task.to.dtype), " of ", task.to.rowElements,
                       " elements, expected those of the first task, ",
                       toString(first.from.dtype), " to ",
                       toString(first.to.dtype), " of ", first.to.rowElements);
    int64_t rows = task.rowEnd - task.rowBegin;
    if (rows == 0)
      continue;
    uint64_t from = rowOf(task.from, task.rowBegin);
    uint64_t to = rowOf(task.to, task.rowBegin);
    int64_t bytes = byteSize(task.to.dtype);
    if (task.from.dtype == task.to.dtype) {
      SART_RETURN_IF_ERROR(stream().copyRows(
          {to, task.to.rowStride * bytes}, {from, task.from.rowStride * bytes},
          task.to.rowElements * bytes, rows));
      continue;
    }
    records.push_back({from, to, task.from.rowStride, task.to.rowStride, rows});
    most = std::max(most, rows);
  }
  if (records.empty())
    return Status::success();
  const ConvertTask &first = tasks.front();
  SART_RETURN_IF_ERROR(checkColumns("convert", first.to.rowElements));
  auto shape = deviceConvertLaunch(
      convertKernel(first.from.dtype, first.to.dtype).name(),
      static_cast<int64_t>(records.size()), most, first.to.rowElements);
  if (!shape)
    return shape.status();
  auto memory = scratch.upload(records);
  if (!memory)
    return memory.status();
  return launch(*shape, KernelArguments()
                            .add(*memory)
                            .add(shape->ctasPerRecord)
                            .add(static_cast<int32_t>(first.to.rowElements)));
}

//===- RankElsewhere.cpp - Routing where the host cannot reach the memory -===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HostRows.h"
#include "RankExecutor.h"

#include <algorithm>

using namespace sart;

Status RankExecutor::clearSummaries(const std::vector<Work> &work,
                                    const std::vector<RouteTask> &tasks) {
  std::vector<const SlotView *> summaries(static_cast<size_t>(shape().heads));
  for (size_t i = 0; i < tasks.size(); ++i)
    summaries[static_cast<size_t>(work[i].head)] = &tasks[i].summary;
  // Heads in a row stand at equal distances.
  for (size_t begin = 0; begin < summaries.size();) {
    size_t end = begin + 1;
    if (const SlotView *first = summaries[begin]) {
      while (end < summaries.size() && summaries[end])
        ++end;
      SART_RETURN_IF_ERROR(arena.memory().fill(
          {first->data, first->slotStride * byteSize(DType::I32),
           first->rowElements * byteSize(DType::I32),
           static_cast<int64_t>(end - begin)},
          0));
    }
    begin = end;
  }
  return Status::success();
}

Status RankExecutor::scoreElsewhere(const std::vector<Work> &work,
                                    const std::vector<RouteTask> &tasks) {
  MemorySpace &space = arena.memory();
  SART_RETURN_IF_ERROR(clearSummaries(work, tasks));
  SART_RETURN_IF_ERROR(backend.route(shared.program, tasks, record().routing));
  // The windows are moved and released; a copy waits for who asks for the mask.
  int64_t rowBytes = (shape().kvBlocks() + 1) * byteSize(DType::I32);
  int64_t rows = 0;
  for (const Work &entry : work)
    rows += entry.qEnd - entry.qBegin;
  if (routedCount + rows > routedCapacity) {
    SART_RETURN_IF_ERROR(fetchRows());
    auto memory = space.allocate(
        rows * rowBytes, concat("memory of routed rows on rank ", rank));
    if (!memory)
      return memory.status();
    routedRows = std::move(*memory);
    routedCapacity = rows;
  }
  SegmentList from, to;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const SlotView &mask = tasks[i].mask;
    int64_t pitch = mask.rowStride * byteSize(DType::I32);
    int64_t count = work[i].qEnd - work[i].qBegin;
    from.push_back({static_cast<char *>(mask.data) + work[i].qBegin * pitch,
                    count * pitch});
    to.push_back({routedRows.get() + routedCount * rowBytes, count * rowBytes});
    unfetched.push_back(
        {work[i].head,
         {originOf(work[i]) + work[i].qBegin, originOf(work[i]) + work[i].qEnd},
         routedCount});
    routedCount += count;
  }
  SART_RETURN_IF_ERROR(space.copy(from, to));
  return shared.options.coverage ? fetchRows() : Status::success();
}

Status RankExecutor::fetchRows() {
  if (unfetched.empty())
    return Status::success();
  int64_t rowInts = shape().kvBlocks() + 1;
  int64_t rowBytes = rowInts * byteSize(DType::I32);
  std::vector<int32_t> rows(static_cast<size_t>(routedCount * rowInts));
  MemoryRows all{routedRows.get(), rowBytes, rowBytes, routedCount};
  SART_RETURN_IF_ERROR(arena.memory().toHost(
      {rows.data(), rowBytes, rowBytes, routedCount}, all));
  SART_RETURN_IF_ERROR(arena.memory().finish());
  for (const RoutedRows &piece : unfetched)
    for (int64_t i = 0; i < piece.qBlocks.size(); ++i) {
      const int32_t *row = rows.data() + (piece.firstRow + i) * rowInts;
      if (row[0] < 0 || row[0] >= rowInts)
        return makeError("routed row of head ", piece.head, " q-block ",
                         piece.qBlocks.begin + i, ": got count ", row[0],
                         ", expected 0 to ", rowInts - 1);
      record().rows.record(piece.head, piece.qBlocks.begin + i, row + 1,
                           row[0]);
    }
  unfetched.clear();
  routedCount = 0;
  rowsFetched = true;
  return Status::success();
}

Status RankExecutor::routeByRuleElsewhere(const std::vector<Work> &work,
                                          const std::vector<RouteTask> &tasks,
                                          bool dense) {
  int64_t words = MaskSummary::recordWords(placement());
  std::vector<std::vector<int32_t>> summaries(
      static_cast<size_t>(shape().heads));
  for (size_t i = 0; i < tasks.size(); ++i) {
    const RouteTask &task = tasks[i];
    HostRows rows(arena.memory(), task.mask, {task.qBegin, task.qEnd});
    std::vector<int32_t> &summary =
        summaries[static_cast<size_t>(work[i].head)];
    summary.resize(static_cast<size_t>(words));
    for (int64_t block = task.qBegin; block < task.qEnd; ++block) {
      auto *row = rows.row<int32_t>(block);
      SART_RETURN_IF_ERROR(fillRowByRule(
          shared.program, dense, originOf(work[i]) + block,
          task.visible[static_cast<size_t>(block - task.qBegin)], row));
      record().rows.record(work[i].head, originOf(work[i]) + block, row + 1,
                           row[0]);
      ++record().routing.rows;
      record().routing.keptPooledMass += 1;
      eventTiles += row[0];
      addToSummary(row, block, shape().kvBlocks(), summary.data());
    }
    SART_RETURN_IF_ERROR(rows.store());
    int64_t bytes = words * byteSize(DType::I32);
    SART_RETURN_IF_ERROR(
        arena.memory().fromHost({task.summary.data, bytes, bytes, 1},
                                {summary.data(), bytes, bytes, 1}));
  }
  return Status::success();
}

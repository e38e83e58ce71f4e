//===- RankRouting.cpp - Masks of one rank and the plan -------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "HostRows.h"
#include "RankExecutor.h"

#include "sparseattn-rt/Binder.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace sart;

static int32_t *maskRow(const SlotView &mask, int64_t block) {
  return static_cast<int32_t *>(mask.data) + block * mask.rowStride;
}

static Status checkInts(const SlotView &view, const char *what) {
  if (view.dtype != DType::I32)
    return makeError("dtype of ", what, " does not match: got ",
                     toString(view.dtype), ", expected i32");
  return Status::success();
}

Status sart::fillRowByRule(const Program &program, bool dense, int64_t qBlock,
                           int64_t visible, int32_t *row) {
  const LayerShape &shape = program.placement.shape;
  const RoutingPolicy &policy = program.policy;
  int64_t begin = 0, end = visible;
  if (!dense) {
    if (policy.kind != RoutingPolicy::Kind::Window)
      return makeError("policy explicit has no rule to route by: expected "
                       "top_p, top_k, dense or window, or a bound program");
    int64_t center = qBlock * shape.kvBlocks() / shape.qBlocks();
    begin = std::min(std::max<int64_t>(0, center - policy.windowBlocks), end);
    end = std::max(begin, std::min(end, center + policy.windowBlocks + 1));
  }
  row[0] = static_cast<int32_t>(end - begin);
  for (int64_t block = begin; block < end; ++block)
    row[1 + block - begin] = static_cast<int32_t>(block);
  return Status::success();
}

static Status checkFloats(const SlotView &view, const char *what) {
  if (view.dtype != DType::F32)
    return makeError("dtype of ", what, " does not match: got ",
                     toString(view.dtype), ", expected f32");
  return Status::success();
}

/// Dot product of two rows whose length is a multiple of 8, in an order that
/// vectorises.
static float dotProduct(const float *a, const float *b, int64_t length) {
  float lanes[8] = {};
  for (int64_t i = 0; i < length; i += 8)
    for (int64_t lane = 0; lane < 8; ++lane)
      lanes[lane] += a[i + lane] * b[i + lane];
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
         ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

/// Adds a work entry's tiles and kv-blocks to the record of its head:
/// [tiles, demand bits..., row tiles...].
Status RankExecutor::writeSummary(int32_t window, const Work &work,
                                  const SlotView &mask, bool first) {
  int64_t words = MaskSummary::recordWords(placement());
  auto view = arena.view(window, work.head, 1, words);
  if (!view)
    return view.status();
  SART_RETURN_IF_ERROR(checkInts(*view, "a mask summary"));
  auto *summary = static_cast<int32_t *>(view->data);
  if (first)
    std::memset(summary, 0, static_cast<size_t>(words) * sizeof(int32_t));
  for (int64_t block = work.qBegin; block < work.qEnd; ++block)
    addToSummary(maskRow(mask, block), block, shape().kvBlocks(), summary);
  return Status::success();
}

Expected<std::vector<RouteTask>>
RankExecutor::routeTasks(const Instruction &instruction,
                         const std::vector<Work> &work, bool scored) {
  const LayerShape &layer = shape();
  std::vector<RouteTask> tasks;
  for (const Work &entry : work) {
    RouteTask task;
    auto mask = arena.view(instruction.windows[2], entry.qSlot, blocksOf(entry),
                           layer.kvBlocks() + 1);
    if (!mask)
      return mask.status();
    SART_RETURN_IF_ERROR(checkInts(*mask, "a mask"));
    task.mask = *mask;
    task.qBegin = entry.qBegin;
    task.qEnd = entry.qEnd;
    for (int64_t block = entry.qBegin; block < entry.qEnd; ++block)
      task.visible.push_back(layer.visibleKvBlocks(originOf(entry) + block));
    if (scored) {
      auto pooledQ = arena.view(instruction.windows[0], entry.qSlot,
                                blocksOf(entry), layer.headDim);
      if (!pooledQ)
        return pooledQ.status();
      auto pooledK = arena.view(instruction.windows[1], entry.kvSlot,
                                layer.kvBlocks(), layer.headDim);
      if (!pooledK)
        return pooledK.status();
      task.pooledQ = *pooledQ;
      task.pooledK = *pooledK;
    }
    if (!onHost) {
      auto summary = arena.view(instruction.windows[3], entry.head, 1,
                                MaskSummary::recordWords(placement()));
      if (!summary)
        return summary.status();
      SART_RETURN_IF_ERROR(checkInts(*summary, "a mask summary"));
      task.summary = *summary;
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

Status RankExecutor::route(const Instruction &instruction) {
  auto work = workOf(instruction);
  if (!work)
    return work.status();
  skipped = work->empty();
  const LayerShape &layer = shape();
  const RoutingPolicy &policy = shared.program.policy;
  bool dense = shared.dense || policy.kind == RoutingPolicy::Kind::Dense;
  bool scored = !dense && (policy.kind == RoutingPolicy::Kind::TopP ||
                           policy.kind == RoutingPolicy::Kind::TopK);
  auto tasks = routeTasks(instruction, *work, scored);
  if (!tasks)
    return tasks.status();
  if (!onHost)
    return scored ? scoreElsewhere(*work, *tasks)
                  : routeByRuleElsewhere(*work, *tasks, dense);
  if (scored)
    SART_RETURN_IF_ERROR(
        backend.route(shared.program, *tasks, record().routing));

  std::vector<bool> seen(static_cast<size_t>(layer.heads), false);
  for (size_t i = 0; i < tasks->size(); ++i) {
    const Work &entry = (*work)[i];
    const RouteTask &task = (*tasks)[i];
    auto head = static_cast<size_t>(entry.head);
    for (int64_t block = entry.qBegin; block < entry.qEnd; ++block) {
      int32_t *row = maskRow(task.mask, block);
      if (!scored) {
        SART_RETURN_IF_ERROR(fillRowByRule(
            shared.program, dense, originOf(entry) + block,
            task.visible[static_cast<size_t>(block - entry.qBegin)], row));
        // Nothing was weighed, so that nothing was left out.
        ++record().routing.rows;
        record().routing.keptPooledMass += 1;
      }
      record().rows.record(entry.head, originOf(entry) + block, row + 1,
                           row[0]);
      eventTiles += row[0];
    }
    SART_RETURN_IF_ERROR(
        writeSummary(instruction.windows[3], entry, task.mask, !seen[head]));
    seen[head] = true;
  }
  return Status::success();
}

Status RankExecutor::loadMask(const Instruction &instruction) {
  auto work = workOf(instruction);
  if (!work)
    return work.status();
  skipped = work->empty();
  const BlockMask &mask = *shared.program.mask;
  for (const Work &entry : *work) {
    auto view = arena.view(instruction.windows[0], entry.qSlot, blocksOf(entry),
                           shape().kvBlocks() + 1);
    if (!view)
      return view.status();
    SART_RETURN_IF_ERROR(checkInts(*view, "a mask"));
    HostRows rows(arena.memory(), *view, {entry.qBegin, entry.qEnd});
    for (int64_t block = entry.qBegin; block < entry.qEnd; ++block) {
      int64_t count = mask.count(entry.head, originOf(entry) + block);
      const int32_t *indices = mask.row(entry.head, originOf(entry) + block);
      auto *row = rows.row<int32_t>(block);
      row[0] = static_cast<int32_t>(count);
      std::copy(indices, indices + count, row + 1);
      eventTiles += count;
    }
    SART_RETURN_IF_ERROR(rows.store());
  }
  return Status::success();
}

Status RankExecutor::augment(const Instruction &instruction) {
  auto work = workOf(instruction);
  if (!work)
    return work.status();
  skipped = true;
  const LayerShape &layer = shape();
  int64_t kvBlocks = layer.kvBlocks();
  SART_RETURN_IF_ERROR(fetchRows());
  for (const Work &entry : *work) {
    if (entry.budget <= 0 || entry.qBegin == entry.qEnd)
      continue;
    skipped = false;
    auto pooledQ = arena.view(instruction.windows[0], entry.qSlot,
                              blocksOf(entry), layer.headDim);
    if (!pooledQ)
      return pooledQ.status();
    auto pooledK = arena.view(instruction.windows[1], entry.kvSlot, kvBlocks,
                              layer.headDim);
    if (!pooledK)
      return pooledK.status();
    auto mask = arena.view(instruction.windows[2], entry.qSlot, blocksOf(entry),
                           kvBlocks + 1);
    if (!mask)
      return mask.status();
    SART_RETURN_IF_ERROR(checkInts(*mask, "a mask"));
    SART_RETURN_IF_ERROR(checkFloats(*pooledQ, "pooled queries"));
    SART_RETURN_IF_ERROR(checkFloats(*pooledK, "pooled keys"));
    Range blocks{entry.qBegin, entry.qEnd};
    HostRows queries(arena.memory(), *pooledQ, blocks);
    HostRows keys(arena.memory(), *pooledK, {0, kvBlocks});
    HostRows lists(arena.memory(), *mask, blocks);
    for (HostRows *rows : {&queries, &keys, &lists})
      SART_RETURN_IF_ERROR(rows->load());

    int64_t count = blocks.size();
    // A tile that the row cannot see comes last.
    std::vector<float> scores(static_cast<size_t>(count * kvBlocks),
                              -std::numeric_limits<float>::infinity());
    std::vector<std::vector<int32_t>> rows;
    for (int64_t i = 0; i < count; ++i) {
      int64_t block = entry.qBegin + i;
      const float *q = queries.row<float>(block);
      int64_t visible = layer.visibleKvBlocks(originOf(entry) + block);
      for (int64_t j = entry.kvBegin; j < std::min(entry.kvEnd, visible); ++j) {
        const float *k = keys.row<float>(j);
        scores[static_cast<size_t>(i * kvBlocks + j)] =
            dotProduct(q, k, layer.headDim) * shared.program.scale;
      }
      const auto *row = lists.row<int32_t>(block);
      if (row[0] < 0 || row[0] > kvBlocks)
        return makeError("mask row was not written: got count ", row[0],
                         ", expected 0 to ", kvBlocks);
      rows.emplace_back(row + 1, row + 1 + row[0]);
    }
    eventTiles += addExtraTiles(rows, scores, kvBlocks,
                                {entry.kvBegin, entry.kvEnd}, entry.budget);
    for (int64_t i = 0; i < count; ++i) {
      const std::vector<int32_t> &tiles = rows[static_cast<size_t>(i)];
      auto *row = lists.row<int32_t>(entry.qBegin + i);
      row[0] = static_cast<int32_t>(tiles.size());
      std::copy(tiles.begin(), tiles.end(), row + 1);
      record().rows.record(entry.head, originOf(entry) + entry.qBegin + i,
                           row + 1, row[0]);
    }
    SART_RETURN_IF_ERROR(lists.store());
  }
  return Status::success();
}

Status RankExecutor::plan(const Instruction &instruction) {
  const Program &program = shared.program;
  auto summary = readSummaries(program, arena, instruction.windows[0]);
  if (!summary)
    return summary.status();
  Clock::time_point begin = Clock::now();
  RankRecord &own = record();
  own.routedLoads =
      rankLoads(summary->loads, Plan().owners(placement()), placement().mesh);
  if (shared.givenPlan) {
    Status status = shared.givenPlan->verify(placement());
    if (!status.ok())
      return makeError("plan refused: ", status.message());
    own.plan = *shared.givenPlan;
  } else {
    auto made = makePlan(*summary, placement(), program.planner);
    if (!made)
      return made.status();
    own.plan = std::move(*made);
  }
  auto bound = bindPlanForRank(program, *own.plan, rank);
  if (!bound)
    return bound.status();
  symbols = std::move(*bound);
  own.planNs = nanosecondsSince(begin);
  if (shared.options.validate && shared.options.coverage)
    SART_RETURN_IF_ERROR(gatherRows());
  // The other ranks wait for the hash below, that is, for the validation.
  if (rank == 0 && shared.options.validate)
    SART_RETURN_IF_ERROR(validatePlan(shared, *own.plan, *summary));
  uint64_t hash = own.plan->hash();
  auto hashes = endpoint.allGather(hash);
  if (!hashes)
    return hashes.status();
  for (size_t peer = 0; peer < hashes->size(); ++peer)
    if ((*hashes)[peer] != hash)
      return makeError("plans of the ranks differ: got hash ", (*hashes)[peer],
                       " on rank ", peer, ", expected ", hash, " as on rank ",
                       rank);
  return Status::success();
}

//===- RankCompute.cpp - Instructions that compute ------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RankExecutor.h"

#include <algorithm>
#include <functional>

using namespace sart;

/// Tiles of one mask row inside `kvBlocks`; refuses a row that nobody wrote or
/// that leaves the mask.
static Expected<int64_t> countRow(const int32_t *row, Range kvBlocks,
                                  int64_t numKvBlocks) {
  int64_t count = row[0];
  if (count < 0 || count > numKvBlocks)
    return makeError("mask row was not written: got count ", count,
                     ", expected 0 to ", numKvBlocks);
  if (count == 0)
    return int64_t(0);
  const int32_t *begin = row + 1, *end = begin + count;
  if (*begin < 0 || end[-1] >= numKvBlocks)
    return makeError("kv-blocks of a mask row out of range: got ", *begin,
                     " to ", end[-1], ", expected 0 to ", numKvBlocks - 1);
  if (const int32_t *descent =
          std::adjacent_find(begin, end, std::greater_equal<int32_t>());
      descent != end)
    return makeError("kv-blocks of a mask row must ascend: got ", descent[1],
                     " after ", *descent, ", expected more");
  if (kvBlocks.begin == 0 && kvBlocks.end == numKvBlocks)
    return count;
  return std::lower_bound(begin, end, kvBlocks.end) -
         std::lower_bound(begin, end, kvBlocks.begin);
}

Status RankExecutor::attend(const Instruction &instruction) {
  auto work = workOf(instruction);
  if (!work)
    return work.status();
  skipped = work->empty();
  const LayerShape &layer = shape();
  int64_t rowInts = layer.kvBlocks() + 1;
  std::vector<AttendTask> tasks;
  for (const Work &entry : *work) {
    AttendTask task;
    auto take = [&](SlotView &view, size_t operand, int64_t slot, int64_t rows,
                    int64_t elements) -> Status {
      auto found =
          arena.view(instruction.windows[operand], slot, rows, elements);
      if (!found)
        return found.status();
      view = *found;
      return Status::success();
    };
    SART_RETURN_IF_ERROR(
        take(task.q, 0, entry.qSlot, rowsOf(entry), layer.headDim));
    SART_RETURN_IF_ERROR(
        take(task.k, 1, entry.kvSlot, layer.skv, layer.headDim));
    SART_RETURN_IF_ERROR(
        take(task.v, 2, entry.kvSlot, layer.skv, layer.headDim));
    SART_RETURN_IF_ERROR(
        take(task.mask, 3, entry.qSlot, blocksOf(entry), rowInts));
    SART_RETURN_IF_ERROR(
        take(task.o, 4, entry.qSlot, rowsOf(entry), layer.headDim));
    SART_RETURN_IF_ERROR(take(task.lse, 5, entry.qSlot, rowsOf(entry), 1));
    task.qBegin = entry.qBegin;
    task.qEnd = entry.qEnd;
    task.kvBlocks = {entry.kvBegin, entry.kvEnd};
    // Row 0 is the first query of the origin's block; that of a segment without
    // blocks may lie behind the last token.
    task.diag = std::min(originOf(entry) * layer.blockQ, layer.sq) + layer.skv -
                layer.sq;
    // Elsewhere the backend counts, see finishPart.
    for (int64_t block = entry.qBegin; onHost && block < entry.qEnd; ++block) {
      const auto *row = static_cast<const int32_t *>(task.mask.data) +
                        block * task.mask.rowStride;
      auto tiles = countRow(row, task.kvBlocks, layer.kvBlocks());
      if (!tiles)
        return makeError("head ", entry.head, " q-block ",
                         originOf(entry) + block, ": ", tiles.message());
      eventTiles += *tiles;
    }
    tasks.push_back(task);
  }
  record().tiles += eventTiles;
  if (!onHost)
    attendEvents.push_back(shared.trace && !skipped ? record().events.size()
                                                    : noEvent);
  return backend.attend(shared.program, tasks);
}

Status RankExecutor::merge(const Instruction &instruction) {
  const Ints &flat = list(instruction, 0);
  skipped = flat.empty();
  if (flat.size() % chunkInts != 0)
    return makeError("length of a chunk list does not match: got ", flat.size(),
                     ", expected a multiple of ", chunkInts);
  const std::vector<int32_t> &windows = instruction.windows;
  int64_t headDim = shape().headDim;
  std::vector<MergeTask> tasks;
  for (const Chunk &chunk : toChunks(flat)) {
    if (chunk.rowBegin < 0 || chunk.rowEnd < chunk.rowBegin)
      return makeError("rows of a merge out of range: got ", chunk.rowBegin,
                       " to ", chunk.rowEnd);
    SlotView views[4];
    for (size_t i = 0; i < 4; ++i) {
      auto view = arena.view(windows[i], chunk.slot, chunk.rowEnd,
                             i % 2 == 0 ? headDim : 1);
      if (!view)
        return view.status();
      if (view->dtype != DType::F32)
        return makeError(
            "dtype of window ",
            shared.program.windows[static_cast<size_t>(windows[i])].name,
            " does not match: got ", toString(view->dtype),
            ", expected f32 for a merge");
      views[i] = *view;
    }
    tasks.push_back(
        {views[0], views[1], views[2], views[3], chunk.rowBegin, chunk.rowEnd});
  }
  return backend.merge(shared.program, tasks);
}

static bool isFloat(DType type) {
  return type == DType::F32 || type == DType::BF16 || type == DType::F16;
}

Status RankExecutor::convert(const Instruction &instruction) {
  const Ints &flat = list(instruction, 0);
  skipped = flat.empty();
  if (flat.size() % chunkInts != 0)
    return makeError("length of a chunk list does not match: got ", flat.size(),
                     ", expected a multiple of ", chunkInts);
  const Window &source =
      shared.program.windows[static_cast<size_t>(instruction.windows[0])];
  const Window &target =
      shared.program.windows[static_cast<size_t>(instruction.windows[1])];
  if (source.dtype != target.dtype &&
      !(isFloat(source.dtype) && isFloat(target.dtype)))
    return makeError("dtypes of a conversion not supported: got ",
                     toString(source.dtype), " to ", toString(target.dtype),
                     ", expected f32, bf16 or f16");
  std::vector<ConvertTask> tasks;
  for (const Chunk &chunk : toChunks(flat)) {
    if (chunk.rowBegin < 0 || chunk.rowEnd < chunk.rowBegin)
      return makeError("rows of a conversion out of range: got ",
                       chunk.rowBegin, " to ", chunk.rowEnd);
    auto from = arena.view(instruction.windows[0], chunk.slot, chunk.rowEnd,
                           source.rowElements);
    if (!from)
      return from.status();
    auto to = arena.view(instruction.windows[1], chunk.slot, chunk.rowEnd,
                         source.rowElements);
    if (!to)
      return to.status();
    tasks.push_back({*from, *to, chunk.rowBegin, chunk.rowEnd});
  }
  return backend.convert(shared.program, tasks);
}

Status RankExecutor::pool(const Instruction &instruction) {
  const Ints &side = list(instruction, 1);
  if (side.size() != 1 || (side[0] != 0 && side[0] != 1))
    return makeError("side of a pool does not match: got ", side.size(),
                     " values, expected one of {0} (queries) and {1} (keys)");
  bool keySide = side[0] == 1;
  auto work = workOf(instruction);
  if (!work)
    return work.status();
  skipped = work->empty();
  const LayerShape &layer = shape();
  std::vector<PoolTask> tasks;
  for (const Work &entry : *work) {
    int64_t slot = keySide ? entry.kvSlot : entry.qSlot;
    // Keys without an origin count from the first token.
    int64_t rows = rowsOf(entry), blocks = blocksOf(entry);
    if (keySide && entry.origin < 0) {
      rows = layer.skv;
      blocks = layer.kvBlocks();
    } else if (keySide) {
      if (entry.kvEnd > layer.kvBlocks() - entry.origin)
        return makeError("kv-blocks of a work entry out of range: got ",
                         entry.kvBegin, " to ", entry.kvEnd, " from ",
                         entry.origin, ", expected within 0 to ",
                         layer.kvBlocks());
      rows = std::min(layer.skv - entry.origin * layer.blockK,
                      entry.kvEnd * layer.blockK);
      blocks = entry.kvEnd;
    }
    auto x = arena.view(instruction.windows[0], slot, rows, layer.headDim);
    if (!x)
      return x.status();
    auto y = arena.view(instruction.windows[1], slot, blocks, layer.headDim);
    if (!y)
      return y.status();
    if (y->dtype != DType::F32)
      return makeError("dtype of pooled values does not match: got ",
                       toString(y->dtype), ", expected f32");
    tasks.push_back({*x, *y, keySide ? entry.kvBegin : entry.qBegin,
                     keySide ? entry.kvEnd : entry.qEnd});
  }
  return backend.pool(shared.program, keySide, tasks);
}

Status RankExecutor::release(const Instruction &instruction) {
  const Ints &slots = list(instruction, 0);
  skipped = slots.empty();
  if (!shared.options.poison)
    return Status::success();
  for (int64_t slot : slots)
    SART_RETURN_IF_ERROR(arena.poisonSlot(instruction.windows[0], slot));
  return Status::success();
}

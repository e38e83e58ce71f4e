//===- ExecutorState.cpp - What the ranks of an executor share ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutorState.h"

#include "sparseattn-rt/Binder.h"
#include "sparseattn-rt/Validator.h"

#include <algorithm>

using namespace sart;

void RecordedRows::reset(int64_t heads, int64_t qBlocks) {
  qBlocksPerHead = qBlocks;
  total = 0;
  // The rows keep their memory from run to run.
  rows.resize(static_cast<size_t>(heads * qBlocks));
  known.assign(rows.size(), 0);
}

void RecordedRows::record(int64_t head, int64_t qBlock, const int32_t *row,
                          int64_t count) {
  auto index = static_cast<size_t>(head * qBlocksPerHead + qBlock);
  if (known[index])
    total -= static_cast<int64_t>(rows[index].size());
  total += count;
  rows[index].assign(row, row + count);
  known[index] = 1;
}

const std::vector<int32_t> *RecordedRows::find(int64_t head,
                                               int64_t qBlock) const {
  auto index = static_cast<size_t>(head * qBlocksPerHead + qBlock);
  return index < known.size() && known[index] ? &rows[index] : nullptr;
}

void RankRecord::reset(const Placement &placement) {
  events.clear();
  sent.assign(static_cast<size_t>(placement.mesh.ranks()), 0);
  exchange = moved = routed = tiles = planNs = selected = 0;
  routing = RouteStats();
  rows.reset(placement.shape.heads, placement.shape.qBlocks());
  plan.reset();
  routedLoads.clear();
}

Expected<BlockMask> ExecutorShared::assembleMask() const {
  const Placement &placement = program.placement;
  const LayerShape &shape = placement.shape;
  std::vector<std::vector<int32_t>> lists(
      static_cast<size_t>(shape.heads * shape.qBlocks()));
  std::vector<bool> found(lists.size(), false);
  for (int64_t rank = 0; rank < ranks(); ++rank) {
    const RankRecord &record = records[static_cast<size_t>(rank)];
    Range heads = placement.routedHeadsOf(rank);
    Range qBlocks = placement.routedBlocksOf(rank);
    for (int64_t head = heads.begin; head < heads.end; ++head)
      for (int64_t block = qBlocks.begin; block < qBlocks.end; ++block) {
        auto at = static_cast<size_t>(head * shape.qBlocks() + block);
        if (const std::vector<int32_t> *row = record.rows.find(head, block)) {
          lists[at] = *row;
          found[at] = true;
        }
      }
  }
  for (size_t at = 0; at < found.size(); ++at)
    if (!found[at])
      return makeError("mask of the run not complete: got no row of head ",
                       static_cast<int64_t>(at) / shape.qBlocks(), " q-block ",
                       static_cast<int64_t>(at) % shape.qBlocks());
  return BlockMask::fromLists(shape.heads, shape.qBlocks(), shape.kvBlocks(),
                              lists);
}

Expected<MaskSummary> sart::readSummaries(const Program &program,
                                          const WindowArena &arena,
                                          int32_t window) {
  const Placement &placement = program.placement;
  int64_t heads = placement.shape.heads;
  int64_t elements = MaskSummary::recordWords(placement);
  auto last =
      arena.view(window, placement.mesh.ranks() * heads - 1, 1, elements);
  if (!last)
    return last.status();
  auto first = arena.view(window, 0, 1, elements);
  if (!first)
    return first.status();
  if (first->dtype != DType::I32)
    return makeError("dtype of the gathered summaries does not match: got ",
                     toString(first->dtype), ", expected i32");
  if (arena.memory().onHost())
    return decodeSummaries(static_cast<const int32_t *>(first->data),
                           arena.slotStride(window), placement);
  std::vector<int32_t> records(static_cast<size_t>(first->slots * elements));
  int64_t width = elements * byteSize(DType::I32);
  SART_RETURN_IF_ERROR(arena.memory().toHost(
      {records.data(), width, width, first->slots},
      {first->data, first->slotStride * byteSize(DType::I32), width,
       first->slots}));
  SART_RETURN_IF_ERROR(arena.memory().finish());
  return decodeSummaries(records.data(), elements, placement);
}

/// A mask with the same demand as the routed one, at hand without gathering
/// rows: all kv-blocks that a head's rows of a ring segment need stand in the
/// segment's first row.
static Expected<BlockMask> demandMask(const MaskSummary &summary,
                                      const Placement &placement) {
  const LayerShape &shape = placement.shape;
  std::vector<std::vector<int32_t>> rows(
      static_cast<size_t>(shape.heads * shape.qBlocks()));
  for (int64_t head = 0; head < shape.heads; ++head) {
    for (int64_t r = 0; r < placement.mesh.ring; ++r) {
      Range qBlocks = placement.qBlocksOf(r);
      if (qBlocks.empty())
        continue;
      auto &row =
          rows[static_cast<size_t>(head * shape.qBlocks() + qBlocks.begin)];
      for (int64_t block = 0; block < shape.kvBlocks(); ++block)
        if (summary.needs(head, r, block))
          row.push_back(static_cast<int32_t>(block));
    }
  }
  return BlockMask::fromLists(shape.heads, shape.qBlocks(), shape.kvBlocks(),
                              rows);
}

Status sart::validatePlan(ExecutorShared &shared, const Plan &plan,
                          const MaskSummary &summary) {
  // The template is proven; with it the proof of one plan and one demand holds
  // for every mask of that demand. Row by row it is checked on request.
  auto mask = shared.options.coverage
                  ? shared.assembleMask()
                  : demandMask(summary, shared.program.placement);
  if (!mask)
    return mask.status();
  auto binding = bindPlan(shared.program, plan);
  if (!binding)
    return binding.status();
  auto bound = bindProgram(shared.program, *binding, *mask);
  if (!bound)
    return bound.status();
  return validate(*bound);
}

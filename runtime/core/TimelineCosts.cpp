//===- TimelineCosts.cpp - What instructions take on a machine ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttendWork.h"
#include "TimelineRun.h"

#include <algorithm>

using namespace sart;

int64_t TimelineRun::bytesOf(int32_t window,
                             const std::vector<int64_t> &chunks) const {
  return saturatingMul(rowsOf(ChunkList(chunks)),
                       context.window(window).rowBytes());
}

int64_t TimelineRun::attendCost(int64_t rank, const Instruction &instruction,
                                TimelineStep &step) const {
  const BlockMask &mask = *context.program.mask;
  for (Work entry : WorkList(instruction.lists[0].values)) {
    step.tiles += tilesOf(mask, entry, context.originOf(rank, entry));
    step.rows += entry.qEnd - entry.qBegin;
  }
  if (step.rows == 0)
    return 0;
  return saturatingAdd(machine.device.launchPs.value,
                       saturatingAdd(saturatingMul(step.tiles, kernel.tilePs),
                                     saturatingMul(step.rows, kernel.rowPs)));
}

/// Routing of the list's rows, which load_mask stands for: pooling reads the
/// queries and the keys, every visible pair of blocks is a score. The first on
/// a rank of several also reads the loads and plans.
int64_t TimelineRun::routingCost(int64_t rank, const Instruction &instruction) {
  RoutingPolicy::Kind kind = context.program.policy.kind;
  if (kind != RoutingPolicy::Kind::TopP && kind != RoutingPolicy::Kind::TopK)
    return 0;
  const LayerShape &shape = context.shape();
  int64_t scores = 0, rows = 0;
  std::set<int64_t> kvHeads;
  for (Work entry : WorkList(instruction.lists[0].values)) {
    rows += entry.qEnd - entry.qBegin;
    scores = saturatingAdd(scores, (entry.qEnd - entry.qBegin) *
                                       (entry.kvEnd - entry.kvBegin));
    kvHeads.insert(shape.kvHeadOf(entry.head));
  }
  int64_t cost = 0;
  if (rows > 0) {
    // Keys are pooled in the segment that has them.
    int64_t tokens = saturatingAdd(
        saturatingMul(rows, shape.blockQ),
        saturatingMul(
            static_cast<int64_t>(kvHeads.size()),
            // Rows of a shard are pooled with its keys alone.
            (context.program.placement.blockShards
                 ? context.geometry[static_cast<size_t>(rank)].kvShard
                 : context.geometry[static_cast<size_t>(rank)].kvTokens)
                .size()));
    int64_t rowBytes = shape.headDim * byteSize(shape.dtype);
    cost = saturatingAdd(
        saturatingMul(3, machine.device.launchPs.value),
        saturatingAdd(
            saturatingMul(saturatingMul(scores, machine.device.scorePs.value) /
                              128,
                          shape.headDim),
            machine.memoryPs(saturatingMul(tokens, rowBytes))));
  }
  Rank &state = ranks[static_cast<size_t>(rank)];
  if (!state.planned && ranks.size() > 1) {
    state.planned = true;
    // The loads of all ranks are gathered first.
    cost = saturatingAdd(
        cost, saturatingAdd(
                  machine.links[machine.levelOf(0, context.numRanks() - 1)]
                      .latencyPs.value,
                  saturatingAdd(machine.planPs.value, machine.syncPs.value)));
  }
  return cost;
}

int64_t TimelineRun::costOf(int64_t rank, int32_t id) {
  const Instruction &instruction = instructionOf(id);
  // A launch and so many bytes of memory, if any.
  auto moved = [&](int64_t bytes) {
    return bytes == 0 ? 0
                      : saturatingAdd(machine.device.launchPs.value,
                                      machine.memoryPs(bytes));
  };
  auto windowBytes = [&](size_t window) {
    return bytesOf(instruction.windows[window], instruction.lists[0].values);
  };
  switch (instruction.opcode) {
  case Opcode::Attend:
    return attendCost(rank, instruction, at(id));
  case Opcode::LoadMask:
    return routingCost(rank, instruction);
  case Opcode::Pack:
    return moved(saturatingMul(2, windowBytes(0)));
  case Opcode::Convert:
    return moved(saturatingAdd(windowBytes(0), windowBytes(1)));
  case Opcode::Merge:
    // Reads both results, writes one; so of their lse.
    return moved(saturatingAdd(
        saturatingAdd(windowBytes(0), saturatingMul(2, windowBytes(2))),
        saturatingAdd(windowBytes(1), saturatingMul(2, windowBytes(3)))));
  case Opcode::AllToAll:
  case Opcode::AllGather:
  case Opcode::Pool:
  case Opcode::Route:
  case Opcode::Plan:
  case Opcode::Send:
  case Opcode::Recv:
  case Opcode::Put:
  case Opcode::Signal:
  case Opcode::Wait:
  case Opcode::WaitSignal:
  case Opcode::Release:
  case Opcode::Augment:
    return 0;
  }
  return 0;
}

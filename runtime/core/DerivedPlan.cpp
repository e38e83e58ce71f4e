//===- DerivedPlan.cpp - The plan that a bound program carries out --------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttendWork.h"
#include "ExecutorState.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace sart;

namespace {

/// Collects what the instructions of all ranks say.
class PlanReader {
public:
  explicit PlanReader(const Program &bound)
      : program(bound), placement(bound.placement) {
    for (int64_t head = 0; head < placement.shape.heads; ++head)
      owners.push_back(placement.ownerOfHead(head));
    plan.loadsAfter.assign(bound.ranks.size(), 0);
  }

  Plan read() {
    const LayerShape &shape = placement.shape;
    plan.mesh = placement.mesh;
    plan.heads = shape.heads;
    plan.kvHeads = shape.kvHeads;
    plan.qBlocks = shape.qBlocks();
    plan.kvBlocks = shape.kvBlocks();
    plan.loadsBefore =
        rankLoads(countLoads(*program.mask, placement), owners, placement.mesh);
    for (size_t rank = 0; rank < program.ranks.size(); ++rank) {
      kvHeadInSlot.clear();
      keyWindow = -1;
      for (const Instruction &instruction : program.ranks[rank])
        if (instruction.opcode == Opcode::Attend)
          readAttend(static_cast<int64_t>(rank), instruction);
      for (const Instruction &instruction : program.ranks[rank])
        if (instruction.opcode == Opcode::Recv)
          readRecv(static_cast<int64_t>(rank), instruction);
    }
    for (int64_t head = 0; head < shape.heads; ++head)
      finishHead(head);
    finishTransfers();
    return std::move(plan);
  }

private:
  using TransferKey = std::tuple<int64_t, int64_t, int64_t, int64_t>;

  void readAttend(int64_t rank, const Instruction &instruction) {
    keyWindow = instruction.windows[1];
    int64_t own = placement.qBlocksOf(placement.mesh.ringIndex(rank)).begin;
    for (const Work &work : toWork(instruction.lists[0].values)) {
      if (work.head < 0 || work.head >= placement.shape.heads)
        continue;
      kvHeadInSlot[work.kvSlot] = placement.shape.kvHeadOf(work.head);
      int64_t first = work.origin < 0 ? own : work.origin;
      Work inside = work;
      inside.qBegin = std::max<int64_t>(0, first + work.qBegin);
      inside.qEnd = std::min(first + work.qEnd, placement.shape.qBlocks());
      for (int64_t block = inside.qBegin; block < inside.qEnd; ++block)
        attendedBy[{work.head, block}] = rank;
      plan.loadsAfter[static_cast<size_t>(rank)] +=
          tilesOf(*program.mask, inside, 0);
    }
  }

  /// A head belongs to the Ulysses index that attends most of its rows; what
  /// other ranks attend are row moves.
  void finishHead(int64_t head) {
    const Mesh &mesh = placement.mesh;
    int64_t from = placement.ownerOfHead(head), to = from;
    std::vector<int64_t> rows(static_cast<size_t>(mesh.ulysses), 0);
    for (auto it = attendedBy.lower_bound({head, 0});
         it != attendedBy.end() && it->first.first == head; ++it)
      ++rows[static_cast<size_t>(mesh.ulyssesIndex(it->second))];
    for (int64_t u = 0; u < mesh.ulysses; ++u)
      if (rows[static_cast<size_t>(u)] > rows[static_cast<size_t>(to)])
        to = u;
    if (from != to)
      plan.moves.push_back({head, from, to});
    for (int64_t r = 0; r < mesh.ring; ++r) {
      Range blocks = placement.qBlocksOf(r);
      for (int64_t block = blocks.begin; block < blocks.end; ++block) {
        auto by = attendedBy.find({head, block});
        int64_t owner = mesh.rankOf(to, r);
        if (by == attendedBy.end() || by->second == owner)
          continue;
        RowMove *last = plan.rowMoves.empty() || block == blocks.begin
                            ? nullptr
                            : &plan.rowMoves.back();
        if (last && last->head == head && last->qBlocks.end == block &&
            last->to == by->second)
          ++last->qBlocks.end;
        else
          plan.rowMoves.push_back(
              {head, {block, block + 1}, owner, by->second});
      }
    }
  }

  void readRecv(int64_t rank, const Instruction &instruction) {
    const Mesh &mesh = placement.mesh;
    if (instruction.windows[0] != keyWindow ||
        instruction.peer.values.size() != 1)
      return;
    int64_t from = mesh.ringIndex(instruction.peer.values[0]);
    int64_t to = mesh.ringIndex(rank);
    if (from == to)
      return;
    int64_t blockK = placement.shape.blockK;
    for (const Chunk &chunk : toChunks(instruction.lists[0].values)) {
      auto slot = kvHeadInSlot.find(chunk.slot);
      if (slot == kvHeadInSlot.end())
        continue;
      transfers[{to, from, mesh.ulyssesIndex(rank), slot->second}].push_back(
          {chunk.rowBegin / blockK, (chunk.rowEnd + blockK - 1) / blockK});
    }
  }

  void finishTransfers() {
    for (auto &[key, ranges] : transfers) {
      std::sort(ranges.begin(), ranges.end(),
                [](Range a, Range b) { return a.begin < b.begin; });
      KvTransfer transfer;
      std::tie(transfer.to, transfer.from, transfer.ulysses, transfer.kvHead) =
          key;
      for (const Range &range : ranges) {
        if (!transfer.blocks.empty() &&
            transfer.blocks.back().end >= range.begin)
          transfer.blocks.back().end =
              std::max(transfer.blocks.back().end, range.end);
        else
          transfer.blocks.push_back(range);
      }
      plan.transfers.push_back(std::move(transfer));
    }
  }

  const Program &program;
  const Placement &placement;
  Plan plan;
  std::vector<int64_t> owners;
  std::map<std::pair<int64_t, int64_t>, int64_t>
      attendedBy; ///< (head, q-block)
  std::map<int64_t, int64_t> kvHeadInSlot;
  int32_t keyWindow = -1; ///< what attend reads keys from
  std::map<TransferKey, std::vector<Range>> transfers;
};

} // namespace

Plan sart::derivePlan(const Program &bound) { return PlanReader(bound).read(); }

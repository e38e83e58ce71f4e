//===- ProgramAccount.cpp - Work, bytes and times of a program ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramAccount.h"
#include "AttendWork.h"

#include <algorithm>

using namespace sart;

ProgramAccount::ProgramAccount(const ValidatorContext &context,
                               const Schedule &schedule)
    : context(context), schedule(schedule), work(context.program.ranks.size()),
      last(context.program.ranks.size(), -1),
      cost(context.program.planner.cost), steps(schedule.rankOf.size()),
      sent(context.program.ranks.size() * context.program.ranks.size()),
      links(sent.size()), queries(queryWindows(context.program)) {}

/// Costs are the user's and may be anything.
static int64_t priced(int64_t count, int64_t picoseconds) {
  return saturatingMul(count, std::max<int64_t>(picoseconds, 0));
}

int64_t ProgramAccount::transferCost(int64_t bytes) const {
  return saturatingAdd(std::max<int64_t>(cost.transferPs, 0),
                       priced(bytes, cost.bytePs));
}

/// A step that begins when `before` is done.
ProgramAccount::Step ProgramAccount::after(int32_t before) const {
  Step step;
  step.cause = before;
  if (before >= 0)
    step.finishPs = at(before).finishPs;
  return step;
}

void ProgramAccount::execute(int64_t rank, size_t index) {
  int32_t id = schedule.idOf(rank, index);
  const Instruction &instruction = context.list(rank)[index];
  Step step = after(last[static_cast<size_t>(rank)]);
  switch (instruction.opcode) {
  case Opcode::Attend:
    attend(rank, instruction, step);
    break;
  case Opcode::Send:
  case Opcode::Put:
    post(rank, id, instruction, step.finishPs);
    break;
  case Opcode::Signal: {
    // Arrives behind the puts before it.
    const Link &link = links[linkOf(rank, instruction.peer.values[0])];
    posted[id] = link.begin < 0 ? Link{step.finishPs, 0, id} : link;
    break;
  }
  case Opcode::Wait:
    for (int32_t a = schedule.awaitedFirst[static_cast<size_t>(id)];
         a < schedule.awaitedFirst[static_cast<size_t>(id) + 1]; ++a) {
      int32_t own = schedule.awaited[static_cast<size_t>(a)];
      if (context.list(rank)[schedule.indexOf(own)].opcode == Opcode::Recv)
        arrive(step, schedule.partner[static_cast<size_t>(own)]);
    }
    break;
  case Opcode::WaitSignal:
    arrive(step, schedule.partner[static_cast<size_t>(id)]);
    break;
  default:
    break;
  }
  at(id) = step;
  last[static_cast<size_t>(rank)] = id;
}

void ProgramAccount::meet(const Meeting &meeting) {
  Step start;
  for (int32_t member : meeting.members) {
    int32_t before = last[static_cast<size_t>(rankOf(member))];
    if (before >= 0 &&
        (start.cause < 0 || at(before).finishPs > start.finishPs))
      start = after(before);
  }
  for (size_t i = 0; i < meeting.members.size(); ++i) {
    int64_t rank = rankOf(meeting.members[i]);
    const Instruction &instruction =
        context.list(rank)[schedule.indexOf(meeting.members[i])];
    bool gather = instruction.opcode == Opcode::AllGather;
    Step step = start;
    int64_t begin = 0;
    for (size_t j = 0; j < meeting.members.size(); ++j) {
      ChunkList chunks(instruction.lists[0].values);
      if (!gather) {
        int64_t parts = instruction.lists[1].values[j];
        chunks = chunks.slice(begin, parts);
        begin += parts;
      }
      if (i != j)
        step.bytes =
            saturatingAdd(step.bytes, count(rank, rankOf(meeting.members[j]),
                                            instruction, rowsOf(chunks), true));
    }
    step.costPs = step.bytes > 0 ? transferCost(step.bytes) : 0;
    step.finishPs = saturatingAdd(step.finishPs, step.costPs);
    at(meeting.members[i]) = step;
    last[static_cast<size_t>(rank)] = meeting.members[i];
  }
}

void ProgramAccount::post(int64_t rank, int32_t id,
                          const Instruction &instruction, int64_t nowPs) {
  int64_t peer = instruction.peer.values[0];
  int64_t bytes = count(rank, peer, instruction,
                        rowsOf(ChunkList(instruction.lists[0].values)), false);
  Link &link = links[linkOf(rank, peer)];
  if (link.begin < 0 || link.freePs <= nowPs)
    link = {nowPs, 0, id};
  link.freePs = saturatingAdd(link.freePs, transferCost(bytes));
  link.bytes = saturatingAdd(link.bytes, bytes);
  posted[id] = link;
}

/// `step` is not done before `transfer` has arrived.
void ProgramAccount::arrive(Step &step, int32_t transfer) {
  const Link &link = posted[transfer];
  const Step &begin = at(link.begin);
  int64_t ready = std::max(link.freePs, at(transfer).finishPs);
  if (ready <= step.finishPs)
    return;
  step.finishPs = ready;
  step.cause = link.begin;
  step.costPs = ready - begin.finishPs;
  step.bytes = link.bytes;
}

void ProgramAccount::attend(int64_t rank, const Instruction &instruction,
                            Step &step) {
  const BlockMask &mask = *context.program.mask;
  RankWork &mine = work[static_cast<size_t>(rank)];
  int64_t rows = 0;
  for (Work entry : WorkList(instruction.lists[0].values)) {
    step.tiles += tilesOf(mask, entry, context.originOf(rank, entry));
    rows += entry.qEnd - entry.qBegin;
    if (std::find(mine.heads.begin(), mine.heads.end(), entry.head) ==
        mine.heads.end())
      mine.heads.push_back(entry.head);
  }
  mine.tiles += step.tiles;
  mine.rows += rows;
  step.costPs =
      saturatingAdd(priced(step.tiles, cost.tilePs), priced(rows, cost.rowPs));
  step.finishPs = saturatingAdd(step.finishPs, step.costPs);
}

int64_t ProgramAccount::count(int64_t from, int64_t to,
                              const Instruction &instruction, int64_t rows,
                              bool collective) {
  const Window &window = context.window(instruction.windows[0]);
  int64_t bytes = saturatingMul(rows, window.rowBytes());
  const Mesh &mesh = context.mesh();
  bool small = window.rowElements == 1 || window.dtype == DType::I32;
  Traffic kind = small        ? Small
                 : collective ? Exchange
                 : queries[static_cast<size_t>(instruction.windows[0])] ||
                         mesh.ringIndex(from) == mesh.ringIndex(to)
                     ? Moved
                     : Ring;
  int64_t &total = sent[linkOf(from, to)].of[kind];
  total = saturatingAdd(total, bytes);
  return bytes;
}

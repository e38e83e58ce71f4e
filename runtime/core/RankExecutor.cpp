//===- RankExecutor.cpp - Interprets the instructions of one rank ---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "RankExecutor.h"

#include "OpcodeInfo.h"

#include <algorithm>

using namespace sart;

RankExecutor::RankExecutor(ExecutorShared &shared, int64_t rank)
    : shared(shared), rank(rank),
      ringIndex(shared.program.placement.mesh.ringIndex(rank)),
      qBlocks(shared.program.placement.qBlocksOf(ringIndex)),
      segmentRows(shared.program.placement.qTokensOf(ringIndex).size()),
      endpoint(shared.transport->endpoint(rank)),
      arena(*shared.arenas[static_cast<size_t>(rank)]),
      backend(shared.backendOf(rank)), onHost(arena.memory().onHost()),
      instructions(shared.program.instructionsOf(rank)),
      queries(queryWindows(shared.program)) {
  int32_t last = -1;
  for (const Instruction &instruction : instructions)
    last = std::max(last, instruction.token);
  tokens.resize(static_cast<size_t>(last) + 1);
  // Not lse, masks, summaries or pooled values. Names are the program's own.
  for (const Window &window : shared.program.windows)
    payload.push_back(window.rowElements != 1 && window.dtype != DType::I32);
  for (const Instruction &instruction : instructions)
    if (instruction.opcode == Opcode::Pool)
      payload[static_cast<size_t>(instruction.windows[1])] = false;
}

Status RankExecutor::restart() {
  next = 0;
  std::fill(tokens.begin(), tokens.end(), nullptr);
  if (!shared.program.bound)
    symbols = shared.program.statics.values[static_cast<size_t>(rank)];
  record().reset(placement());
  unfetched.clear();
  routedCount = 0;
  rowsFetched = false;
  attendEvents.clear();
  parts.clear();
  BackendCounts dropped; // of a run that was begun and not finished
  Status left = backend.finish(dropped);
  return left.ok() ? left
                   : makeError("rank ", rank, " start: ", left.message());
}

/// What a trace calls an instruction: its opcode, and the windows that data
/// leave and enter.
static std::string eventName(const Program &program,
                             const Instruction &instruction) {
  std::string name(toString(instruction.opcode));
  switch (instruction.opcode) {
  case Opcode::AllToAll:
  case Opcode::AllGather:
  case Opcode::Pack:
  case Opcode::Send:
  case Opcode::Recv:
  case Opcode::Put:
  case Opcode::Convert:
  case Opcode::Pool:
  case Opcode::Release:
    for (size_t i = 0; i < instruction.windows.size(); ++i)
      name += concat(
          i == 0 ? " " : " -> ",
          program.windows[static_cast<size_t>(instruction.windows[i])].name);
    break;
  default:
    break;
  }
  return name;
}

RankOutcome RankExecutor::fail(const std::string &where, const Status &status) {
  bool followsAbort = status.message().rfind(abortedPrefix, 0) == 0;
  Status located = makeError("rank ", rank, " ", where, ": ", status.message());
  endpoint.abort(located.message());
  (void)drain(/*ignore=*/true);
  BackendCounts dropped;
  (void)backend.finish(dropped);
  return {located, followsAbort};
}

Status RankExecutor::poison(bool internal, bool outputs) {
  SART_RETURN_IF_ERROR(arena.poisonAll(internal, outputs));
  return arena.memory().finish();
}

Status RankExecutor::finishPart() {
  if (onHost)
    return Status::success();
  SART_RETURN_IF_ERROR(arena.storeOutputs());
  BackendCounts counts;
  SART_RETURN_IF_ERROR(backend.finish(counts));
  record().routing += counts.routing;
  if (!rowsFetched)
    record().selected += counts.selected;
  for (size_t i = 0; i < counts.tiles.size() && i < attendEvents.size(); ++i) {
    record().tiles += counts.tiles[i];
    if (attendEvents[i] < record().events.size())
      record().events[attendEvents[i]].tiles = counts.tiles[i];
  }
  return timeEvents();
}

Status RankExecutor::markWork() {
  auto mark = arena.memory().mark();
  if (!mark)
    return mark.status();
  parts.back().marks.push_back(std::move(*mark));
  return Status::success();
}

Status RankExecutor::timeEvents() {
  for (const MarkedPart &part : parts) {
    int64_t begin = part.beginNs;
    for (size_t i = 1; i < part.marks.size(); ++i) {
      auto end =
          arena.memory().nanoseconds(*part.marks.front(), *part.marks[i]);
      if (!end)
        return end.status();
      TraceEvent &event = record().events[part.firstEvent + i - 1];
      event.beginNs = begin;
      event.endNs = begin = std::max(begin, part.beginNs + *end);
    }
  }
  parts.clear();
  return Status::success();
}

RankOutcome RankExecutor::runUntil(size_t end) {
  if (Status status = arena.loadInputs(); !status.ok())
    return fail("inputs", status);
  bool marks = shared.trace && !onHost;
  if (marks) {
    parts.push_back(
        {record().events.size(), nanosecondsSince(shared.start), {}});
    if (Status status = markWork(); !status.ok())
      return fail("trace", status);
  }
  for (; next < std::min(end, instructions.size()); ++next) {
    const Instruction &instruction = instructions[next];
    int64_t begin = shared.trace ? nanosecondsSince(shared.start) : 0;
    skipped = false;
    eventBytes = eventTiles = 0;
    Status status = execute(instruction);
    if (!status.ok())
      return fail(concat("phase ", instruction.phase, " instruction ", next,
                         " (", toString(instruction.opcode), ")"),
                  status);
    if (shared.trace && !skipped) {
      TraceEvent event;
      event.name = eventName(shared.program, instruction);
      event.rank = rank;
      event.phase = instruction.phase;
      event.instruction = static_cast<int64_t>(next);
      event.beginNs = begin;
      event.endNs = nanosecondsSince(shared.start);
      event.bytes = eventBytes;
      event.tiles = eventTiles;
      record().events.push_back(std::move(event));
      if (Status status = marks ? markWork() : Status::success(); !status.ok())
        return fail("trace", status);
    }
  }
  if (next < instructions.size())
    return {};
  Status status = drain(/*ignore=*/false);
  if (status.ok())
    status = finishPart();
  return status.ok() ? RankOutcome() : fail("end of program", status);
}

Status RankExecutor::drain(bool ignore) {
  for (std::shared_ptr<TransferHandle> &handle : tokens) {
    if (!handle)
      continue;
    Status status = endpoint.wait(*handle);
    handle = nullptr;
    if (!ignore)
      SART_RETURN_IF_ERROR(status);
  }
  return Status::success();
}

Status RankExecutor::execute(const Instruction &instruction) {
  switch (instruction.opcode) {
  case Opcode::AllToAll:
    return allToAll(instruction);
  case Opcode::AllGather:
    return allGather(instruction);
  case Opcode::Pool:
    return pool(instruction);
  case Opcode::Route:
    return route(instruction);
  case Opcode::Plan:
    return plan(instruction);
  case Opcode::LoadMask:
    return loadMask(instruction);
  case Opcode::Pack:
    return copyLocal(instruction);
  case Opcode::Send:
    return sendOrRecv(instruction, /*isSend=*/true);
  case Opcode::Recv:
    return sendOrRecv(instruction, /*isSend=*/false);
  case Opcode::Put:
    return put(instruction);
  case Opcode::Signal:
    return signalOrWait(instruction, /*isSignal=*/true);
  case Opcode::Wait:
    return waitTokens(instruction);
  case Opcode::WaitSignal:
    return signalOrWait(instruction, /*isSignal=*/false);
  case Opcode::Attend:
    return attend(instruction);
  case Opcode::Merge:
    return merge(instruction);
  case Opcode::Release:
    return release(instruction);
  case Opcode::Augment:
    return augment(instruction);
  case Opcode::Convert:
    return convert(instruction);
  }
  return makeError("opcode not known: got ",
                   static_cast<int>(instruction.opcode), ", expected 0 to ",
                   numOpcodes - 1);
}

Expected<std::vector<Work>>
RankExecutor::workOf(const Instruction &instruction) const {
  const Ints &flat = list(instruction, 0);
  if (flat.size() % workInts != 0)
    return makeError("length of a work list does not match: got ", flat.size(),
                     ", expected a multiple of ", workInts);
  std::vector<Work> work = toWork(flat);
  for (const Work &entry : work) {
    if (entry.head < 0 || entry.head >= shape().heads)
      return makeError("head of a work entry out of range: got ", entry.head,
                       ", expected 0 to ", shape().heads - 1);
    int64_t rows =
        entry.origin < 0 ? qBlocks.size() : shape().qBlocks() - entry.origin;
    if (entry.qBegin < 0 || entry.qEnd < entry.qBegin ||
        entry.qEnd > std::max<int64_t>(rows, 0))
      return makeError("q-blocks of a work entry out of range: got ",
                       entry.qBegin, " to ", entry.qEnd,
                       ", expected within 0 to ", rows);
    int64_t blocks = std::max(shape().qBlocks(), shape().kvBlocks());
    if (entry.origin < -1 || entry.origin > blocks)
      return makeError("origin of a work entry out of range: got ",
                       entry.origin, ", expected -1 to ", blocks);
    if (entry.kvBegin < 0 || entry.kvEnd < entry.kvBegin ||
        entry.kvEnd > shape().kvBlocks())
      return makeError("kv-blocks of a work entry out of range: got ",
                       entry.kvBegin, " to ", entry.kvEnd,
                       ", expected within 0 to ", shape().kvBlocks());
  }
  return work;
}

int64_t RankExecutor::originOf(const Work &entry) const {
  return entry.origin < 0 ? qBlocks.begin : entry.origin;
}

int64_t RankExecutor::blocksOf(const Work &entry) const {
  return entry.origin < 0 ? qBlocks.size() : entry.qEnd;
}

int64_t RankExecutor::rowsOf(const Work &entry) const {
  if (entry.origin < 0)
    return segmentRows;
  return std::min(shape().sq - entry.origin * shape().blockQ,
                  entry.qEnd * shape().blockQ);
}

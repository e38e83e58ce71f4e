//===- ValidatorLifetime.cpp - Rows are written, read, moved, released ----===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolicRun.h"

#include <algorithm>

using namespace sart;

SymbolicRun::SymbolicRun(ValidatorContext &context, const Schedule &schedule)
    : context(context), schedule(schedule), memory(context),
      demand(context.program.mask ? &*context.program.mask : nullptr,
             context.program.placement),
      openReads(context.program.ranks.size()),
      inFlight(schedule.rankOf.size()) {
  for (const std::vector<Instruction> &list : context.program.ranks)
    for (const Instruction &instruction : list)
      oneSided |= instruction.opcode == Opcode::Signal;
  if (!oneSided)
    return;
  clocks.assign(context.program.ranks.size(),
                std::vector<int32_t>(context.program.ranks.size(), 0));
  postedClocks.resize(schedule.rankOf.size());
}

void SymbolicRun::enterSite(int32_t site) {
  id = site;
  rank = schedule.rankOf[static_cast<size_t>(site)];
  index = schedule.indexOf(site);
  if (oneSided)
    clocks[static_cast<size_t>(rank)][static_cast<size_t>(rank)] =
        static_cast<int32_t>(index) + 1;
}

void SymbolicRun::execute(int64_t atRank, size_t atIndex) {
  enterSite(schedule.idOf(atRank, atIndex));
  switch (here().opcode) {
  case Opcode::Pack:
    return pack();
  case Opcode::Send:
    return send();
  case Opcode::Recv:
    return recv();
  case Opcode::Put:
    return put();
  case Opcode::Signal:
    return raiseSignal();
  case Opcode::Wait:
    return awaitTokens();
  case Opcode::WaitSignal:
    return awaitSignal();
  case Opcode::Release:
    return release();
  case Opcode::LoadMask:
    return loadMask();
  case Opcode::Attend:
    return attend();
  case Opcode::Merge:
    return merge();
  case Opcode::Convert:
    return convert();
  case Opcode::Pool:
    return pool();
  case Opcode::Route:
    return route();
  case Opcode::Augment:
    // Changes rows in place that stay what they are.
    return;
  case Opcode::AllToAll:
  case Opcode::AllGather:
  case Opcode::Plan:
    // Collectives come through meet.
    return;
  }
}

std::string SymbolicRun::placeOf(int32_t other) const {
  return concat("instruction ", schedule.indexOf(other), " of rank ",
                schedule.rankOf[static_cast<size_t>(other)]);
}

//===----------------------------------------------------------------------===//
// Reading and writing
//===----------------------------------------------------------------------===//

void SymbolicRun::reportUnreadable(int32_t window, int64_t slot, Range rows,
                                   const Piece *piece, Range unwritten) {
  std::string what = rowsText(windowOf(window), slot, rows);
  if (!piece)
    fail("lifetime", "reads ", what, " before they are written: got rows ",
         rangeText(unwritten), " unwritten, expected all of them written");
  else if (piece->state == RowState::Receiving)
    fail("lifetime", "reads ", what, " while they are received: got rows ",
         rangeText(piece->rows), " in transit (", placeOf(piece->owner),
         "), expected a wait before");
  else
    fail("lifetime", "reads ", what, " while they are put: got rows ",
         rangeText(piece->rows), " in transit (", placeOf(piece->owner),
         "), expected a wait_signal before");
}

void SymbolicRun::read(int64_t atRank, int32_t window, int64_t slot, Range rows,
                       std::vector<Run> &runs) {
  if (rows.empty())
    return;
  const RowMap &map = memory.rows(atRank, window, slot);
  int64_t row = rows.begin;
  for (size_t i = map.firstAfter(row); row < rows.end; ++i) {
    const Piece *piece = i < map.all().size() ? &map.all()[i] : nullptr;
    int64_t pieceBegin =
        piece ? std::min(piece->rows.begin, rows.end) : rows.end;
    if (pieceBegin > row) {
      reportUnreadable(window, slot, rows, nullptr, {row, pieceBegin});
      runs.push_back({pieceBegin - row, 0, {}});
      row = pieceBegin;
    }
    if (!piece || row >= rows.end)
      continue;
    int64_t end = std::min(piece->rows.end, rows.end);
    if (piece->state == RowState::Written) {
      runs.push_back({end - row, row + piece->content.shift, piece->content});
    } else {
      reportUnreadable(window, slot, rows, piece, {});
      runs.push_back({end - row, 0, {}});
    }
    row = end;
  }
}

void SymbolicRun::read(int64_t atRank, int32_t window, ChunkList chunks,
                       std::vector<Run> &runs) {
  for (Chunk chunk : chunks)
    read(atRank, window, chunk.slot, {chunk.rowBegin, chunk.rowEnd}, runs);
}

static std::string describe(const Content &content, int64_t row) {
  return concat(toString(content.kind),
                content.kind == RowKind::Key ||
                        content.kind == RowKind::Value ||
                        content.kind == RowKind::PooledKey
                    ? " of kv head "
                    : " of head ",
                content.head, " from ", row + content.shift);
}

void SymbolicRun::expect(int32_t window, int64_t slot, Range rows,
                         const Content &expected) {
  if (rows.empty())
    return;
  const RowMap &map = memory.rows(rank, window, slot);
  int64_t row = rows.begin;
  for (size_t i = map.firstAfter(row); row < rows.end; ++i) {
    const Piece *piece = i < map.all().size() ? &map.all()[i] : nullptr;
    if (!piece || piece->rows.begin > row)
      return reportUnreadable(
          window, slot, rows, nullptr,
          {row, piece ? std::min(piece->rows.begin, rows.end) : rows.end});
    if (piece->state != RowState::Written)
      return reportUnreadable(window, slot, rows, piece, {});
    if (piece->content != expected && piece->content.kind != RowKind::Unknown)
      return fail("content", "reads other data in ",
                  rowsText(windowOf(window), slot, rows), ": got ",
                  describe(piece->content, row), ", expected ",
                  describe(expected, row));
    row = piece->rows.end;
  }
}

void SymbolicRun::write(int64_t atRank, int32_t window, int64_t slot,
                        Range rows, const Content &content, RowState state,
                        int32_t owner) {
  if (rows.empty())
    return;
  RowMap &map = memory.rows(atRank, window, slot);
  if (const Piece *piece = map.overlap(rows)) {
    std::string what = rowsText(windowOf(window), slot, rows);
    if (atRank != rank)
      what += concat(" of rank ", atRank);
    if (piece->state == RowState::Written)
      fail("lifetime", "writes ", what, " that are written already: got rows ",
           rangeText(piece->rows), " written, expected a release before");
    else
      fail("lifetime", "writes ", what, " that other data may reach: got rows ",
           rangeText(piece->rows), " in transit (", placeOf(piece->owner),
           "), expected them complete and released before");
    map.erase(rows);
  }
  map.insert({rows, state, owner, content});
  map.lastWriter = id;
}

void SymbolicRun::write(int64_t atRank, int32_t window, ChunkList chunks,
                        const std::vector<Run> &runs) {
  size_t r = 0;
  int64_t used = 0;
  for (Chunk chunk : chunks) {
    int64_t row = chunk.rowBegin;
    while (row < chunk.rowEnd && r < runs.size()) {
      int64_t rows = std::min(chunk.rowEnd - row, runs[r].rows - used);
      Content content = runs[r].content;
      content.shift = runs[r].item + used - row;
      write(atRank, window, chunk.slot, {row, row + rows}, content);
      row += rows;
      used += rows;
      if (used == runs[r].rows) {
        ++r;
        used = 0;
      }
    }
  }
}

void SymbolicRun::arrive(int32_t window, ChunkList chunks,
                         const std::vector<Run> &runs, int64_t from,
                         int32_t receiver) {
  for (Chunk chunk : chunks)
    memory.rows(rank, window, chunk.slot).erase({chunk.rowBegin, chunk.rowEnd});
  write(rank, window, chunks, runs);
  for (const Run &run : runs)
    noteArrival(run, from, receiver);
}

void SymbolicRun::noteArrival(const Run &run, int64_t from, int32_t receiver) {
  const Mesh &mesh = context.mesh();
  if ((run.content.kind == RowKind::Key ||
       run.content.kind == RowKind::Value) &&
      mesh.ringIndex(from) != mesh.ringIndex(rank))
    arrivals.push_back(
        {receiver, from, run.content.head, {run.item, run.item + run.rows}});
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

void SymbolicRun::join(const std::vector<int32_t> &clock) {
  std::vector<int32_t> &own = clocks[static_cast<size_t>(rank)];
  for (size_t i = 0; i < clock.size(); ++i)
    own[i] = std::max(own[i], clock[i]);
}

/// Parts of a chunk list by group member.
static ChunkList partOf(const Operand &chunks, const Operand &counts,
                        size_t part) {
  int64_t begin = 0;
  for (size_t i = 0; i < part; ++i)
    begin += counts.values[i];
  return ChunkList(chunks.values).slice(begin, counts.values[part]);
}

void SymbolicRun::meet(const Meeting &meeting) {
  std::vector<int32_t> joined;
  for (int32_t member : meeting.members) {
    enterSite(member);
    if (!oneSided)
      continue;
    joined.resize(clocks.size(), 0);
    for (size_t i = 0; i < joined.size(); ++i)
      joined[i] = std::max(joined[i], clocks[static_cast<size_t>(rank)][i]);
  }
  for (int32_t member : meeting.members) {
    enterSite(member);
    if (oneSided)
      join(joined);
    if (here().opcode == Opcode::Plan)
      plan(here().windows[0]);
  }
  if (here().opcode != Opcode::Plan)
    transfer(meeting);
}

void SymbolicRun::transfer(const Meeting &meeting) {
  bool gather = here().opcode == Opcode::AllGather;
  for (size_t i = 0; i < meeting.members.size(); ++i) {
    for (size_t j = 0; j < meeting.members.size(); ++j) {
      enterSite(meeting.members[i]);
      int64_t from = rank;
      if (!gather || j == 0) {
        scratch.clear();
        read(from, here().windows[0],
             gather ? ChunkList(here().lists[0].values)
                    : partOf(here().lists[0], here().lists[1], j),
             scratch);
      }
      enterSite(meeting.members[j]);
      write(
          rank, here().windows[1],
          partOf(here().lists[gather ? 1 : 2], here().lists[gather ? 2 : 3], i),
          scratch);
      for (const Run &run : scratch)
        noteArrival(run, from, id);
    }
  }
}

void SymbolicRun::send() {
  read(rank, here().windows[0], ChunkList(here().lists[0].values),
       inFlight[static_cast<size_t>(id)]);
  openReads[static_cast<size_t>(rank)].push_back({id, -1});
  if (oneSided)
    postedClocks[static_cast<size_t>(id)] = clocks[static_cast<size_t>(rank)];
}

void SymbolicRun::recv() {
  for (Chunk chunk : ChunkList(here().lists[0].values))
    write(rank, here().windows[0], chunk.slot, {chunk.rowBegin, chunk.rowEnd},
          {}, RowState::Receiving, id);
}

void SymbolicRun::awaitTokens() {
  auto at = static_cast<size_t>(id);
  for (int32_t a = schedule.awaitedFirst[at]; a < schedule.awaitedFirst[at + 1];
       ++a) {
    int32_t awaited = schedule.awaited[static_cast<size_t>(a)];
    const Instruction &posted = context.list(rank)[schedule.indexOf(awaited)];
    if (posted.opcode == Opcode::Send) {
      std::vector<OpenRead> &open = openReads[static_cast<size_t>(rank)];
      open.erase(std::find_if(
          open.begin(), open.end(),
          [awaited](const OpenRead &read) { return read.id == awaited; }));
      continue;
    }
    auto sender =
        static_cast<size_t>(schedule.partner[static_cast<size_t>(awaited)]);
    arrive(posted.windows[0], ChunkList(posted.lists[0].values),
           inFlight[sender], posted.peer.values[0], awaited);
    if (oneSided)
      join(postedClocks[sender]);
  }
}

void SymbolicRun::pack() {
  scratch.clear();
  read(rank, here().windows[0], ChunkList(here().lists[0].values), scratch);
  write(rank, here().windows[1], ChunkList(here().lists[1].values), scratch);
}

void SymbolicRun::checkNotInFlight(int32_t window, int64_t slot, Range rows,
                                   const char *what) {
  for (const OpenRead &open : openReads[static_cast<size_t>(rank)]) {
    const Instruction &reader = context.list(rank)[schedule.indexOf(open.id)];
    if (reader.windows[0] != window)
      continue;
    for (Chunk chunk : ChunkList(reader.lists[0].values))
      if (chunk.slot == slot && chunk.rowBegin < rows.end &&
          chunk.rowEnd > rows.begin && chunk.rowBegin < chunk.rowEnd)
        return fail("lifetime", what, " ", windowOf(window).name, "[", slot,
                    "] while it is sent: got rows ",
                    rangeText({chunk.rowBegin, chunk.rowEnd}), " in transit (",
                    placeOf(open.id), "), expected a ",
                    open.putTo < 0 ? "wait" : "signal", " before");
  }
}

void SymbolicRun::release() {
  int32_t window = here().windows[0];
  for (int64_t slot : here().lists[0].values) {
    checkNotInFlight(window, slot, {0, windowOf(window).rows}, "of");
    RowMap &map = memory.rows(rank, window, slot);
    for (const Piece &piece : map.all()) {
      if (piece.state == RowState::Written)
        continue;
      fail("lifetime", "of ", windowOf(window).name, "[", slot,
           "] while data may arrive: got rows ", rangeText(piece.rows),
           " in transit (", placeOf(piece.owner), "), expected a ",
           piece.state == RowState::Receiving ? "wait" : "wait_signal",
           " before");
      break;
    }
    map.clear();
    map.releasedAt = static_cast<int64_t>(index);
  }
}

//===- ValidatorContent.cpp - Instructions that compute -------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolicRun.h"

#include <algorithm>

using namespace sart;

/// Rows of blocks [begin, end) in a window that starts with block 0.
static Range rowsOfBlocks(int64_t begin, int64_t end, int64_t blockSize,
                          int64_t rows) {
  return {std::min(begin * blockSize, rows), std::min(end * blockSize, rows)};
}

static Content contentOf(RowKind kind, int64_t head, int64_t shift,
                         int32_t cover = -1) {
  return {kind, static_cast<int32_t>(head), cover, shift};
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Rows of an entry's q-blocks, counted from its origin, and the token there.
Range SymbolicRun::queryRows(const Work &work, int64_t &firstToken) const {
  const LayerShape &shape = context.shape();
  firstToken = std::min(context.originOf(rank, work) * shape.blockQ, shape.sq);
  int64_t rows = shape.sq - firstToken;
  if (work.origin < 0)
    rows = context.geometry[static_cast<size_t>(rank)].qTokens.size();
  return rowsOfBlocks(work.qBegin, work.qEnd, shape.blockQ, rows);
}

void SymbolicRun::attend() {
  const std::vector<int32_t> &windows = here().windows;
  for (Work work : WorkList(here().lists[0].values)) {
    int64_t first = 0;
    Range tokens = queryRows(work, first);
    expect(windows[0], work.qSlot, tokens,
           contentOf(RowKind::Query, work.head, first));
    expect(windows[3], work.qSlot, {work.qBegin, work.qEnd},
           contentOf(RowKind::Mask, work.head, context.originOf(rank, work)));
    if (!tokens.empty()) {
      expectKeys(windows[1], RowKind::Key, work);
      expectKeys(windows[2], RowKind::Value, work);
      attends.push_back({id, work});
    }
    int32_t cover = covers.of({work.kvBegin, work.kvEnd});
    write(rank, windows[4], work.qSlot, tokens,
          contentOf(RowKind::Output, work.head, first, cover));
    write(rank, windows[5], work.qSlot, tokens,
          contentOf(RowKind::LogSum, work.head, first, cover));
  }
}

bool SymbolicRun::findMissingKeys(const RowMap &rows, RowKind kind,
                                  const Work &work, const BlockBits &needed,
                                  Range &missing, const Piece *&wrong) const {
  const LayerShape &shape = context.shape();
  Range tokens =
      rowsOfBlocks(work.kvBegin, work.kvEnd, shape.blockK, shape.skv);
  Content expected = contentOf(kind, shape.kvHeadOf(work.head), 0);
  int64_t row = tokens.begin;
  for (size_t i = rows.firstAfter(row); row < tokens.end; ++i) {
    const Piece *piece = i < rows.all().size() ? &rows.all()[i] : nullptr;
    bool good =
        piece && piece->rows.begin <= row &&
        piece->state == RowState::Written &&
        (piece->content == expected || piece->content.kind == RowKind::Unknown);
    if (good) {
      row = piece->rows.end;
      continue;
    }
    // A gap, or a piece that does not serve.
    bool gap = !piece || piece->rows.begin > row;
    Range range{row, !piece ? tokens.end
                     : gap  ? piece->rows.begin
                            : piece->rows.end};
    range.end = std::min(range.end, tokens.end);
    int64_t block = MaskDemand::firstIn(
        needed, {range.begin / shape.blockK,
                 (range.end + shape.blockK - 1) / shape.blockK});
    if (block >= 0) {
      missing = rowsOfBlocks(block, block + 1, shape.blockK, shape.skv);
      wrong = gap ? nullptr : piece;
      return true;
    }
    row = range.end;
    // The piece behind a gap has not been looked at yet.
    if (gap && piece)
      --i;
  }
  return false;
}

void SymbolicRun::expectKeys(int32_t window, RowKind kind, const Work &work) {
  const LayerShape &shape = context.shape();
  Range tokens =
      rowsOfBlocks(work.kvBegin, work.kvEnd, shape.blockK, shape.skv);
  if (tokens.empty())
    return;
  const RowMap &rows = memory.rows(rank, window, work.kvSlot);
  Content expected = contentOf(kind, shape.kvHeadOf(work.head), 0);
  if (const Piece *piece = rows.overlap(tokens);
      piece && piece->rows.begin <= tokens.begin &&
      piece->rows.end >= tokens.end && piece->state == RowState::Written &&
      piece->content == expected)
    return;
  // Only selected blocks must be there: first those of the whole segment, then
  // exactly those of the entry's rows.
  Range missing;
  const Piece *wrong = nullptr;
  if (!findMissingKeys(
          rows, kind, work,
          demand.ofSegment(work.head, context.segmentOf(rank, work)), missing,
          wrong))
    return;
  int64_t first = context.originOf(rank, work);
  Range global{first + work.qBegin, first + work.qEnd};
  if (!findMissingKeys(rows, kind, work, demand.ofRows(work.head, global),
                       missing, wrong))
    return;
  int64_t block = missing.begin / shape.blockK;
  std::string what = concat("kv-block ", block, " of head ", work.head,
                            " q-blocks ", rangeText(global), " in ",
                            windowOf(window).name, "[", work.kvSlot, "]");
  if (!wrong)
    fail("lifetime", "reads ", what, " before it is written: got rows ",
         rangeText(missing), " not all written, expected every selected block");
  else if (wrong->state != RowState::Written)
    fail("lifetime", "reads ", what, " while data may arrive: got rows ",
         rangeText(wrong->rows), " in transit (", placeOf(wrong->owner),
         "), expected a ",
         wrong->state == RowState::Receiving ? "wait" : "wait_signal",
         " before");
  else
    fail("content", "reads other data for ", what, ": got ",
         toString(wrong->content.kind), " of head ", wrong->content.head,
         " from ", wrong->rows.begin + wrong->content.shift, ", expected ",
         toString(kind), " of kv head ", expected.head, " from ",
         wrong->rows.begin);
}

void SymbolicRun::merge() {
  for (Chunk chunk : ChunkList(here().lists[0].values))
    mergeChunk(chunk);
}

void SymbolicRun::mergeChunk(const Chunk &chunk) {
  // Operands: o part, lse part, o, lse.
  Range rows{chunk.rowBegin, chunk.rowEnd};
  const std::vector<int32_t> &windows = here().windows;
  size_t at[4] = {};
  int64_t used[4] = {};
  for (int p = 0; p < 4; ++p) {
    parts[p].clear();
    read(rank, windows[static_cast<size_t>(p)], chunk.slot, rows, parts[p]);
  }
  for (int p = 2; p < 4; ++p) {
    checkNotInFlight(windows[static_cast<size_t>(p)], chunk.slot, rows,
                     "changes");
    memory.rows(rank, windows[static_cast<size_t>(p)], chunk.slot).erase(rows);
  }
  for (int64_t row = rows.begin; row < rows.end;) {
    int64_t count = rows.end - row;
    Content item[4];
    bool known = true;
    for (int p = 0; p < 4; ++p) {
      const Run &run = parts[p][at[p]];
      count = std::min(count, run.rows - used[p]);
      item[p] = run.content;
      item[p].shift = run.item + used[p] - row;
      known &= run.content.kind != RowKind::Unknown;
    }
    Content output = item[2], logSum = item[3];
    if (known) {
      bool kinds =
          item[0].kind == RowKind::Output && item[1].kind == RowKind::LogSum &&
          item[2].kind == RowKind::Output && item[3].kind == RowKind::LogSum &&
          item[0].cover == item[1].cover && item[2].cover == item[3].cover;
      for (int p = 1; p < 4; ++p)
        kinds &= item[p].head == item[0].head && item[p].shift == item[0].shift;
      Range shared;
      int32_t cover =
          kinds ? covers.unite(item[0].cover, item[2].cover, shared) : -1;
      Range part{row, row + count};
      if (!kinds)
        fail("content", "of unlike partial results in ",
             rowsText(windowOf(windows[2]), chunk.slot, part), ": got ",
             toString(item[0].kind), " of head ", item[0].head, " from ",
             row + item[0].shift, " with ", toString(item[2].kind), " of head ",
             item[2].head, " from ", row + item[2].shift,
             ", expected o and lse of the same rows and blocks");
      else if (cover < 0)
        fail("content", "of overlapping partial results in ",
             rowsText(windowOf(windows[2]), chunk.slot, part),
             ": got kv-blocks ", rangeText(shared),
             " in both, expected disjoint blocks");
      if (cover >= 0)
        output.cover = logSum.cover = cover;
      else
        output = logSum = {};
    } else {
      output = logSum = {};
    }
    write(rank, windows[2], chunk.slot, {row, row + count}, output);
    write(rank, windows[3], chunk.slot, {row, row + count}, logSum);
    row += count;
    for (int p = 0; p < 4; ++p) {
      used[p] += count;
      if (used[p] == parts[p][at[p]].rows) {
        ++at[p];
        used[p] = 0;
      }
    }
  }
}

void SymbolicRun::convert() {
  ChunkList chunks(here().lists[0].values);
  scratch.clear();
  read(rank, here().windows[0], chunks, scratch);
  write(rank, here().windows[1], chunks, scratch);
}

//===----------------------------------------------------------------------===//
// Masks and routing
//===----------------------------------------------------------------------===//

void SymbolicRun::loadMask() {
  for (Work work : WorkList(here().lists[0].values))
    write(rank, here().windows[0], work.qSlot, {work.qBegin, work.qEnd},
          contentOf(RowKind::Mask, work.head, context.originOf(rank, work)));
}

void SymbolicRun::pool() {
  const LayerShape &shape = context.shape();
  const std::vector<int32_t> &windows = here().windows;
  bool keySide = here().lists[1].values[0] == 1;
  for (Work work : WorkList(here().lists[0].values)) {
    if (keySide) {
      int64_t head = shape.kvHeadOf(work.head);
      int64_t origin = std::max<int64_t>(work.origin, 0);
      int64_t first = std::min(origin * shape.blockK, shape.skv);
      expect(windows[0], work.kvSlot,
             rowsOfBlocks(work.kvBegin, work.kvEnd, shape.blockK,
                          shape.skv - first),
             contentOf(RowKind::Key, head, first));
      write(rank, windows[1], work.kvSlot, {work.kvBegin, work.kvEnd},
            contentOf(RowKind::PooledKey, head, origin));
    } else {
      int64_t first = 0;
      Range rows = queryRows(work, first);
      expect(windows[0], work.qSlot, rows,
             contentOf(RowKind::Query, work.head, first));
      write(rank, windows[1], work.qSlot, {work.qBegin, work.qEnd},
            contentOf(RowKind::PooledQuery, work.head,
                      context.originOf(rank, work)));
    }
  }
}

void SymbolicRun::route() {
  const std::vector<int32_t> &windows = here().windows;
  for (Work work : WorkList(here().lists[0].values)) {
    int64_t first = context.originOf(rank, work);
    expect(windows[0], work.qSlot, {work.qBegin, work.qEnd},
           contentOf(RowKind::PooledQuery, work.head, first));
    expect(
        windows[1], work.kvSlot, {work.kvBegin, work.kvEnd},
        contentOf(RowKind::PooledKey, context.shape().kvHeadOf(work.head), 0));
    write(rank, windows[2], work.qSlot, {work.qBegin, work.qEnd},
          contentOf(RowKind::Mask, work.head, first));
    // One record per head, also when several entries share its rows.
    Content summary = contentOf(RowKind::Summary, work.head, rank);
    const Piece *known =
        memory.rows(rank, windows[3], work.head).overlap({0, 1});
    if (!known || known->content != summary)
      write(rank, windows[3], work.head, {0, 1}, summary);
  }
}

void SymbolicRun::plan(int32_t window) {
  // Slot from * heads + head: every head, by the rank that routed it.
  const Placement &placement = context.program.placement;
  for (int64_t from = 0; from < context.numRanks(); ++from) {
    Range heads = placement.routedHeadsOf(from);
    for (int64_t head = heads.begin; head < heads.end; ++head)
      expect(window, from * placement.shape.heads + head, {0, 1},
             contentOf(RowKind::Summary, head, from));
  }
}

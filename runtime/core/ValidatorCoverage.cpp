//===- ValidatorCoverage.cpp - Outputs, demand and coverage ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolicRun.h"

#include <algorithm>
#include <array>
#include <set>

using namespace sart;

namespace {

class ResultChecker {
public:
  ResultChecker(ValidatorContext &context, SymbolicRun &run)
      : context(context), run(run), mask(*context.program.mask) {}

  void check() {
    for (int64_t rank = 0; rank < context.numRanks(); ++rank) {
      checkOutput(rank, "o_shard", RowKind::Output);
      checkOutput(rank, "lse_shard", RowKind::LogSum);
    }
    if (context.mesh().ring > 1 && context.clean())
      checkDemand();
    if (context.options.coverage && context.clean())
      checkCoverage();
  }

private:
  /// Names the instruction with number `id`, or the last one of `rank`.
  template <typename... Parts>
  void addAt(const char *rule, int64_t rank, int32_t id,
             const Parts &...parts) {
    const std::vector<Instruction> &list = context.list(rank);
    if (id < 0 && list.empty())
      context.push(rule, rank, -1, -1, concat(parts...));
    else
      context.push(rule, rank,
                   id < 0 ? list.back().phase
                          : list[run.schedule.indexOf(id)].phase,
                   id < 0 ? static_cast<int64_t>(list.size()) - 1
                          : static_cast<int64_t>(run.schedule.indexOf(id)),
                   concat(parts...));
  }

  //===--------------------------------------------------------------------===//
  // Outputs
  //===--------------------------------------------------------------------===//

  void checkOutput(int64_t rank, const char *name, RowKind kind) {
    int32_t window = context.program.findWindow(name);
    Range shard = context.geometry[static_cast<size_t>(rank)].qShard;
    if (shard.empty())
      return;
    for (int64_t head = 0; head < context.shape().heads; ++head) {
      const RowMap &rows = run.memory.rows(rank, window, head);
      int64_t row = 0;
      for (const Piece &piece : rows.all()) {
        if (piece.rows.begin > row)
          break;
        Range part{piece.rows.begin, std::min(piece.rows.end, shard.size())};
        if (piece.state != RowState::Written || part.empty())
          break;
        if (!checkPiece(rank, window, head, kind, piece, part, rows.lastWriter))
          break;
        row = part.end;
      }
      if (row < shard.size() && !reported(rank, name, head))
        addAt("output", rank, rows.lastWriter, "output ",
              rowsText(context.window(window), head, {0, shard.size()}),
              " is not written completely: got rows 0..", row,
              ", expected rows 0..", shard.size());
    }
  }

  bool reported(int64_t rank, const char *name, int64_t head) const {
    return lastReported == concat(rank, name, head);
  }

  bool checkPiece(int64_t rank, int32_t window, int64_t head, RowKind kind,
                  const Piece &piece, Range part, int32_t writer) {
    const Content &content = piece.content;
    Range shard = context.geometry[static_cast<size_t>(rank)].qShard;
    if (content.kind != kind || content.head != head ||
        content.shift != shard.begin) {
      addAt("output", rank, writer, "output ",
            rowsText(context.window(window), head, part),
            " holds other data: got ", toString(content.kind), " of head ",
            content.head, " from ", part.begin + content.shift, ", expected ",
            toString(kind), " of head ", head, " from ",
            part.begin + shard.begin);
      lastReported = concat(rank, context.window(window).name, head);
      return false;
    }
    if (!context.options.coverage)
      return true;
    int64_t block = -1, row = -1;
    if (!lacksTile(content, head, part, row, block))
      return true;
    addAt("output", rank, writer, "output ",
          rowsText(context.window(window), head, part),
          " lacks selected tiles: got kv-blocks ",
          run.covers.text(content.cover), ", expected kv-block ", block,
          " of q-block ", row, " too");
    lastReported = concat(rank, context.window(window).name, head);
    return false;
  }

  /// Finds a selected tile of rows `part` outside the cover of `content`.
  bool lacksTile(const Content &content, int64_t head, Range part, int64_t &row,
                 int64_t &block) const {
    const std::vector<Range> &ranges = run.covers.ranges(content.cover);
    if (ranges.size() == 1 && ranges[0].begin == 0 &&
        ranges[0].end == context.shape().kvBlocks())
      return false;
    int64_t blockQ = context.shape().blockQ;
    for (row = (part.begin + content.shift) / blockQ;
         row * blockQ < part.end + content.shift; ++row) {
      const int32_t *indices = mask.row(head, row);
      int64_t count = mask.count(head, row);
      size_t r = 0;
      for (int64_t i = 0; i < count; ++i) {
        while (r < ranges.size() && ranges[r].end <= indices[i])
          ++r;
        if (r < ranges.size() && ranges[r].begin <= indices[i])
          continue;
        block = indices[i];
        return true;
      }
    }
    return false;
  }

  //===--------------------------------------------------------------------===//
  // Demand
  //===--------------------------------------------------------------------===//

  /// K and V that crossed ring segments, against what the rank's tiles need.
  void checkDemand() {
    const LayerShape &shape = context.shape();
    auto slots = static_cast<size_t>(context.numRanks() * shape.kvHeads);
    std::vector<BlockBits> needed(slots);
    std::set<std::array<int64_t, 3>> seen; // rank, head, segment
    std::vector<int64_t> got(static_cast<size_t>(context.numRanks()), 0);
    std::vector<int64_t> wanted = got;
    for (const AttendRecord &record : run.attends) {
      int64_t rank = rankOf(record.id);
      int64_t segment = context.segmentOf(rank, record.work);
      if (!seen.insert({rank, record.work.head, segment}).second)
        continue;
      BlockBits &bits = needed[static_cast<size_t>(
          rank * shape.kvHeads + shape.kvHeadOf(record.work.head))];
      const BlockBits &more = run.demand.ofSegment(record.work.head, segment);
      if (bits.empty())
        bits.resize(more.size(), 0);
      for (size_t w = 0; w < bits.size(); ++w)
        bits[w] |= more[w];
    }
    int64_t tokenBytes = shape.headDim * byteSize(shape.dtype);
    for (size_t slot = 0; slot < slots; ++slot) {
      if (needed[slot].empty())
        continue;
      int64_t rank = static_cast<int64_t>(slot) / shape.kvHeads;
      Range own = context.geometry[static_cast<size_t>(rank)].kvBlocks;
      int64_t &bytes = wanted[static_cast<size_t>(rank)];
      forEachBlock(needed[slot], [&](int64_t block) {
        if (block < own.begin || block >= own.end)
          bytes += 2 * tokenBytes * tokensOf(block).size();
      });
    }
    for (const Arrival &arrival : run.arrivals) {
      int64_t rank = rankOf(arrival.id);
      int64_t &bytes = got[static_cast<size_t>(rank)];
      bytes = saturatingAdd(bytes, tokenBytes * arrival.tokens.size());
      const BlockBits &bits =
          needed[static_cast<size_t>(rank * shape.kvHeads + arrival.kvHead)];
      int64_t end = (arrival.tokens.end + shape.blockK - 1) / shape.blockK;
      for (int64_t block = arrival.tokens.begin / shape.blockK; block < end;
           ++block)
        if (bits.empty() || MaskDemand::firstIn(bits, {block, block + 1}) < 0)
          return addAt("demand", rank, arrival.id, "kv-block ", block,
                       " of kv head ", arrival.kvHead, " from rank ",
                       arrival.from,
                       " is not needed: got no selected tile of it on rank ",
                       rank, ", expected one");
    }
    for (size_t rank = 0; rank < got.size(); ++rank)
      if (got[rank] != wanted[rank])
        context.push("demand", static_cast<int64_t>(rank), -1, -1,
                     concat("bytes of k and v from other ring segments differ "
                            "from the demand: got ",
                            got[rank], ", expected ", wanted[rank]));
  }

  Range tokensOf(int64_t block) const {
    const LayerShape &shape = context.shape();
    return {block * shape.blockK,
            std::min((block + 1) * shape.blockK, shape.skv)};
  }

  template <typename Body>
  static void forEachBlock(const BlockBits &bits, Body body) {
    for (size_t w = 0; w < bits.size(); ++w)
      for (uint64_t rest = bits[w]; rest; rest &= rest - 1)
        body(static_cast<int64_t>(w) * 64 + __builtin_ctzll(rest));
  }

  int64_t rankOf(int32_t id) const {
    return run.schedule.rankOf[static_cast<size_t>(id)];
  }

  //===--------------------------------------------------------------------===//
  // Coverage
  //===--------------------------------------------------------------------===//

  /// Gives every selected tile to the attend that computes it. Outputs that
  /// hold all their tiles show that none is missing.
  void checkCoverage() {
    std::vector<int32_t> owner(static_cast<size_t>(mask.tiles()), -1);
    for (const AttendRecord &record : run.attends) {
      const Work &work = record.work;
      int64_t first = context.originOf(rankOf(record.id), work);
      for (int64_t row = first + work.qBegin; row < first + work.qEnd; ++row) {
        size_t at = static_cast<size_t>(work.head * mask.qBlocks() + row);
        const int32_t *begin = mask.row(work.head, row);
        const int32_t *end = begin + mask.count(work.head, row);
        const int32_t *from = std::lower_bound(begin, end, work.kvBegin);
        auto offset = static_cast<size_t>(mask.rowOffsets()[at]);
        for (const int32_t *tile = from; tile != end && *tile < work.kvEnd;
             ++tile) {
          int32_t &by = owner[offset + static_cast<size_t>(tile - begin)];
          if (by >= 0)
            return addAt("coverage", rankOf(record.id), record.id,
                         "tile of head ", work.head, " q-block ", row,
                         " kv-block ", *tile,
                         " is computed twice: got instruction ",
                         run.schedule.indexOf(by), " of rank ", rankOf(by),
                         " too, expected one attend");
          by = record.id;
        }
      }
    }
  }

  ValidatorContext &context;
  SymbolicRun &run;
  const BlockMask &mask;
  std::string lastReported;
};

} // namespace

void sart::checkResults(ValidatorContext &context, SymbolicRun &run) {
  ResultChecker(context, run).check();
}

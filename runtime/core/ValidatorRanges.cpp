//===- ValidatorRanges.cpp - Phases, tokens and list values ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValidatorContext.h"

#include <algorithm>

using namespace sart;

//===----------------------------------------------------------------------===//
// Phases and tokens
//===----------------------------------------------------------------------===//

void sart::checkOrder(ValidatorContext &context, int64_t rank) {
  const std::vector<Instruction> &instructions =
      context.program.ranks[rank < 0 ? 0 : static_cast<size_t>(rank)];
  struct Token {
    int32_t token;
    size_t definedAt;
    bool awaited;
  };
  // Few tokens are open at a time; awaited ones are kept to name double waits.
  std::vector<Token> tokens;
  std::vector<int32_t> slotOf; // token -> index into tokens, + 1
  auto find = [&](int32_t token) -> Token * {
    auto t = static_cast<size_t>(token);
    if (token < 0 || t >= slotOf.size() || slotOf[t] == 0)
      return nullptr;
    return &tokens[static_cast<size_t>(slotOf[t] - 1)];
  };
  int32_t phase = 0;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction &instruction = instructions[i];
    if (instruction.phase < phase)
      context.add("phase", rank, i, "phase does not ascend: got ",
                  instruction.phase, ", expected at least ", phase);
    else
      phase = instruction.phase;
    // Tokens beyond the limit have been reported with the operands.
    if (instruction.token >= 0 && instruction.token < maxTransferTokens) {
      if (Token *known = find(instruction.token)) {
        context.add("token", rank, i, "token is defined twice: got ",
                    instruction.token, " of instruction ", known->definedAt,
                    ", expected a new one");
        continue;
      }
      auto t = static_cast<size_t>(instruction.token);
      if (t >= slotOf.size())
        slotOf.resize(t + 1, 0);
      tokens.push_back({instruction.token, i, false});
      slotOf[t] = static_cast<int32_t>(tokens.size());
    }
    for (int32_t token : instruction.waits) {
      Token *known = find(token);
      if (!known)
        context.add("token", rank, i, "token is not defined: got ", token,
                    ", expected a token of an earlier send or recv");
      else if (known->awaited)
        context.add("token", rank, i, "token is awaited twice: got ", token,
                    " of instruction ", known->definedAt,
                    ", expected one wait");
      else
        known->awaited = true;
    }
  }
  for (const Token &token : tokens)
    if (!token.awaited)
      context.add("token", rank, token.definedAt,
                  "token is never awaited: got ", token.token,
                  " open at the end, expected a wait");
}

//===----------------------------------------------------------------------===//
// List values
//===----------------------------------------------------------------------===//

namespace {

class RangeChecker {
public:
  explicit RangeChecker(ValidatorContext &context) : context(context) {}

  void checkInstruction(int64_t atRank, size_t at) {
    rank = atRank;
    index = at;
    const Instruction &instruction = context.list(rank)[index];
    const OpcodeInfo &info = infoOf(instruction.opcode);
    if (info.peer && !checkPeer(instruction.peer))
      return;
    for (size_t l = 0; l < instruction.lists.size(); ++l) {
      const Operand &operand = instruction.lists[l];
      if (operand.isSymbol()) {
        context.add("range", rank, index, "list ", l,
                    " is a symbol: got symbol ", operand.symbol,
                    ", expected values in a bound program");
        return;
      }
      if (!checkList(instruction, info.lists[l], l))
        return;
    }
    checkTotals(instruction);
  }

private:
  bool checkPeer(const Operand &peer) {
    int64_t ranks = context.numRanks();
    if (peer.isSymbol() || peer.values.size() != 1) {
      context.add("range", rank, index, "number of peers differs: got ",
                  peer.isSymbol() ? concat("symbol ", peer.symbol)
                                  : concat(peer.values.size()),
                  ", expected 1");
      return false;
    }
    int64_t value = peer.values[0];
    if (value < 0 || value >= ranks || value == rank) {
      context.add("range", rank, index, "peer out of range: got ", value,
                  ", expected another rank of 0 to ", ranks - 1);
      return false;
    }
    return true;
  }

  bool checkList(const Instruction &instruction, const ListInfo &info,
                 size_t l) {
    const std::vector<int64_t> &values = instruction.lists[l].values;
    switch (info.kind) {
    case ListKind::Chunks:
      return checkWhole(values, l, chunkInts) &&
             checkChunks(instruction, ChunkList(values), l, info.window) &&
             (info.secondWindow < 0 ||
              checkChunks(instruction, ChunkList(values), l,
                          info.secondWindow));
    case ListKind::Counts:
      return checkCounts(instruction, l);
    case ListKind::Work:
      return checkWhole(values, l, workInts) && checkWork(instruction, l);
    case ListKind::Slots: {
      const Window &window = context.window(instruction.windows[0]);
      for (int64_t slot : values) {
        if (slot >= 0 && slot < window.slots)
          continue;
        context.add("range", rank, index, "slot out of range: got ",
                    window.name, "[", slot, "], expected 0 to ",
                    window.slots - 1);
        return false;
      }
      return true;
    }
    case ListKind::Side:
      if (values.size() == 1 && (values[0] == 0 || values[0] == 1))
        return true;
      context.add("range", rank, index, "side out of range: got ",
                  values.empty() ? std::string("none") : concat(values[0]),
                  ", expected 0 or 1");
      return false;
    }
    return false;
  }

  bool checkWhole(const std::vector<int64_t> &values, size_t l, int64_t ints) {
    if (static_cast<int64_t>(values.size()) % ints == 0)
      return true;
    context.add("range", rank, index, "length of list ", l,
                " is not whole: got ", values.size(),
                " integers, expected a multiple of ", ints);
    return false;
  }

  bool checkChunks(const Instruction &instruction, ChunkList chunks, size_t l,
                   int8_t operand) {
    const Window &window =
        context.window(instruction.windows[static_cast<size_t>(operand)]);
    int64_t i = 0;
    for (Chunk chunk : chunks) {
      if (chunk.slot < 0 || chunk.slot >= window.slots || chunk.rowBegin < 0 ||
          chunk.rowEnd < chunk.rowBegin || chunk.rowEnd > window.rows) {
        context.add(
            "range", rank, index, "chunk ", i, " of list ", l,
            " out of range: got ",
            rowsText(window, chunk.slot, {chunk.rowBegin, chunk.rowEnd}),
            ", expected slots 0 to ", window.slots - 1, " and rows within 0..",
            window.rows);
        return false;
      }
      ++i;
    }
    return true;
  }

  bool checkCounts(const Instruction &instruction, size_t l) {
    const std::vector<int64_t> &counts = instruction.lists[l].values;
    int64_t members = groupSize(context.mesh(), instruction.group);
    if (static_cast<int64_t>(counts.size()) != members) {
      context.add("range", rank, index, "number of counts of list ", l,
                  " differs: got ", counts.size(), ", expected ", members,
                  " members of the ", toString(instruction.group), " group");
      return false;
    }
    auto chunks = static_cast<int64_t>(instruction.lists[l - 1].values.size()) /
                  chunkInts;
    int64_t total = 0;
    for (int64_t count : counts) {
      if (count < 0 || count > chunks) {
        context.add("range", rank, index, "count of list ", l,
                    " out of range: got ", count, ", expected 0 to ", chunks);
        return false;
      }
      total = saturatingAdd(total, count);
    }
    if (total == chunks)
      return true;
    context.add("range", rank, index, "counts of list ", l,
                " do not add up: got ", total, " chunks, expected ", chunks);
    return false;
  }

  bool within(const char *what, int64_t entry, int64_t value, int64_t end) {
    if (value >= 0 && value < end)
      return true;
    context.add("range", rank, index, what, " of work entry ", entry,
                " out of range: got ", value, ", expected 0 to ", end - 1);
    return false;
  }

  bool within(const char *what, int64_t entry, Range range, int64_t end) {
    if (range.begin >= 0 && range.begin <= range.end && range.end <= end)
      return true;
    context.add("range", rank, index, what, " of work entry ", entry,
                " out of range: got ", rangeText(range),
                ", expected within 0..", end);
    return false;
  }

  bool checkWork(const Instruction &instruction, size_t l) {
    const RankGeometry &geometry = context.geometry[static_cast<size_t>(rank)];
    const LayerShape &shape = context.shape();
    auto windowAt = [&](size_t operand) -> const Window & {
      return context.window(instruction.windows[operand]);
    };
    int64_t i = 0;
    for (Work work : WorkList(instruction.lists[l].values)) {
      bool keys = instruction.opcode == Opcode::Pool &&
                  instruction.lists[1].values == std::vector<int64_t>{1};
      bool ownOrigin = work.origin >= 0;
      if (work.origin < -1 ||
          work.origin > (keys ? shape.kvBlocks() : shape.qBlocks())) {
        context.add("range", rank, index, "origin of work entry ", i,
                    " out of range: got ", work.origin,
                    ", expected a block, or -1");
        return false;
      }
      int64_t origin = std::max<int64_t>(work.origin, 0);
      if (!within("head", i, work.head, shape.heads) ||
          !within("q-blocks", i, Range{work.qBegin, work.qEnd},
                  ownOrigin && !keys ? shape.qBlocks() - origin
                                     : geometry.qBlocks.size()) ||
          !within("kv-blocks", i, Range{work.kvBegin, work.kvEnd},
                  shape.kvBlocks() - (keys ? origin : 0)))
        return false;
      // What the executor's views reach over.
      int64_t queries = geometry.qTokens.size();
      int64_t blocks = geometry.qBlocks.size();
      if (ownOrigin && !keys) {
        queries = std::min(shape.sq - origin * shape.blockQ,
                           work.qEnd * shape.blockQ);
        blocks = work.qEnd;
      }
      int64_t keyRows = shape.skv, keyBlocks = shape.kvBlocks();
      if (ownOrigin && keys) {
        keyRows = std::min(shape.skv - origin * shape.blockK,
                           work.kvEnd * shape.blockK);
        keyBlocks = work.kvEnd;
      }
      if (work.budget < 0) {
        context.add("range", rank, index, "budget of work entry ", i,
                    " out of range: got ", work.budget,
                    ", expected at least 0");
        return false;
      }
      // Kernels get views of whole segments and sequences.
      bool ok = true;
      switch (instruction.opcode) {
      case Opcode::Attend:
        ok = fitsSlot(windowAt(0), i, work.qSlot, queries) &&
             fitsSlot(windowAt(1), i, work.kvSlot, shape.skv) &&
             fitsSlot(windowAt(2), i, work.kvSlot, shape.skv) &&
             fitsSlot(windowAt(3), i, work.qSlot, blocks) &&
             fitsSlot(windowAt(4), i, work.qSlot, queries) &&
             fitsSlot(windowAt(5), i, work.qSlot, queries);
        break;
      case Opcode::LoadMask:
        ok = fitsSlot(windowAt(0), i, work.qSlot, blocks);
        break;
      case Opcode::Pool:
        if (keys)
          ok = fitsSlot(windowAt(0), i, work.kvSlot, keyRows) &&
               fitsSlot(windowAt(1), i, work.kvSlot, keyBlocks);
        else
          ok = fitsSlot(windowAt(0), i, work.qSlot, queries) &&
               fitsSlot(windowAt(1), i, work.qSlot, blocks);
        break;
      case Opcode::Route:
      case Opcode::Augment:
        ok = fitsSlot(windowAt(0), i, work.qSlot, blocks) &&
             fitsSlot(windowAt(1), i, work.kvSlot, shape.kvBlocks()) &&
             fitsSlot(windowAt(2), i, work.qSlot, blocks);
        if (ok && instruction.opcode == Opcode::Route)
          ok = fitsSlot(windowAt(3), i, work.head, 1);
        break;
      default:
        break;
      }
      if (!ok)
        return false;
      ++i;
    }
    return true;
  }

  bool fitsSlot(const Window &window, int64_t entry, int64_t slot,
                int64_t rowEnd) {
    if (slot >= 0 && slot < window.slots && rowEnd <= window.rows)
      return true;
    context.add("range", rank, index, "rows of work entry ", entry,
                " out of range: got ", rowsText(window, slot, {0, rowEnd}),
                ", expected slots 0 to ", window.slots - 1,
                " and rows within 0..", window.rows);
    return false;
  }

  /// Local copies move as many rows as they read.
  void checkTotals(const Instruction &instruction) {
    if (instruction.opcode != Opcode::Pack && instruction.opcode != Opcode::Put)
      return;
    int64_t from = rowsOf(ChunkList(instruction.lists[0].values));
    int64_t to = rowsOf(ChunkList(instruction.lists[1].values));
    if (from != to)
      context.add("range", rank, index, "rows of the chunk lists differ: got ",
                  to, " rows written, expected ", from);
  }

  ValidatorContext &context;
  int64_t rank = 0;
  size_t index = 0;
};

} // namespace

void sart::checkRanges(ValidatorContext &context) {
  RangeChecker checker(context);
  for (int64_t rank = 0; rank < context.numRanks(); ++rank)
    for (size_t i = 0; i < context.list(rank).size() && !context.full(); ++i)
      checker.checkInstruction(rank, i);
}

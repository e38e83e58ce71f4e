//===- Plan.cpp - Decisions for one mask ----------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Plan.h"

#include <algorithm>
#include <tuple>

using namespace sart;

namespace {

/// FNV-1a (64 bits) over a canonical byte stream: every integer zigzag-coded
/// as a LEB128 number, every list preceded by its length.
class PlanHasher {
public:
  void add(int64_t value) {
    uint64_t bits = (static_cast<uint64_t>(value) << 1) ^
                    static_cast<uint64_t>(value >> 63);
    while (bits >= 0x80) {
      addByte(static_cast<uint8_t>(bits | 0x80));
      bits >>= 7;
    }
    addByte(static_cast<uint8_t>(bits));
  }
  void addSize(size_t size) { add(static_cast<int64_t>(size)); }
  uint64_t result() const { return state; }

private:
  void addByte(uint8_t byte) { state = (state ^ byte) * 0x100000001b3ull; }
  uint64_t state = 0xcbf29ce484222325ull;
};

Status checkSize(const char *what, int64_t got, int64_t expected) {
  if (got != expected)
    return makeError("plan's ", what, " does not match the placement: got ",
                     got, ", expected ", expected);
  return Status::success();
}

Status checkIndex(const char *list, size_t entry, const char *what,
                  int64_t value, int64_t bound) {
  if (value < 0 || value >= bound)
    return makeError(what, " of ", list, " ", entry, " out of range: got ",
                     value, ", expected 0 to ", bound - 1);
  return Status::success();
}

Status verifyMoves(const Plan &plan, const Placement &placement) {
  int64_t ulysses = placement.mesh.ulysses;
  std::vector<int64_t> out(static_cast<size_t>(ulysses), -1), in = out;
  int64_t previous = -1;
  for (size_t i = 0; i < plan.moves.size(); ++i) {
    const HeadMove &move = plan.moves[i];
    SART_RETURN_IF_ERROR(
        checkIndex("move", i, "head", move.head, placement.shape.heads));
    SART_RETURN_IF_ERROR(checkIndex("move", i, "source", move.from, ulysses));
    SART_RETURN_IF_ERROR(
        checkIndex("move", i, "destination", move.to, ulysses));
    if (move.head <= previous)
      return makeError("moves not ascending by head: got head ", move.head,
                       " at move ", i, ", expected more than ", previous);
    previous = move.head;
    int64_t owner = placement.ownerOfHead(move.head);
    if (move.from != owner)
      return makeError("source of the move of head ", move.head,
                       " is not its owner: got ulysses ", move.from,
                       ", expected ", owner);
    if (move.to == move.from)
      return makeError("move of head ", move.head,
                       " goes nowhere: got ulysses ", move.to,
                       ", expected another index than ", move.from);
    if (placement.blockShards)
      continue; // heads go straight to their final rank: any number
    int64_t &sent = out[static_cast<size_t>(move.from)];
    if (sent >= 0)
      return makeError("more than one head leaves ulysses ", move.from,
                       ": got heads ", sent, " and ", move.head,
                       ", expected at most one");
    sent = move.head;
    int64_t &received = in[static_cast<size_t>(move.to)];
    if (received >= 0)
      return makeError("more than one head enters ulysses ", move.to,
                       ": got heads ", received, " and ", move.head,
                       ", expected at most one");
    received = move.head;
  }
  return Status::success();
}

Status verifyRowMoves(const Plan &plan, const Placement &placement) {
  const Mesh &mesh = placement.mesh;
  std::vector<int64_t> owners = plan.owners(placement);
  for (size_t i = 0; i < plan.rowMoves.size(); ++i) {
    const RowMove &move = plan.rowMoves[i];
    SART_RETURN_IF_ERROR(
        checkIndex("row move", i, "head", move.head, placement.shape.heads));
    SART_RETURN_IF_ERROR(
        checkIndex("row move", i, "source", move.from, mesh.ranks()));
    SART_RETURN_IF_ERROR(
        checkIndex("row move", i, "destination", move.to, mesh.ranks()));
    int64_t r = mesh.ringIndex(move.from);
    Range owned = placement.qBlocksOf(r);
    if (move.qBlocks.empty() || move.qBlocks.begin < owned.begin ||
        move.qBlocks.end > owned.end)
      return makeError("q-blocks of row move ", i,
                       " not inside the segment of its source: got [",
                       move.qBlocks.begin, ", ", move.qBlocks.end,
                       "), expected a range inside [", owned.begin, ", ",
                       owned.end, ")");
    int64_t owner = mesh.rankOf(owners[static_cast<size_t>(move.head)], r);
    if (move.from != owner)
      return makeError("source of row move ", i,
                       " does not own the rows: got rank ", move.from,
                       ", expected ", owner);
    if (move.to == move.from ||
        (mesh.ring > 1 &&
         mesh.ulyssesIndex(move.to) != mesh.ulyssesIndex(move.from)))
      return makeError(
          "destination of row move ", i, " is not another rank of the ",
          mesh.ring > 1 ? "ring" : "ulysses", " group of its source: got rank ",
          move.to, ", expected one beside ", move.from);
    if (i == 0)
      continue;
    const RowMove &last = plan.rowMoves[i - 1];
    if (std::make_pair(last.head, last.qBlocks.end) >
        std::make_pair(move.head, move.qBlocks.begin))
      return makeError("row moves not ascending and disjoint: got row move ", i,
                       " (head ", move.head, ", q-block ", move.qBlocks.begin,
                       "), expected more than (", last.head, ", ",
                       last.qBlocks.end - 1, ")");
  }
  return Status::success();
}

auto transferKey(const KvTransfer &t) {
  return std::make_tuple(t.to, t.from, t.ulysses, t.kvHead);
}

Status verifyTransfers(const Plan &plan, const Placement &placement) {
  const LayerShape &shape = placement.shape;
  std::vector<int64_t> owners = plan.owners(placement);
  // present[u * kvHeads + g]: index u attends with kv head g.
  std::vector<bool> present(
      static_cast<size_t>(placement.mesh.ulysses * shape.kvHeads), false);
  auto mark = [&](int64_t u, int64_t head) {
    present[static_cast<size_t>(u * shape.kvHeads + shape.kvHeadOf(head))] =
        true;
  };
  for (int64_t head = 0; head < shape.heads; ++head)
    mark(owners[static_cast<size_t>(head)], head);
  for (const RowMove &move : plan.rowMoves)
    mark(placement.mesh.ulyssesIndex(move.to), move.head);
  for (size_t i = 0; i < plan.transfers.size(); ++i) {
    const KvTransfer &t = plan.transfers[i];
    SART_RETURN_IF_ERROR(
        checkIndex("transfer", i, "kv head", t.kvHead, shape.kvHeads));
    SART_RETURN_IF_ERROR(checkIndex("transfer", i, "ulysses index", t.ulysses,
                                    placement.mesh.ulysses));
    SART_RETURN_IF_ERROR(
        checkIndex("transfer", i, "source", t.from, placement.mesh.ring));
    SART_RETURN_IF_ERROR(
        checkIndex("transfer", i, "destination", t.to, placement.mesh.ring));
    if (t.from == t.to)
      return makeError("transfer ", i, " stays in its ring segment: got ring ",
                       t.to, ", expected another segment than ", t.from);
    if (i > 0 && transferKey(plan.transfers[i - 1]) >= transferKey(t))
      return makeError("transfers not ascending by (to, from, ulysses, kv "
                       "head): got transfer ",
                       i, " (", t.to, ", ", t.from, ", ", t.ulysses, ", ",
                       t.kvHead, "), expected more than its predecessor");
    if (!present[static_cast<size_t>(t.ulysses * shape.kvHeads + t.kvHead)])
      return makeError("transfer ", i,
                       " goes to ranks without its kv head: got kv head ",
                       t.kvHead, ", expected one that ulysses ", t.ulysses,
                       " owns after the moves");
    if (t.blocks.empty())
      return makeError("transfer ", i,
                       " carries nothing: got 0 ranges, expected at least 1");
    Range owned = placement.kvBlocksOf(t.from);
    int64_t least = owned.begin;
    for (const Range &range : t.blocks) {
      if (range.empty() || range.begin < least || range.end > owned.end)
        return makeError("kv-blocks of transfer ", i,
                         " not ascending, disjoint and owned by ring ", t.from,
                         ": got [", range.begin, ", ", range.end,
                         "), expected a range inside [", least, ", ", owned.end,
                         ")");
      least = range.end;
    }
  }
  return Status::success();
}

Status verifyExtras(const Plan &plan, const Placement &placement) {
  for (size_t i = 0; i < plan.extras.size(); ++i) {
    const ExtraTiles &extra = plan.extras[i];
    SART_RETURN_IF_ERROR(checkIndex("extra tiles", i, "head", extra.head,
                                    placement.shape.heads));
    SART_RETURN_IF_ERROR(checkIndex("extra tiles", i, "ring index",
                                    extra.ringIndex, placement.mesh.ring));
    if (i > 0 &&
        std::make_pair(plan.extras[i - 1].head, plan.extras[i - 1].ringIndex) >=
            std::make_pair(extra.head, extra.ringIndex))
      return makeError("extra tiles not ascending by (head, ring): got entry ",
                       i, " (", extra.head, ", ", extra.ringIndex,
                       "), expected more than its predecessor");
    int64_t most = placement.qBlocksOf(extra.ringIndex).size() *
                   placement.kvBlocksOf(extra.ringIndex).size();
    if (extra.tiles < 1 || extra.tiles > most)
      return makeError("extra tiles of head ", extra.head, " in ring ",
                       extra.ringIndex, " out of range: got ", extra.tiles,
                       ", expected 1 to ", most);
    for (const HeadMove &move : plan.moves)
      if (move.head == extra.head)
        return makeError("extra tiles go to a head that moves: got head ",
                         extra.head, ", expected a head that stays");
    for (const RowMove &move : plan.rowMoves)
      if (move.head == extra.head)
        return makeError("extra tiles go to a head whose rows move: got head ",
                         extra.head, ", expected a head that stays whole");
  }
  return Status::success();
}

Status verifyLoads(const char *what, const std::vector<int64_t> &loads,
                   int64_t ranks) {
  SART_RETURN_IF_ERROR(
      checkSize(what, static_cast<int64_t>(loads.size()), ranks));
  for (size_t rank = 0; rank < loads.size(); ++rank)
    if (loads[rank] < 0)
      return makeError("plan's ", what, " of rank ", rank, " negative: got ",
                       loads[rank], ", expected at least 0");
  return Status::success();
}

} // namespace

std::vector<int64_t> Plan::owners(const Placement &placement) const {
  std::vector<int64_t> result(static_cast<size_t>(placement.shape.heads));
  for (int64_t head = 0; head < placement.shape.heads; ++head)
    result[static_cast<size_t>(head)] = placement.ownerOfHead(head);
  for (const HeadMove &move : moves)
    if (move.head >= 0 && move.head < placement.shape.heads)
      result[static_cast<size_t>(move.head)] = move.to;
  return result;
}

Status Plan::verify(const Placement &placement) const {
  SART_RETURN_IF_ERROR(placement.verify());
  SART_RETURN_IF_ERROR(
      checkSize("mesh axis ulysses", mesh.ulysses, placement.mesh.ulysses));
  SART_RETURN_IF_ERROR(
      checkSize("mesh axis ring", mesh.ring, placement.mesh.ring));
  SART_RETURN_IF_ERROR(
      checkSize("number of heads", heads, placement.shape.heads));
  SART_RETURN_IF_ERROR(
      checkSize("number of kv heads", kvHeads, placement.shape.kvHeads));
  SART_RETURN_IF_ERROR(
      checkSize("number of q-blocks", qBlocks, placement.shape.qBlocks()));
  SART_RETURN_IF_ERROR(
      checkSize("number of kv-blocks", kvBlocks, placement.shape.kvBlocks()));
  SART_RETURN_IF_ERROR(verifyMoves(*this, placement));
  SART_RETURN_IF_ERROR(verifyRowMoves(*this, placement));
  SART_RETURN_IF_ERROR(verifyTransfers(*this, placement));
  SART_RETURN_IF_ERROR(verifyExtras(*this, placement));
  SART_RETURN_IF_ERROR(
      verifyLoads("loads before", loadsBefore, placement.mesh.ranks()));
  return verifyLoads("loads after", loadsAfter, placement.mesh.ranks());
}

uint64_t Plan::hash() const {
  PlanHasher hasher;
  for (int64_t value :
       {mesh.ulysses, mesh.ring, heads, kvHeads, qBlocks, kvBlocks})
    hasher.add(value);
  hasher.addSize(moves.size());
  for (const HeadMove &move : moves)
    for (int64_t value : {move.head, move.from, move.to})
      hasher.add(value);
  hasher.addSize(rowMoves.size());
  for (const RowMove &move : rowMoves)
    for (int64_t value :
         {move.head, move.qBlocks.begin, move.qBlocks.end, move.from, move.to})
      hasher.add(value);
  hasher.addSize(transfers.size());
  for (const KvTransfer &t : transfers) {
    for (int64_t value : {t.kvHead, t.ulysses, t.from, t.to})
      hasher.add(value);
    hasher.addSize(t.blocks.size());
    for (const Range &range : t.blocks) {
      hasher.add(range.begin);
      hasher.add(range.end);
    }
  }
  hasher.addSize(extras.size());
  for (const ExtraTiles &extra : extras)
    for (int64_t value : {extra.head, extra.ringIndex, extra.tiles})
      hasher.add(value);
  for (const std::vector<int64_t> *loads : {&loadsBefore, &loadsAfter}) {
    hasher.addSize(loads->size());
    for (int64_t load : *loads)
      hasher.add(load);
  }
  return hasher.result();
}

bool Plan::operator==(const Plan &other) const {
  return mesh.ulysses == other.mesh.ulysses && mesh.ring == other.mesh.ring &&
         heads == other.heads && kvHeads == other.kvHeads &&
         qBlocks == other.qBlocks && kvBlocks == other.kvBlocks &&
         moves == other.moves && rowMoves == other.rowMoves &&
         transfers == other.transfers && extras == other.extras &&
         loadsBefore == other.loadsBefore && loadsAfter == other.loadsAfter;
}

std::vector<HeldRows>
sart::rowsHeldBy(const Plan &plan, const Placement &placement, int64_t rank) {
  const Mesh &mesh = placement.mesh;
  int64_t r = mesh.ringIndex(rank);
  std::vector<int64_t> owners = plan.owners(placement);
  std::vector<HeldRows> held;
  auto hold = [&](int64_t head, int64_t ringIndex, Range rows, bool moved) {
    if (!rows.empty())
      held.push_back({head, ringIndex, rows, moved});
  };
  for (int64_t head = 0; head < placement.shape.heads; ++head) {
    if (owners[static_cast<size_t>(head)] != mesh.ulyssesIndex(rank))
      continue;
    Range rest = placement.qBlocksOf(r);
    for (const RowMove &move : plan.rowMoves) {
      if (move.head != head || move.from != rank)
        continue;
      hold(head, r, {rest.begin, move.qBlocks.begin}, false);
      rest.begin = move.qBlocks.end;
    }
    hold(head, r, rest, false);
  }
  for (const RowMove &move : plan.rowMoves)
    if (move.to == rank)
      hold(move.head, mesh.ringIndex(move.from), move.qBlocks, true);
  auto key = [&](const HeldRows &rows) {
    return std::make_tuple(rows.ringIndex != r, rows.ringIndex, rows.head,
                           rows.qBlocks.begin);
  };
  std::sort(
      held.begin(), held.end(),
      [&](const HeldRows &a, const HeldRows &b) { return key(a) < key(b); });
  return held;
}

double sart::imbalance(const std::vector<int64_t> &loads) {
  int64_t largest = 0;
  double sum = 0;
  for (int64_t load : loads) {
    largest = std::max(largest, load);
    sum += static_cast<double>(load);
  }
  if (sum == 0)
    return 1;
  return static_cast<double>(largest) * static_cast<double>(loads.size()) / sum;
}

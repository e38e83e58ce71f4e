//===- RowRepair.cpp - Rows that leave their rank -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Greedy over heads and tails of the rows that a head still has on its rank.
// Costs are exact: each rank counts, per head and kv-block, the rows that need
// it. Candidates of one (head, rank) cost O(rows * (tiles per row + ranks *
// words)); those of a head are counted again, when they are next looked at,
// after a shift of that head.
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/RingPlacement.h"

#include <algorithm>

using namespace sart;

namespace {

__extension__ typedef __int128 Wide;

/// `rows` rows from the front or the back of what a head has on its rank.
struct Candidate {
  int64_t cost = 0, rows = 0, tiles = 0, to = 0;
  bool back = false;
};

struct Choice {
  int64_t head = -1, from = 0;
  Candidate shift;
};

/// Keeps the cheapest choice of each head, and of these the cheapest few.
void keep(std::vector<Choice> &list, const Choice &choice) {
  constexpr size_t most = 8;
  auto place = std::find_if(list.begin(), list.end(), [&](const Choice &one) {
    return one.head == choice.head;
  });
  if (place == list.end()) {
    if (list.size() < most) {
      list.push_back(choice);
      return;
    }
    place = std::max_element(list.begin(), list.end(),
                             [](const Choice &a, const Choice &b) {
                               return a.shift.cost < b.shift.cost;
                             });
  }
  if (choice.shift.cost < place->shift.cost)
    *place = choice;
}

template <typename Fn>
void forEachBit(const uint64_t *row, int64_t words, Fn fn) {
  for (int64_t word = 0; word < words; ++word)
    for (uint64_t bits = row[word]; bits; bits &= bits - 1)
      fn(word * 64 + __builtin_ctzll(bits));
}

class Repair {
public:
  Repair(const MaskBits &mask, const BlockOwners &owners,
         const RepairOptions &options);
  void balance();
  void saveBytes();
  RowRepair take() { return std::move(result); }

private:
  size_t cell(int64_t head, int64_t rank) const {
    return static_cast<size_t>(head * ranks + rank);
  }
  uint16_t *countsOf(int64_t head, int64_t rank) {
    return counts.data() + cell(head, rank) * static_cast<size_t>(kvBlocks);
  }
  /// kv-blocks that need not be sent to a rank for a head: its own ones, and
  /// those that rows there need already.
  uint64_t *presentOf(int64_t head, int64_t rank) {
    return present.data() + cell(head, rank) * static_cast<size_t>(words);
  }
  bool owns(int64_t rank, int64_t kvBlock) const {
    return owners.kv[static_cast<size_t>(kvBlock)] == rank;
  }
  int64_t rowAt(int64_t rank, int64_t position) const {
    return owners
        .rowsOf[static_cast<size_t>(rank)][static_cast<size_t>(position)];
  }
  /// Whether a rank stays below the largest load with so many tiles more, or
  /// gets no more.
  bool fits(int64_t rank, int64_t tiles) const {
    return tiles <= 0 || loads[static_cast<size_t>(rank)] + tiles <= cap;
  }
  void addRow(int64_t head, int64_t row, int64_t rank, int sign);
  void listCandidates(int64_t head, int64_t rank, bool back,
                      std::vector<Candidate> &list);
  const std::vector<Candidate> &candidatesOf(int64_t head, int64_t rank);
  void apply(int64_t head, int64_t from, const Candidate &candidate);

  const MaskBits &mask;
  const BlockOwners &owners;
  const RepairOptions &options;
  int64_t ranks, kvBlocks, words, cap;
  std::vector<uint16_t> counts;  ///< rows, [head][rank][kvBlock]
  std::vector<uint64_t> present; ///< [head][rank][word]
  std::vector<int64_t> loads;    ///< tiles, [rank]
  std::vector<Range> left;       ///< rows not moved, [head][rank]
  std::vector<std::vector<Candidate>> candidates; ///< [head][rank]
  std::vector<uint8_t> stale;                     ///< [head][rank]
  RowRepair result;
};

Repair::Repair(const MaskBits &mask, const BlockOwners &owners,
               const RepairOptions &options)
    : mask(mask), owners(owners), options(options), ranks(owners.ranks),
      kvBlocks(mask.kvBlocks()), words(mask.words()) {
  cap = static_cast<int64_t>(Wide(mask.tiles()) * options.rhoMilli /
                             (Wide(1000) * ranks));
  size_t cells = static_cast<size_t>(mask.heads() * ranks);
  counts.assign(cells * static_cast<size_t>(kvBlocks), 0);
  present.assign(cells * static_cast<size_t>(words), 0);
  loads.assign(static_cast<size_t>(ranks), 0);
  candidates.resize(cells);
  stale.assign(cells, 1);
  for (int64_t head = 0; head < mask.heads(); ++head) {
    for (int64_t kv = 0; kv < kvBlocks; ++kv)
      presentOf(head, owners.kv[static_cast<size_t>(kv)])[kv / 64] |=
          uint64_t(1) << (kv % 64);
    for (int64_t rank = 0; rank < ranks; ++rank) {
      int64_t rows =
          static_cast<int64_t>(owners.rowsOf[static_cast<size_t>(rank)].size());
      left.push_back({0, rows});
      for (int64_t i = 0; i < rows; ++i)
        addRow(head, rowAt(rank, i), rank, 1);
    }
    result.rowOwners.insert(result.rowOwners.end(), owners.q.begin(),
                            owners.q.end());
  }
}

void Repair::addRow(int64_t head, int64_t row, int64_t rank, int sign) {
  uint16_t *count = countsOf(head, rank);
  uint64_t *has = presentOf(head, rank);
  forEachBit(mask.row(head, row), words, [&](int64_t kv) {
    count[kv] = static_cast<uint16_t>(count[kv] + sign);
    uint64_t bit = uint64_t(1) << (kv % 64);
    if (count[kv] != 0 || owns(rank, kv))
      has[kv / 64] |= bit;
    else
      has[kv / 64] &= ~bit;
  });
  loads[static_cast<size_t>(rank)] += sign * mask.count(head, row);
}

void Repair::listCandidates(int64_t head, int64_t rank, bool back,
                            std::vector<Candidate> &list) {
  Range rows = left[cell(head, rank)];
  const uint16_t *count = countsOf(head, rank);
  std::vector<uint16_t> moved(static_cast<size_t>(kvBlocks), 0);
  std::vector<uint64_t> needs(static_cast<size_t>(words), 0);
  int64_t freed = 0, tiles = 0;
  for (int64_t n = 1; n <= rows.size(); ++n) {
    int64_t row = rowAt(rank, back ? rows.end - n : rows.begin + n - 1);
    tiles += mask.count(head, row);
    const uint64_t *bits = mask.row(head, row);
    forEachBit(bits, words, [&](int64_t kv) {
      if (++moved[static_cast<size_t>(kv)] == count[kv] && !owns(rank, kv))
        ++freed;
    });
    for (int64_t word = 0; word < words; ++word)
      needs[static_cast<size_t>(word)] |= bits[word];
    if (tiles == 0)
      continue;
    for (int64_t to = 0; to < ranks; ++to) {
      if (to == rank)
        continue;
      const uint64_t *has = presentOf(head, to);
      int64_t added = 0;
      for (int64_t word = 0; word < words; ++word)
        added +=
            __builtin_popcountll(needs[static_cast<size_t>(word)] & ~has[word]);
      list.push_back({(added - freed) * options.kvTokens +
                          n * options.rowTokens + options.shiftTokens,
                      n, tiles, to, back});
    }
  }
}

const std::vector<Candidate> &Repair::candidatesOf(int64_t head, int64_t rank) {
  std::vector<Candidate> &list = candidates[cell(head, rank)];
  if (stale[cell(head, rank)]) {
    stale[cell(head, rank)] = 0;
    list.clear();
    listCandidates(head, rank, false, list);
    listCandidates(head, rank, true, list);
  }
  return list;
}

void Repair::apply(int64_t head, int64_t from, const Candidate &candidate) {
  Range &rows = left[cell(head, from)];
  Range moved = {rows.begin, rows.begin + candidate.rows};
  if (candidate.back) {
    moved = {rows.end - candidate.rows, rows.end};
    rows.end = moved.begin;
  } else {
    rows.begin = moved.end;
  }
  for (int64_t i = moved.begin; i < moved.end; ++i) {
    int64_t row = rowAt(from, i);
    addRow(head, row, from, -1);
    addRow(head, row, candidate.to, 1);
    result.rowOwners[static_cast<size_t>(head * mask.qBlocks() + row)] =
        static_cast<int32_t>(candidate.to);
  }
  result.shifts.push_back({head, moved, from, candidate.to});
  result.movedRows += candidate.rows;
  for (int64_t rank = 0; rank < ranks; ++rank)
    stale[cell(head, rank)] = 1;
}

void Repair::balance() {
  for (;;) {
    int64_t from = std::max_element(loads.begin(), loads.end()) - loads.begin();
    int64_t excess = loads[static_cast<size_t>(from)] - cap;
    if (excess <= 0)
      return;
    Candidate best;
    int64_t bestHead = -1, bestGain = 0;
    for (int64_t head = 0; head < mask.heads(); ++head)
      for (const Candidate &one : candidatesOf(head, from)) {
        if (!fits(one.to, one.tiles))
          continue;
        int64_t gain = std::min(one.tiles, excess);
        if (bestHead >= 0 &&
            Wide(one.cost) * bestGain >= Wide(best.cost) * gain)
          continue;
        best = one;
        bestHead = head;
        bestGain = gain;
      }
    if (bestHead < 0)
      return;
    apply(bestHead, from, best);
  }
}

void Repair::saveBytes() {
  int64_t most = mask.heads() * mask.qBlocks() * options.movedMilli / 1000;
  for (;;) {
    // Of each pair of ranks the best shifts, of different heads.
    std::vector<std::vector<Choice>> best(static_cast<size_t>(ranks * ranks));
    Choice first, second;
    for (int64_t head = 0; head < mask.heads(); ++head)
      for (int64_t from = 0; from < ranks; ++from)
        for (const Candidate &one : candidatesOf(head, from)) {
          if (one.cost >= 0 || result.movedRows + one.rows > most)
            continue;
          if (one.cost < first.shift.cost && fits(one.to, one.tiles))
            first = {head, from, one};
          keep(best[cell(from, one.to)], {head, from, one});
        }
    int64_t cost = first.shift.cost;
    for (int64_t a = 0; a < ranks; ++a)
      for (int64_t b = a + 1; b < ranks; ++b)
        for (const Choice &there : best[cell(a, b)])
          for (const Choice &back : best[cell(b, a)]) {
            int64_t toB = there.shift.tiles - back.shift.tiles;
            if (there.head == back.head ||
                there.shift.cost + back.shift.cost >= cost ||
                result.movedRows + there.shift.rows + back.shift.rows > most ||
                !fits(b, toB) || !fits(a, -toB))
              continue;
            first = there;
            second = back;
            cost = there.shift.cost + back.shift.cost;
          }
    if (first.head < 0)
      return;
    apply(first.head, first.from, first.shift);
    if (second.head >= 0)
      apply(second.head, second.from, second.shift);
  }
}

} // namespace

Status RepairOptions::verify() const {
  auto check = [](const char *what, int64_t value, int64_t least,
                  int64_t most) -> Status {
    if (value < least || value > most)
      return makeError(what, " out of range: got ", value, ", expected ", least,
                       " to ", most);
    return Status::success();
  };
  constexpr int64_t mostTokens = int64_t(1) << 28;
  SART_RETURN_IF_ERROR(check("thousandths of rho", rhoMilli, 1000, 1000000));
  SART_RETURN_IF_ERROR(check("thousandths of moved rows", movedMilli, 0, 1000));
  SART_RETURN_IF_ERROR(check("tokens of a row", rowTokens, 0, mostTokens));
  SART_RETURN_IF_ERROR(check("tokens of a kv-block", kvTokens, 0, mostTokens));
  return check("tokens of a shift", shiftTokens, 0, mostTokens);
}

Expected<RowRepair> sart::repairRows(const MaskBits &mask,
                                     const BlockOwners &owners,
                                     const RepairOptions &options) {
  SART_RETURN_IF_ERROR(options.verify());
  if (static_cast<int64_t>(owners.q.size()) != mask.qBlocks() ||
      static_cast<int64_t>(owners.kv.size()) != mask.kvBlocks())
    return makeError("placed blocks do not fit the mask: got ", owners.q.size(),
                     " x ", owners.kv.size(), ", expected ", mask.qBlocks(),
                     " x ", mask.kvBlocks());
  if (mask.qBlocks() > UINT16_MAX)
    return makeError("rows of a mask out of range: got ", mask.qBlocks(),
                     ", expected at most ", UINT16_MAX);
  Repair repair(mask, owners, options);
  repair.balance();
  repair.saveBytes();
  return repair.take();
}

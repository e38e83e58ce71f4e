//===- RingDemand.cpp - kv-blocks that travel in a ring -------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/RingPlacement.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace sart;

MaskBits::MaskBits(const BlockMask &mask)
    : numHeads(mask.heads()), numQBlocks(mask.qBlocks()),
      numKvBlocks(mask.kvBlocks()), total(mask.tiles()) {
  bits.assign(static_cast<size_t>(numHeads * numQBlocks * words()), 0);
  counts.reserve(static_cast<size_t>(numHeads * numQBlocks));
  for (int64_t head = 0; head < numHeads; ++head)
    for (int64_t block = 0; block < numQBlocks; ++block) {
      int64_t count = mask.count(head, block);
      counts.push_back(static_cast<int32_t>(count));
      const int32_t *list = mask.row(head, block);
      uint64_t *row = bits.data() + (head * numQBlocks + block) * words();
      for (int64_t i = 0; i < count; ++i)
        row[list[i] / 64] |= uint64_t(1) << (list[i] % 64);
    }
}

int64_t RingDemand::total() const {
  return std::accumulate(blocks.begin(), blocks.end(), int64_t(0));
}

double RingDemand::shareOfRing() const {
  int64_t dense = (ranks - 1) * kvBlocks * heads;
  return dense == 0 ? 0
                    : static_cast<double>(total()) / static_cast<double>(dense);
}

double RingDemand::maxPort() const {
  int64_t most = 0;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t sent = 0, received = 0;
    for (int64_t other = 0; other < ranks; ++other) {
      sent += blocks[static_cast<size_t>(rank * ranks + other)];
      received += blocks[static_cast<size_t>(other * ranks + rank)];
    }
    most = std::max({most, sent, received});
  }
  int64_t dense = (ranks - 1) * kvBlocks * heads;
  return dense == 0
             ? 0
             : static_cast<double>(most * ranks) / static_cast<double>(dense);
}

double RingDemand::multicastShare() const {
  int64_t sent =
      std::accumulate(receivers.begin(), receivers.end(), int64_t(0)) -
      (receivers.empty() ? 0 : receivers[0]);
  int64_t copies = total();
  return copies == 0 ? 1
                     : static_cast<double>(sent) / static_cast<double>(copies);
}

/// Calls fn(owner, receivers) for every head and kv-block; `countRow` for every
/// row before.
template <typename CountRow, typename Fn>
static void forEachBlock(const MaskBits &mask, const BlockOwners &owners,
                         const std::vector<int32_t> &rowOwners,
                         CountRow countRow, Fn fn) {
  int64_t ranks = owners.ranks, words = mask.words();
  std::vector<uint64_t> needs(static_cast<size_t>(ranks * words));
  std::vector<int32_t> receivers;
  for (int64_t head = 0; head < mask.heads(); ++head) {
    std::fill(needs.begin(), needs.end(), 0);
    for (int64_t block = 0; block < mask.qBlocks(); ++block) {
      int64_t rank =
          rowOwners[static_cast<size_t>(head * mask.qBlocks() + block)];
      countRow(rank, mask.count(head, block));
      const uint64_t *row = mask.row(head, block);
      for (int64_t word = 0; word < words; ++word)
        needs[static_cast<size_t>(rank * words + word)] |= row[word];
    }
    for (int64_t kv = 0; kv < mask.kvBlocks(); ++kv) {
      int32_t from = owners.kv[static_cast<size_t>(kv)];
      receivers.clear();
      for (int32_t to = 0; to < ranks; ++to)
        if (to != from &&
            needs[static_cast<size_t>(to * words + kv / 64)] >> (kv % 64) & 1)
          receivers.push_back(to);
      fn(from, receivers);
    }
  }
}

RingDemand sart::countRingDemand(const MaskBits &mask,
                                 const BlockOwners &owners,
                                 const std::vector<int32_t> &rowOwners) {
  RingDemand demand;
  int64_t ranks = demand.ranks = owners.ranks;
  demand.heads = mask.heads();
  demand.kvBlocks = mask.kvBlocks();
  demand.blocks.assign(static_cast<size_t>(ranks * ranks), 0);
  demand.loads.assign(static_cast<size_t>(ranks), 0);
  demand.receivers.assign(static_cast<size_t>(ranks), 0);
  forEachBlock(
      mask, owners, rowOwners,
      [&](int64_t rank, int64_t tiles) {
        demand.loads[static_cast<size_t>(rank)] += tiles;
      },
      [&](int64_t from, const std::vector<int32_t> &receivers) {
        for (int32_t to : receivers)
          ++demand.blocks[static_cast<size_t>(from * ranks + to)];
        ++demand.receivers[receivers.size()];
      });
  return demand;
}

std::vector<MulticastSet>
sart::countMulticast(const MaskBits &mask, const BlockOwners &owners,
                     const std::vector<int32_t> &rowOwners) {
  std::map<std::pair<int32_t, std::vector<int32_t>>, int64_t> counts;
  forEachBlock(
      mask, owners, rowOwners, [](int64_t, int64_t) {},
      [&](int32_t from, const std::vector<int32_t> &receivers) {
        if (!receivers.empty())
          ++counts[{from, receivers}];
      });
  std::vector<MulticastSet> sets;
  sets.reserve(counts.size());
  for (const auto &[key, blocks] : counts)
    sets.push_back({key.first, key.second, blocks});
  return sets;
}

RingDemand sart::countRingDemand(const MaskBits &mask,
                                 const BlockOwners &owners) {
  std::vector<int32_t> rowOwners;
  for (int64_t head = 0; head < mask.heads(); ++head)
    rowOwners.insert(rowOwners.end(), owners.q.begin(), owners.q.end());
  return countRingDemand(mask, owners, rowOwners);
}

//===- RingOrder.cpp - In which order a ring's segments are met -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Rounds.h"

#include <algorithm>

using namespace sart;

std::vector<int64_t> sart::ringDistances(const Plan &plan,
                                         const Placement &placement,
                                         int64_t ulysses) {
  int64_t ring = placement.mesh.ring;
  const LayerShape &shape = placement.shape;
  std::vector<int64_t> sizes(static_cast<size_t>(ring * ring), 0);
  for (const KvTransfer &transfer : plan.transfers) {
    if (transfer.ulysses != ulysses)
      continue;
    for (const Range &blocks : transfer.blocks)
      sizes[static_cast<size_t>(transfer.from * ring + transfer.to)] +=
          std::min(blocks.end * shape.blockK, shape.skv) -
          std::min(blocks.begin * shape.blockK, shape.skv);
  }
  Expected<Rounds> rounds = scheduleRounds(ring, sizes);
  if (!rounds)
    return {};
  // The fewest tokens last: what arrives last is attended with nothing beside.
  auto largest = [&](int64_t distance) {
    int64_t most = 0;
    for (int64_t from = 0; from < ring; ++from)
      most = std::max(
          most,
          sizes[static_cast<size_t>(from * ring + (from + distance) % ring)]);
    return most;
  };
  std::vector<int64_t> &distances = rounds->distances;
  std::vector<int64_t> tail = distances;
  auto least =
      std::min_element(tail.begin(), tail.end(), [&](int64_t a, int64_t b) {
        return largest(a) < largest(b);
      });
  if (least != tail.end() && largest(*least) < largest(tail.back())) {
    std::rotate(least, least + 1, tail.end());
    if (ringMakespan(ring, sizes, tail) <= rounds->ringMakespan)
      distances = std::move(tail);
  }
  return distances;
}

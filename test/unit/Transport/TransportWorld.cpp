//===- TransportWorld.cpp - Ranks that tests play -------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TransportWorld.h"

using namespace sart;
using namespace sart::test;

std::vector<Status>
World::onRanks(const std::function<Status(Endpoint &)> &body) {
  std::vector<Status> results(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (auto &part : parts)
    for (int64_t rank : part->localRanks())
      threads.emplace_back([&, rank, transport = part.get()] {
        results[static_cast<size_t>(rank)] = body(transport->endpoint(rank));
      });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

void World::expectOnRanks(const std::function<Status(Endpoint &)> &body) {
  std::vector<Status> results = onRanks(body);
  for (size_t rank = 0; rank < results.size(); ++rank)
    EXPECT_TRUE(results[rank].ok())
        << "rank " << rank << ": " << results[rank].message();
}

bool World::has(int64_t rank) const {
  for (const auto &part : parts)
    for (int64_t local : part->localRanks())
      if (local == rank)
        return true;
  return false;
}

void World::reset() {
  for (auto &part : parts)
    part->reset();
}

std::vector<TransportKind>
test::kindsThat(const std::function<bool(const TransportKind &)> &suit) {
  std::vector<TransportKind> kinds;
  for (const TransportKind &kind : transportKinds())
    if (suit(kind))
      kinds.push_back(kind);
  return kinds;
}

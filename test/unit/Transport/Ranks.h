//===- Ranks.h - Threads that play ranks ------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_TRANSPORT_RANKS_H
#define SPARSEATTN_TEST_UNIT_TRANSPORT_RANKS_H

#include "sparseattn-rt/Transport.h"

#include "gtest/gtest.h"

#include <chrono>
#include <functional>
#include <thread>

namespace sart::test {

inline std::unique_ptr<LocalTransport> makeTransport(int64_t ranks,
                                                     int64_t timeoutMs) {
  auto transport = LocalTransport::create(ranks, timeoutMs);
  EXPECT_TRUE(transport.ok()) << transport.message();
  return std::move(*transport);
}

/// Runs body(endpoint) on one thread per rank; returns the statuses.
inline std::vector<Status>
onRanks(LocalTransport &transport, int64_t ranks,
        const std::function<Status(Endpoint &)> &body) {
  std::vector<Status> results(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      results[static_cast<size_t>(rank)] = body(transport.endpoint(rank));
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

template <typename T>
SegmentList segmentOf(std::vector<T> &values) {
  return {{values.data(), static_cast<int64_t>(values.size() * sizeof(T))}};
}

/// Posts and waits.
inline Status sendAll(Endpoint &endpoint, int64_t peer, SegmentList from) {
  auto handle = endpoint.send(peer, std::move(from));
  return handle ? endpoint.wait(**handle) : handle.status();
}
inline Status recvAll(Endpoint &endpoint, int64_t peer, SegmentList to) {
  auto handle = endpoint.recv(peer, std::move(to));
  return handle ? endpoint.wait(**handle) : handle.status();
}

inline int64_t millisecondsOf(const std::function<void()> &body) {
  auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now() - begin)
      .count();
}

} // namespace sart::test

#endif // SPARSEATTN_TEST_UNIT_TRANSPORT_RANKS_H

//===- TransportWorld.h - Ranks that tests play -----------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_TRANSPORT_TRANSPORTWORLD_H
#define SPARSEATTN_TEST_UNIT_TRANSPORT_TRANSPORTWORLD_H

#include "sparseattn-rt/Transport.h"

#include "gtest/gtest.h"

#include <chrono>
#include <functional>
#include <thread>

namespace sart::test {

/// The ranks of one transport, as many of them as this process has. Where
/// ranks are processes, each of them runs the same tests in the same order,
/// and a test sees the results of its own rank alone.
class World {
public:
  World(int64_t ranks, std::vector<std::unique_ptr<Transport>> parts)
      : ranks(ranks), parts(std::move(parts)) {}

  /// Runs body(endpoint) on a thread of each rank here; returns the statuses
  /// by rank, success for those elsewhere.
  std::vector<Status> onRanks(const std::function<Status(Endpoint &)> &body);
  /// The same, and fails the test for each status that is none.
  void expectOnRanks(const std::function<Status(Endpoint &)> &body);
  bool has(int64_t rank) const;
  void reset();

  const int64_t ranks;
  /// Each is a process of its own, or looks like one.
  std::vector<std::unique_ptr<Transport>> parts;
};

struct TransportKind {
  const char *name;
  /// A world of at least so many ranks; null where there are not as many.
  std::function<std::unique_ptr<World>(int64_t ranks, int64_t timeoutMs)> make;
  bool oneSided = true;    ///< has put
  bool checksSizes = true; ///< sizes that differ are an error, on both sides
  bool apart = true;       ///< ranks do not share memory
  bool threads = true;     ///< all ranks are in this process
  /// Numbers of ranks to run programs over; one where there is no choice.
  std::vector<int64_t> rankCounts = {2};
};

inline std::ostream &operator<<(std::ostream &stream,
                                const TransportKind &kind) {
  return stream << kind.name;
}

/// Of this binary.
std::vector<TransportKind> transportKinds();

std::vector<TransportKind>
kindsThat(const std::function<bool(const TransportKind &)> &suit);

class TransportTest : public testing::TestWithParam<TransportKind> {
protected:
  void makeWorld(int64_t ranks, int64_t timeoutMs = 60000) {
    world = GetParam().make(ranks, timeoutMs);
  }
  std::unique_ptr<World> world;
};

/// Runs the tests of a suite on each kind of transport that suits.
#define INSTANTIATE_ON_KINDS(suite, suits)                                     \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      Kinds, suite,                                                            \
      testing::ValuesIn(                                                       \
          kindsThat([](const TransportKind &kind) { return suits; })),         \
      [](const auto &kind) { return kind.param.name; });                       \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite)

/// Ends a test that needs more ranks than there are.
#define MAKE_WORLD(...)                                                        \
  makeWorld(__VA_ARGS__);                                                      \
  if (!world)                                                                  \
  GTEST_SKIP() << "not enough ranks"

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

/// An error when a value is not as expected.
template <typename A, typename B>
Status expectSame(const char *what, const A &got, const B &expected) {
  return got == expected ? Status::success()
                         : makeError(what, ": got another value than expected");
}

inline int64_t millisecondsOf(const std::function<void()> &body) {
  auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now() - begin)
      .count();
}

} // namespace sart::test

#endif // SPARSEATTN_TEST_UNIT_TRANSPORT_TRANSPORTWORLD_H

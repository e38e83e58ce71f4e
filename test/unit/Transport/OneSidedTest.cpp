//===- OneSidedTest.cpp - Puts, signals and their waits -------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "TransportWorld.h"

#include <numeric>

using namespace sart;
using namespace sart::test;

namespace {

class OneSided : public TransportTest {
protected:
  /// Window w of each rank here is `windows[rank]`, cut into rows of 8 bytes;
  /// chunks are [slot, begin, end) of them, slots of 1,000 rows.
  void makeWindows(int64_t ranks, int64_t timeoutMs = 60000) {
    makeWorld(ranks, timeoutMs);
    if (!world)
      return;
    windows.assign(static_cast<size_t>(world->ranks),
                   std::vector<uint64_t>(200000, ~uint64_t(0)));
    for (auto &part : world->parts) {
      std::vector<WindowResolver> resolvers;
      for (int64_t rank : part->localRanks())
        resolvers.emplace_back([this, rank](const RemoteRows &rows) {
          SegmentList list;
          if (rows.window != 3)
            return Expected<SegmentList>(
                makeError("window: got ", rows.window, ", expected 3"));
          for (size_t i = 0; i + 2 < rows.chunks.size(); i += 3)
            list.push_back(
                {&windows[static_cast<size_t>(rank)][static_cast<size_t>(
                     rows.chunks[i] * 1000 + rows.chunks[i + 1])],
                 8 * (rows.chunks[i + 2] - rows.chunks[i + 1])});
          return Expected<SegmentList>(std::move(list));
        });
      part->useWindows(std::move(resolvers));
    }
  }
  std::vector<std::vector<uint64_t>> windows;
};

} // namespace

class Signals : public TransportTest {};

INSTANTIATE_ON_KINDS(OneSided, kind.oneSided);
INSTANTIATE_ON_KINDS(Signals, kind.make != nullptr);

#define MAKE_WINDOWS(...)                                                      \
  makeWindows(__VA_ARGS__);                                                    \
  if (!world)                                                                  \
  GTEST_SKIP() << "not enough ranks"

TEST_P(OneSided, PutIsVisibleAfterTheSignal) {
  MAKE_WINDOWS(2);
  world->expectOnRanks([&](Endpoint &endpoint) -> Status {
    std::vector<uint64_t> from(1000);
    if (endpoint.rank() > 1)
      return Status::success();
    for (uint64_t round = 0; round < 200; ++round) {
      if (endpoint.rank() == 0) {
        std::fill(from.begin(), from.end(), round);
        SART_RETURN_IF_ERROR(
            endpoint.put(1, segmentOf(from), {3, {0, 0, 300, 2, 5, 705}}));
        SART_RETURN_IF_ERROR(endpoint.signal(1));
        // The rows are free again when the reader says so.
        SART_RETURN_IF_ERROR(endpoint.waitSignal(1));
        continue;
      }
      SART_RETURN_IF_ERROR(endpoint.waitSignal(0));
      for (size_t i = 0; i < 3000; ++i) {
        bool inside = i < 300 || (i >= 2005 && i < 2705);
        SART_RETURN_IF_ERROR(
            expectSame("row", windows[1][i], inside ? round : ~uint64_t(0)));
      }
      SART_RETURN_IF_ERROR(endpoint.signal(0));
    }
    return Status::success();
  });
}

TEST_P(OneSided, LargePutArrivesWhole) {
  MAKE_WINDOWS(2);
  world->expectOnRanks([&](Endpoint &endpoint) -> Status {
    std::vector<uint64_t> from(190000);
    std::iota(from.begin(), from.end(), 17);
    if (endpoint.rank() == 0) {
      SART_RETURN_IF_ERROR(
          endpoint.put(1, segmentOf(from), {3, {0, 7, 100007, 101, 0, 90000}}));
      return endpoint.signal(1);
    }
    if (endpoint.rank() > 1)
      return Status::success();
    SART_RETURN_IF_ERROR(endpoint.waitSignal(0));
    for (size_t i = 0; i < from.size(); ++i)
      SART_RETURN_IF_ERROR(expectSame(
          "row", windows[1][i < 100000 ? 7 + i : 1000 + i], from[i]));
    return Status::success();
  });
}

TEST_P(Signals, CountPerPeer) {
  MAKE_WORLD(3, 2000);
  world->expectOnRanks([](Endpoint &endpoint) -> Status {
    if (endpoint.rank() == 1 || endpoint.rank() == 2) {
      for (int64_t i = endpoint.rank(); i < 3; ++i)
        SART_RETURN_IF_ERROR(endpoint.signal(0));
      return Status::success();
    }
    if (endpoint.rank() > 2)
      return Status::success();
    for (int64_t peer : {2, 1, 1})
      SART_RETURN_IF_ERROR(endpoint.waitSignal(peer));
    return expectSame("third", endpoint.waitSignal(1).message(),
                      "signal from rank 1 not met in time: got nothing within "
                      "2000 ms");
  });
}

TEST_P(OneSided, PutRefusesDifferentSizes) {
  MAKE_WINDOWS(2);
  auto results = world->onRanks([&](Endpoint &endpoint) -> Status {
    std::vector<char> from(24);
    if (endpoint.rank() == 0) {
      Status status = endpoint.put(1, segmentOf(from), {3, {0, 0, 4}});
      return status.ok() ? endpoint.signal(1) : status;
    }
    return endpoint.rank() == 1 && GetParam().apart ? endpoint.waitSignal(0)
                                                    : Status::success();
  });
  // Who notices is the one that knows both.
  std::string text = results[0].message() + results[1].message();
  if (world->has(1))
    EXPECT_NE(text.find("sizes of source and destination differ: got 24 bytes, "
                        "expected 32 bytes"),
              std::string::npos)
        << text;
}

TEST_P(OneSided, PutIntoAnUnknownWindowIsRefused) {
  MAKE_WINDOWS(2);
  auto results = world->onRanks([&](Endpoint &endpoint) -> Status {
    if (endpoint.rank() == 0) {
      Status status = endpoint.put(1, {}, {4, {}});
      return status.ok() ? endpoint.signal(1) : status;
    }
    return endpoint.rank() == 1 && GetParam().apart ? endpoint.waitSignal(0)
                                                    : Status::success();
  });
  std::string text = results[0].message() + results[1].message();
  if (world->has(1))
    EXPECT_NE(text.find("window: got 4, expected 3"), std::string::npos)
        << text;
}

TEST_P(Signals, AreForgottenByAReset) {
  MAKE_WORLD(2, 1000);
  world->expectOnRanks([](Endpoint &endpoint) -> Status {
    return endpoint.rank() == 0 ? endpoint.signal(1) : Status::success();
  });
  world->reset();
  world->expectOnRanks([](Endpoint &endpoint) -> Status {
    return endpoint.rank() == 1
               ? expectSame("wait", endpoint.waitSignal(0).ok(), false)
               : Status::success();
  });
}

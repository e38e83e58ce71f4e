//===- MatchingTest.cpp - Which send meets which receive ------------------===//
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

class Matching : public TransportTest {};

class MatchingOfSizes : public TransportTest {};

INSTANTIATE_ON_KINDS(Matching, kind.make != nullptr);
INSTANTIATE_ON_KINDS(MatchingOfSizes, kind.checksSizes);

TEST_P(Matching, KthSendMeetsKthReceive) {
  MAKE_WORLD(2);
  constexpr int count = 100;
  world->expectOnRanks([&](Endpoint &endpoint) -> Status {
    if (endpoint.rank() > 1)
      return Status::success();
    std::vector<int> sent(count), received(count, -1);
    std::iota(sent.begin(), sent.end(), 1000);
    std::vector<std::shared_ptr<TransferHandle>> handles;
    for (int i = 0; i < count; ++i) {
      auto index = static_cast<size_t>(i);
      auto handle = endpoint.rank() == 0
                        ? endpoint.send(1, {{&sent[index], sizeof(int)}})
                        : endpoint.recv(0, {{&received[index], sizeof(int)}});
      if (!handle)
        return handle.status();
      handles.push_back(*handle);
    }
    // Waited for in another order than posted.
    for (size_t i = handles.size(); i-- > 0;)
      SART_RETURN_IF_ERROR(endpoint.wait(*handles[i]));
    return endpoint.rank() == 0 ? Status::success()
                                : expectSame("received", received, sent);
  });
}

TEST_P(Matching, OrderIsPerPair) {
  // Rank 2 takes rank 1's value first although rank 0 sends first.
  MAKE_WORLD(3);
  world->expectOnRanks([&](Endpoint &endpoint) -> Status {
    int own = 10 + static_cast<int>(endpoint.rank()), fromOne = 0, fromZero = 0;
    if (endpoint.rank() < 2)
      return sendAll(endpoint, 2, {{&own, sizeof(int)}});
    if (endpoint.rank() > 2)
      return Status::success();
    SART_RETURN_IF_ERROR(recvAll(endpoint, 1, {{&fromOne, sizeof(int)}}));
    SART_RETURN_IF_ERROR(recvAll(endpoint, 0, {{&fromZero, sizeof(int)}}));
    SART_RETURN_IF_ERROR(expectSame("rank 0", fromZero, 10));
    return expectSame("rank 1", fromOne, 11);
  });
}

TEST_P(Matching, SegmentBordersNeedNotAgree) {
  MAKE_WORLD(2);
  // Few bytes, and many.
  for (size_t scale : {1, 4099})
    world->expectOnRanks([&](Endpoint &endpoint) -> Status {
      std::vector<int> sent(60 * scale), received(60 * scale, 0);
      std::iota(sent.begin(), sent.end(), 1);
      auto bytes = static_cast<int64_t>(sizeof(int) * scale);
      if (endpoint.rank() == 0)
        return sendAll(endpoint, 1,
                       {{sent.data(), 7 * bytes},
                        {nullptr, 0},
                        {sent.data() + 7 * scale, 53 * bytes}});
      if (endpoint.rank() > 1)
        return Status::success();
      SART_RETURN_IF_ERROR(recvAll(endpoint, 0,
                                   {{received.data(), 25 * bytes},
                                    {received.data() + 25 * scale, 35 * bytes},
                                    {nullptr, 0}}));
      return expectSame("received", received, sent);
    });
}

TEST_P(Matching, RankMaySendToItself) {
  MAKE_WORLD(1);
  for (size_t count : {1, 100000})
    world->expectOnRanks([&](Endpoint &endpoint) -> Status {
      std::vector<int> from(count, 7), to(count, 0);
      auto send = endpoint.send(endpoint.rank(), segmentOf(from));
      if (!send)
        return send.status();
      SART_RETURN_IF_ERROR(recvAll(endpoint, endpoint.rank(), segmentOf(to)));
      SART_RETURN_IF_ERROR(endpoint.wait(**send));
      return expectSame("received", to, from);
    });
}

TEST_P(Matching, EmptyTransfersMeet) {
  MAKE_WORLD(2);
  world->expectOnRanks([&](Endpoint &endpoint) -> Status {
    if (endpoint.rank() > 1)
      return Status::success();
    for (int i = 0; i < 5; ++i)
      SART_RETURN_IF_ERROR(endpoint.rank() == 0 ? sendAll(endpoint, 1, {})
                                                : recvAll(endpoint, 0, {}));
    return Status::success();
  });
}

TEST_P(MatchingOfSizes, DifferencesAreAnErrorOnBothSides) {
  for (int64_t sent : {12, 1000000})
    for (int64_t expected : {16, 2000000}) {
      MAKE_WORLD(2);
      std::vector<char> from(static_cast<size_t>(sent), 1),
          to(static_cast<size_t>(expected), 2);
      auto results = world->onRanks([&](Endpoint &endpoint) -> Status {
        return endpoint.rank() == 0   ? sendAll(endpoint, 1, segmentOf(from))
               : endpoint.rank() == 1 ? recvAll(endpoint, 0, segmentOf(to))
                                      : Status::success();
      });
      for (int64_t rank : {0, 1})
        if (world->has(rank))
          EXPECT_EQ(results[static_cast<size_t>(rank)].message(),
                    concat("sizes of send and receive differ from rank 0 to "
                           "rank 1: got ",
                           sent, " bytes sent, expected ", expected,
                           " bytes received"));
      EXPECT_EQ(to, std::vector<char>(static_cast<size_t>(expected), 2))
          << "nothing may be written";
    }
}

TEST_P(Matching, PeersOutOfRangeAreRefused) {
  MAKE_WORLD(2);
  world->expectOnRanks([&](Endpoint &endpoint) -> Status {
    int64_t ranks = endpoint.ranks();
    std::string range = concat(", expected 0 to ", ranks - 1);
    SART_RETURN_IF_ERROR(
        expectSame("send", endpoint.send(ranks, {}).message(),
                   concat("peer of send out of range: got ", ranks, range)));
    SART_RETURN_IF_ERROR(
        expectSame("recv", endpoint.recv(-1, {}).message(),
                   concat("peer of recv out of range: got -1", range)));
    SART_RETURN_IF_ERROR(expectSame(
        "signal", endpoint.signal(ranks + 3).message(),
        concat("peer of signal out of range: got ", ranks + 3, range)));
    SART_RETURN_IF_ERROR(
        expectSame("gather", endpoint.gather(ranks, "").message(),
                   concat("peer of gather out of range: got ", ranks, range)));
    return expectSame("others",
                      endpoint.put(ranks, {}, {}).ok() ||
                          endpoint.waitSignal(-2).ok(),
                      false);
  });
}

TEST_P(Matching, ForeignHandleIsRefused) {
  struct Foreign : TransferHandle {
  } foreign;
  MAKE_WORLD(1);
  world->expectOnRanks([&](Endpoint &endpoint) -> Status {
    return expectSame("refused",
                      endpoint.wait(foreign).message().rfind(
                          "transfer handle belongs to another transport: "
                          "expected one of the ",
                          0),
                      size_t(0));
  });
}

TEST_P(Matching, ManyInFlight) {
  MAKE_WORLD(2);
  constexpr size_t count = 500;
  world->expectOnRanks([&](Endpoint &endpoint) -> Status {
    auto ranks = static_cast<size_t>(endpoint.ranks());
    auto self = static_cast<size_t>(endpoint.rank());
    auto size = [](size_t from, size_t to, size_t i) {
      return (i * 7919 + from * 31 + to) % 3000;
    };
    std::vector<std::vector<uint8_t>> out, in;
    std::vector<std::shared_ptr<TransferHandle>> handles;
    for (size_t i = 0; i < count; ++i)
      for (size_t peer = 0; peer < ranks; ++peer) {
        out.emplace_back(size(self, peer, i), static_cast<uint8_t>(i + self));
        in.emplace_back(size(peer, self, i), uint8_t(0));
      }
    for (size_t i = 0; i < out.size(); ++i) {
      auto peer = static_cast<int64_t>(i % ranks);
      if (static_cast<size_t>(peer) == self)
        continue;
      auto send = endpoint.send(peer, segmentOf(out[i]));
      auto recv = endpoint.recv(peer, segmentOf(in[i]));
      if (!send || !recv)
        return send ? recv.status() : send.status();
      handles.push_back(*send);
      handles.push_back(*recv);
    }
    for (auto &handle : handles)
      SART_RETURN_IF_ERROR(endpoint.wait(*handle));
    for (size_t i = 0; i < in.size(); ++i)
      for (uint8_t byte : in[i])
        if (i % ranks != self &&
            byte != static_cast<uint8_t>(i / ranks + i % ranks))
          return makeError("message ", i, ": got byte ", int(byte));
    return Status::success();
  });
}

TEST_P(Matching, LargeMessagesBothWays) {
  MAKE_WORLD(2);
  constexpr size_t bytes = (size_t(24) << 20) + 13;
  world->expectOnRanks([&](Endpoint &endpoint) -> Status {
    if (endpoint.rank() > 1)
      return Status::success();
    auto pattern = [](size_t i, int64_t rank) {
      return static_cast<uint8_t>(i * 2654435761u >> (13 + rank));
    };
    int64_t peer = 1 - endpoint.rank();
    std::vector<uint8_t> out(bytes), in(bytes);
    for (size_t i = 0; i < bytes; ++i)
      out[i] = pattern(i, endpoint.rank());
    auto send = endpoint.send(peer, segmentOf(out));
    auto recv = endpoint.recv(peer, segmentOf(in));
    if (!send || !recv)
      return send ? recv.status() : send.status();
    SART_RETURN_IF_ERROR(endpoint.wait(**recv));
    SART_RETURN_IF_ERROR(endpoint.wait(**send));
    for (size_t i = 0; i < bytes; ++i)
      if (in[i] != pattern(i, peer))
        return makeError("byte ", i, ": got ", int(in[i]));
    return Status::success();
  });
}

TEST_P(Matching, AllGatherGivesEveryValueInRankOrder) {
  MAKE_WORLD(5);
  world->expectOnRanks([&](Endpoint &endpoint) -> Status {
    auto ranks = static_cast<uint64_t>(endpoint.ranks());
    for (uint64_t round = 0; round < 200; ++round) {
      auto rank = static_cast<uint64_t>(endpoint.rank());
      auto values = endpoint.allGather(round * 100 + rank);
      if (!values)
        return values.status();
      SART_RETURN_IF_ERROR(expectSame("values", values->size(), ranks));
      for (uint64_t peer = 0; peer < ranks; ++peer)
        SART_RETURN_IF_ERROR(
            expectSame("value", (*values)[peer], round * 100 + peer));
      SART_RETURN_IF_ERROR(endpoint.barrier());
    }
    return Status::success();
  });
}

TEST_P(Matching, GatherBringsBytesOfAnyLengthToOneRank) {
  MAKE_WORLD(3);
  auto bytesOf = [](int64_t rank, size_t size) {
    std::string bytes;
    for (size_t i = 0; i < size; ++i)
      bytes.push_back(static_cast<char>(i * 31 + static_cast<size_t>(rank)));
    return bytes;
  };
  world->expectOnRanks([&](Endpoint &endpoint) -> Status {
    // A transfer in flight is not taken for one of the gather's.
    int early = 5, late = 0;
    std::shared_ptr<TransferHandle> send;
    if (endpoint.rank() == 1) {
      auto posted = endpoint.send(0, {{&early, sizeof(int)}});
      if (!posted)
        return posted.status();
      send = *posted;
    }
    for (int64_t root : {0, 1, 0})
      for (size_t size : {0, 9, 3000001}) {
        auto all = endpoint.gather(
            root, bytesOf(endpoint.rank(),
                          size * static_cast<size_t>(endpoint.rank() != 1)));
        if (!all)
          return all.status();
        if (endpoint.rank() != root) {
          SART_RETURN_IF_ERROR(expectSame("elsewhere", all->size(), 0u));
          continue;
        }
        for (int64_t rank = 0; rank < endpoint.ranks(); ++rank)
          SART_RETURN_IF_ERROR(expectSame("bytes",
                                          (*all)[static_cast<size_t>(rank)],
                                          bytesOf(rank, rank == 1 ? 0 : size)));
      }
    if (endpoint.rank() == 0) {
      SART_RETURN_IF_ERROR(recvAll(endpoint, 1, {{&late, sizeof(int)}}));
      return expectSame("late", late, 5);
    }
    return send ? endpoint.wait(*send) : Status::success();
  });
}

//===- Rounds.cpp - When which ranks talk ---------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps: ring order takes R^2 for one permutation of the distances. The list
// takes R^2 choices of O(R), as the best receiver of every sender is kept and
// only looked for again when that receiver or the sender was chosen.
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Rounds.h"

#include <algorithm>
#include <numeric>

using namespace sart;

namespace {

/// Most pairs looked at while distances are exchanged, and lists that are made
/// after the first: so many, and no more steps.
constexpr int64_t mostExchangeSteps = 40000;
constexpr int64_t mostLists = 16;
constexpr int64_t mostListSteps = 40000;

using Transfers = std::vector<ScheduledTransfer>;

/// Sums of a demand's rows and columns.
struct Ports {
  std::vector<int64_t> send, receive;
  Ports(int64_t ranks, const std::vector<int64_t> &sizes)
      : send(static_cast<size_t>(ranks), 0),
        receive(static_cast<size_t>(ranks), 0) {
    for (int64_t from = 0; from < ranks; ++from)
      for (int64_t to = 0; to < ranks; ++to)
        if (from != to) {
          int64_t size = sizes[static_cast<size_t>(from * ranks + to)];
          send[static_cast<size_t>(from)] += size;
          receive[static_cast<size_t>(to)] += size;
        }
  }
  int64_t busiest() const {
    return std::max(*std::max_element(send.begin(), send.end()),
                    *std::max_element(receive.begin(), receive.end()));
  }
};

/// Runs ring order; `transfers` receives it when not null.
int64_t runRing(int64_t ranks, const std::vector<int64_t> &sizes,
                const std::vector<int64_t> &distances, Transfers *transfers) {
  std::vector<int64_t> sendFree(static_cast<size_t>(ranks), 0);
  std::vector<int64_t> receiveFree(static_cast<size_t>(ranks), 0);
  int64_t makespan = 0;
  for (int64_t distance : distances)
    for (int64_t from = 0; from < ranks; ++from) {
      int64_t to =
          from + distance < ranks ? from + distance : from + distance - ranks;
      int64_t size = sizes[static_cast<size_t>(from * ranks + to)];
      if (size == 0)
        continue;
      int64_t &sender = sendFree[static_cast<size_t>(from)];
      int64_t &receiver = receiveFree[static_cast<size_t>(to)];
      int64_t begin = std::max(sender, receiver);
      sender = receiver = begin + size;
      makespan = std::max(makespan, sender);
      if (transfers)
        transfers->push_back({from, to, begin, sender});
    }
  return makespan;
}

/// Exchanges two distances while that shortens the ring.
int64_t improveRing(int64_t ranks, const std::vector<int64_t> &sizes,
                    int64_t lowerBound, std::vector<int64_t> &distances) {
  int64_t best = runRing(ranks, sizes, distances, nullptr);
  int64_t steps = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < distances.size(); ++i)
      for (size_t j = i + 1; j < distances.size(); ++j) {
        if (best == lowerBound || steps > mostExchangeSteps)
          return best;
        steps += ranks * ranks;
        std::swap(distances[i], distances[j]);
        int64_t makespan = runRing(ranks, sizes, distances, nullptr);
        if (makespan < best) {
          best = makespan;
          changed = true;
        } else {
          std::swap(distances[i], distances[j]);
        }
      }
  }
  return best;
}

/// A list: of all pairs the one whose ports are free first; of several, the one
/// with most left to do at a port.
class OpenShop {
public:
  OpenShop(int64_t ranks, const std::vector<int64_t> &sizes)
      : ranks(ranks), sizes(sizes), ports(ranks, sizes),
        sendWeight(static_cast<size_t>(ranks), 0),
        receiveWeight(static_cast<size_t>(ranks), 0) {}
  int64_t run(Transfers &transfers);
  /// Prefers the ports that ended last in the run before.
  void weighLast(const Transfers &transfers, int64_t makespan);

private:
  struct Pair {
    int64_t to = -1, begin = 0, rank = 0;
    bool before(const Pair &other) const {
      return begin != other.begin ? begin < other.begin : rank > other.rank;
    }
  };
  Pair bestOf(int64_t from) const;

  int64_t ranks;
  const std::vector<int64_t> &sizes;
  Ports ports; ///< of the whole demand
  std::vector<int64_t> sendWeight, receiveWeight;
  // Of one run.
  std::vector<int64_t> left, sendFree, receiveFree, sendLeft, receiveLeft;
};

OpenShop::Pair OpenShop::bestOf(int64_t from) const {
  Pair best;
  for (int64_t to = 0; to < ranks; ++to) {
    int64_t size = left[static_cast<size_t>(from * ranks + to)];
    if (size == 0 || to == from)
      continue;
    size_t f = static_cast<size_t>(from), t = static_cast<size_t>(to);
    Pair pair = {to, std::max(sendFree[f], receiveFree[t]),
                 std::max(sendLeft[f] + sendWeight[f],
                          receiveLeft[t] + receiveWeight[t]) +
                     size / 10};
    if (best.to < 0 || pair.before(best))
      best = pair;
  }
  return best;
}

int64_t OpenShop::run(Transfers &transfers) {
  transfers.clear();
  left = sizes;
  sendLeft = ports.send;
  receiveLeft = ports.receive;
  sendFree.assign(static_cast<size_t>(ranks), 0);
  receiveFree.assign(static_cast<size_t>(ranks), 0);
  std::vector<Pair> best(static_cast<size_t>(ranks));
  for (int64_t from = 0; from < ranks; ++from)
    best[static_cast<size_t>(from)] = bestOf(from);
  int64_t makespan = 0;
  for (;;) {
    int64_t from = -1;
    for (int64_t rank = 0; rank < ranks; ++rank)
      if (best[static_cast<size_t>(rank)].to >= 0 &&
          (from < 0 || best[static_cast<size_t>(rank)].before(
                           best[static_cast<size_t>(from)])))
        from = rank;
    if (from < 0)
      return makespan;
    Pair pair = best[static_cast<size_t>(from)];
    int64_t &size = left[static_cast<size_t>(from * ranks + pair.to)];
    int64_t end = pair.begin + size;
    transfers.push_back({from, pair.to, pair.begin, end});
    makespan = std::max(makespan, end);
    sendFree[static_cast<size_t>(from)] = end;
    receiveFree[static_cast<size_t>(pair.to)] = end;
    sendLeft[static_cast<size_t>(from)] -= size;
    receiveLeft[static_cast<size_t>(pair.to)] -= size;
    size = 0;
    for (int64_t rank = 0; rank < ranks; ++rank)
      if (rank == from || best[static_cast<size_t>(rank)].to == pair.to)
        best[static_cast<size_t>(rank)] = bestOf(rank);
  }
}

void OpenShop::weighLast(const Transfers &transfers, int64_t makespan) {
  for (const ScheduledTransfer &one : transfers)
    if (one.end == makespan) {
      sendWeight[static_cast<size_t>(one.from)] += makespan / 16;
      receiveWeight[static_cast<size_t>(one.to)] += makespan / 16;
    }
}

} // namespace

int64_t sart::ringMakespan(int64_t ranks, const std::vector<int64_t> &sizes,
                           const std::vector<int64_t> &distances) {
  return runRing(ranks, sizes, distances, nullptr);
}

int64_t sart::barrierMakespan(int64_t ranks,
                              const std::vector<int64_t> &sizes) {
  int64_t makespan = 0;
  for (int64_t distance = 1; distance < ranks; ++distance)
    makespan += runRing(ranks, sizes, {distance}, nullptr);
  return makespan;
}

std::vector<int64_t> Rounds::sendsOf(int64_t rank) const {
  std::vector<int64_t> peers;
  for (const ScheduledTransfer &one : transfers)
    if (one.from == rank)
      peers.push_back(one.to);
  return peers;
}

std::vector<int64_t> Rounds::receivesOf(int64_t rank) const {
  std::vector<int64_t> peers;
  for (const ScheduledTransfer &one : transfers)
    if (one.to == rank)
      peers.push_back(one.from);
  return peers;
}

Expected<Rounds> sart::scheduleRounds(int64_t ranks,
                                      const std::vector<int64_t> &sizes) {
  if (ranks < 1 || ranks > maxRanks)
    return makeError("number of ranks out of range: got ", ranks,
                     ", expected 1 to ", maxRanks);
  if (static_cast<int64_t>(sizes.size()) != ranks * ranks)
    return makeError("entries of a demand: got ", sizes.size(), ", expected ",
                     ranks * ranks, " for ", ranks, " ranks");
  constexpr int64_t most = int64_t(1) << 62;
  int64_t sum = 0;
  for (int64_t size : sizes) {
    if (size < 0)
      return makeError("size of a transfer: got ", size,
                       ", expected at least 0");
    if (size > most - sum)
      return makeError("sum of a demand: got more than ", most,
                       ", expected at most that");
    sum += size;
  }

  Rounds rounds;
  rounds.lowerBound = Ports(ranks, sizes).busiest();
  rounds.distances.resize(static_cast<size_t>(ranks - 1));
  std::iota(rounds.distances.begin(), rounds.distances.end(), 1);
  rounds.ringMakespan =
      improveRing(ranks, sizes, rounds.lowerBound, rounds.distances);
  runRing(ranks, sizes, rounds.distances, &rounds.transfers);
  rounds.makespan = rounds.ringMakespan;

  OpenShop list(ranks, sizes);
  Transfers transfers;
  int64_t lists = std::min(mostLists, mostListSteps / (ranks * ranks * ranks));
  for (int64_t i = 0; i <= lists && rounds.makespan > rounds.lowerBound; ++i) {
    int64_t makespan = list.run(transfers);
    list.weighLast(transfers, makespan);
    if (makespan >= rounds.makespan)
      continue;
    rounds.kind = Rounds::Kind::OpenShop;
    rounds.makespan = makespan;
    rounds.transfers = transfers;
  }
  std::sort(rounds.transfers.begin(), rounds.transfers.end(),
            [](const ScheduledTransfer &a, const ScheduledTransfer &b) {
              return a.begin != b.begin ? a.begin < b.begin : a.from < b.from;
            });
  return rounds;
}

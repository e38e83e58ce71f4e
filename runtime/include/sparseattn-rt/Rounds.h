//===- Rounds.h - When which ranks talk -------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_ROUNDS_H
#define SPARSEATTN_RT_ROUNDS_H

#include "sparseattn-rt/Plan.h"

#include <cstdint>
#include <vector>

namespace sart {

/// One transfer of a schedule, in the unit of its demand.
struct ScheduledTransfer {
  int64_t from = 0, to = 0;
  int64_t begin = 0, end = 0;
  bool operator==(const ScheduledTransfer &o) const {
    return from == o.from && to == o.to && begin == o.begin && end == o.end;
  }
};

/// An order of transfers without barriers. A transfer holds the sender's
/// sending port and the receiver's receiving port from begin to end; it begins
/// when both are through with the transfers before it.
struct Rounds {
  enum class Kind : uint8_t {
    Ring = 0,    ///< every rank sends by the same distances
    OpenShop = 1 ///< a list: the pair whose ports are free first
  };
  Kind kind = Kind::Ring;
  /// Distances along the ring in the order of their use: a permutation of
  /// 1 .. ranks - 1, also beside a list, for programs that need one.
  std::vector<int64_t> distances;
  int64_t ringMakespan = 0;                 ///< of `distances`
  std::vector<ScheduledTransfer> transfers; ///< ascending by (begin, from)
  int64_t makespan = 0;
  /// The busiest port: no schedule is shorter.
  int64_t lowerBound = 0;

  /// Peers that `rank` sends to, or receives from, one after the other.
  std::vector<int64_t> sendsOf(int64_t rank) const;
  std::vector<int64_t> receivesOf(int64_t rank) const;
};

/// Chooses between ring order and an open-shop list: the smaller makespan, ring
/// order when equal. `sizes[from * ranks + to]`: time that a transfer takes, in
/// any unit; 0 is no transfer, the diagonal is not looked at. Ring distances
/// are exchanged while that shortens the ring, the list is made again a few
/// times with more weight on the port that ended last; both stop at the lower
/// bound and after a fixed number of steps. Integer, deterministic. Refuses
/// ranks outside 1..maxRanks, a matrix of another size, negative sizes and sums
/// above 2^62.
Expected<Rounds> scheduleRounds(int64_t ranks,
                                const std::vector<int64_t> &sizes);

/// Makespan of ring order with the given distances, without barriers, and with
/// a barrier after every distance.
int64_t ringMakespan(int64_t ranks, const std::vector<int64_t> &sizes,
                     const std::vector<int64_t> &distances);
int64_t barrierMakespan(int64_t ranks, const std::vector<int64_t> &sizes);

/// Order in which the members of Ulysses index `ulysses` use the distances of
/// their ring for a plan's K/V: that of scheduleRounds, and of orders that are
/// as short the one whose last distance carries the fewest tokens. The same on
/// every rank of the ring, as it follows from the plan. Without gain it is
/// ascending. `plan` verifies.
std::vector<int64_t> ringDistances(const Plan &plan, const Placement &placement,
                                   int64_t ulysses);

} // namespace sart

#endif // SPARSEATTN_RT_ROUNDS_H

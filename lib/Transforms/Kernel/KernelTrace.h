//===- KernelTrace.h - What the roles of a Hopper kernel do in order -*- C++
//-*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A role is followed with its warp's number known: copies of rings and named
// barriers become numbers, cursors positions counted from a ring's start. What
// depends on data (trip counts, branches) a Schedule decides, the same for all
// roles, so that their traces belong to one run.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_TRANSFORMS_KERNEL_KERNELTRACE_H
#define SPARSEATTN_LIB_TRANSFORMS_KERNEL_KERNELTRACE_H

#include "sparseattn/Dialect/Sm90/IR/Sm90.h"

#include <vector>

namespace mlir {
namespace sparseattn {

/// How loops and branches go whose bounds and conditions are data.
struct Schedule {
  /// Rounds of a loop that no other one encloses.
  int64_t outer = 0;
  /// Steps of each round of such a loop, in turn: rounds of its inner loops,
  /// and branches with operations that other roles meet, which are steps that
  /// stand before a loop.
  int64_t inner[2] = {0, 0};
  /// Whether such branches are taken outside of loops.
  bool communicate = true;
  /// Whether the other branches are taken.
  bool compute = true;
};

/// One copy of a ring or mailbox, or (no declaration) a tile of scratch memory.
struct Queue {
  Operation *declaration = nullptr;
  int64_t copy = 0;
  bool operator<(const Queue &other) const {
    return std::tie(declaration, copy) <
           std::tie(other.declaration, other.copy);
  }
  bool operator==(const Queue &other) const {
    return declaration == other.declaration && copy == other.copy;
  }
};

/// One slot of a queue by its position from the queue's start; of scratch
/// memory by its first byte.
struct Slot {
  Queue queue;
  int64_t position = 0;
  bool operator<(const Slot &other) const {
    return std::tie(queue, position) < std::tie(other.queue, other.position);
  }
  bool operator==(const Slot &other) const {
    return queue == other.queue && position == other.position;
  }
};

struct TraceEvent {
  enum class Kind { Fill, Await, Release, Sync, Arrive };
  Kind kind;
  Operation *op;
  /// Of Fill, Await and Release.
  Slot slot;
  /// Of Sync and Arrive.
  int64_t barrier = 0, threads = 0;
};

/// Who runs a role together: a warpgroup, a warp, or an elected thread.
struct Actor {
  sa_sm90::RoleOp role;
  /// Number of its first warp within the role, and how many there are.
  int64_t warp = 0, warps = 1;
  std::vector<TraceEvent> events;
  /// Bytes [begin, end) of scratch memory that it uses, with the operation.
  std::vector<std::tuple<int64_t, int64_t, Operation *>> scratch;
};

/// The actors of all roles of `kernel`, without events.
std::vector<Actor> listActors(sa_sm90::KernelOp kernel);

/// Follows `actor` under `schedule` into its events. Reports a release of what
/// is still read, an operand that is redefined under an open product, an
/// accumulator that is read too early, and a branch that lanes take apart.
LogicalResult traceActor(Actor &actor, const Schedule &schedule);

/// Runs all actors against each other. Reports who waits for ever, slots that
/// are filled and not emptied, and partners at a barrier with different work.
LogicalResult replayActors(ArrayRef<Actor> actors);

/// Name for messages: `role "attend" from warp 4`.
std::string describe(const Actor &actor);

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_TRANSFORMS_KERNEL_KERNELTRACE_H

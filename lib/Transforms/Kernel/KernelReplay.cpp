//===- KernelReplay.cpp - Runs the roles of a kernel together -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelTrace.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

namespace {
/// A copy of a ring or mailbox while the actors run.
struct QueueState {
  int64_t stages = 0, consumers = 0;
  int64_t filled = 0;
  /// Warps that have released each position.
  std::vector<int64_t> released;
};

/// A named barrier.
struct BarrierState {
  int64_t threads = 0, arrived = 0, completed = 0;
};

/// Where an actor is.
struct Progress {
  size_t next = 0;
  /// The phase of its barrier that it waits for, while it does.
  int64_t waitsFor = -1;
};

class Replay {
public:
  explicit Replay(ArrayRef<Actor> actors)
      : actors(actors), progress(actors.size()) {}
  LogicalResult run();

private:
  LogicalResult checkPartners();
  /// Whether the next event of actor `i` happened.
  FailureOr<bool> step(size_t i);
  FailureOr<bool> meet(const Actor &actor, const TraceEvent &event,
                       Progress &at);
  QueueState &stateOf(const Queue &queue);
  LogicalResult reportStuck();
  LogicalResult checkEmptied();

  ArrayRef<Actor> actors;
  std::vector<Progress> progress;
  std::map<Queue, QueueState> queues;
  std::map<int64_t, BarrierState> barriers;
};
} // namespace

QueueState &Replay::stateOf(const Queue &queue) {
  QueueState &state = queues[queue];
  if (state.stages == 0) {
    Type type = queue.declaration->getResult(0).getType();
    if (auto ring = dyn_cast<RingType>(type)) {
      state.stages = ring.getStages();
      state.consumers = ring.getConsumers();
    } else {
      state.stages = cast<MailboxType>(type).getStages();
      state.consumers = cast<MailboxType>(type).getConsumers();
    }
  }
  return state;
}

/// Who meets at a barrier must have the same work, or one of them meets it more
/// often than the other.
LogicalResult Replay::checkPartners() {
  struct Party {
    const Actor *actor;
    const TraceEvent *event;
    std::set<Queue> queues;
  };
  std::map<int64_t, Party> first;
  for (const Actor &actor : actors) {
    std::set<Queue> own;
    for (const TraceEvent &event : actor.events)
      if (event.slot.queue.declaration)
        own.insert(event.slot.queue);
    for (const TraceEvent &event : actor.events) {
      if (event.barrier == 0)
        continue;
      auto [known, isNew] =
          first.insert({event.barrier, {&actor, &event, own}});
      if (isNew || known->second.queues == own)
        continue;
      InFlightDiagnostic error = event.op->emitOpError();
      error << "partners at named barrier " << event.barrier << ": got "
            << describe(*known->second.actor) << " and " << describe(actor)
            << " on different rings or copies, expected the same, so that "
               "their steps are equal";
      error.attachNote(known->second.event->op->getLoc()) << "the other one";
      return error;
    }
  }
  return success();
}

FailureOr<bool> Replay::meet(const Actor &actor, const TraceEvent &event,
                             Progress &at) {
  BarrierState &barrier = barriers[event.barrier];
  if (at.waitsFor >= 0) {
    if (barrier.completed <= at.waitsFor)
      return false;
    at.waitsFor = -1;
    return true;
  }
  if (barrier.threads == 0)
    barrier.threads = event.threads;
  if (barrier.threads != event.threads) {
    event.op->emitOpError()
        << "threads of named barrier " << event.barrier << ": got "
        << event.threads << ", expected " << barrier.threads << " as elsewhere";
    return failure();
  }
  int64_t phase = barrier.completed;
  barrier.arrived += 32 * actor.warps;
  if (barrier.arrived > barrier.threads) {
    event.op->emitOpError()
        << "arrivals at named barrier " << event.barrier << ": got "
        << barrier.arrived << " threads, expected " << barrier.threads;
    return failure();
  }
  if (barrier.arrived == barrier.threads) {
    barrier.arrived = 0;
    ++barrier.completed;
    return true;
  }
  if (event.kind == TraceEvent::Kind::Arrive)
    return true;
  at.waitsFor = phase;
  return false;
}

FailureOr<bool> Replay::step(size_t i) {
  const Actor &actor = actors[i];
  const TraceEvent &event = actor.events[progress[i].next];
  if (event.barrier != 0)
    return meet(actor, event, progress[i]);
  QueueState &queue = stateOf(event.slot.queue);
  int64_t position = event.slot.position;
  switch (event.kind) {
  case TraceEvent::Kind::Fill:
    if (position != queue.filled) {
      event.op->emitOpError()
          << "order of loads: got slot " << position
          << " from the start of its ring, expected " << queue.filled;
      return failure();
    }
    if (position >= queue.stages &&
        queue.released[position - queue.stages] < queue.consumers)
      return false;
    ++queue.filled;
    queue.released.push_back(0);
    return true;
  case TraceEvent::Kind::Await:
    return position < queue.filled;
  case TraceEvent::Kind::Release:
    if (position >= queue.filled) {
      event.op->emitOpError() << "released slot: got one that is not awaited, "
                                 "expected an await before";
      return failure();
    }
    queue.released[position] += actor.warps;
    if (queue.released[position] > queue.consumers) {
      event.op->emitOpError()
          << "warps that release a slot: got " << queue.released[position]
          << ", expected the " << queue.consumers << " of its type";
      return failure();
    }
    return true;
  case TraceEvent::Kind::Sync:
  case TraceEvent::Kind::Arrive:
    break;
  }
  return true;
}

LogicalResult Replay::reportStuck() {
  std::optional<InFlightDiagnostic> error;
  for (size_t i = 0; i < actors.size(); ++i) {
    if (progress[i].next == actors[i].events.size())
      continue;
    const TraceEvent &event = actors[i].events[progress[i].next];
    if (!error) {
      error.emplace(event.op->emitOpError());
      *error << "deadlock: got " << describe(actors[i])
             << " waiting for ever, expected every role to end";
    } else {
      error->attachNote(event.op->getLoc())
          << describe(actors[i]) << " waits here";
    }
  }
  return failure();
}

LogicalResult Replay::checkEmptied() {
  for (auto &[queue, state] : queues)
    for (int64_t position = 0; position < state.filled; ++position)
      if (state.released[position] != state.consumers)
        return queue.declaration->emitOpError()
               << "slot " << position << " of copy " << queue.copy << ": got "
               << state.released[position] << " of " << state.consumers
               << " releases at the end, expected as many slots released as "
                  "loaded";
  return success();
}

LogicalResult Replay::run() {
  if (failed(checkPartners()))
    return failure();
  bool moved = true, done = false;
  while (moved && !done) {
    moved = false;
    done = true;
    for (size_t i = 0; i < actors.size(); ++i) {
      while (progress[i].next < actors[i].events.size()) {
        FailureOr<bool> happened = step(i);
        if (failed(happened))
          return failure();
        if (!*happened)
          break;
        ++progress[i].next;
        moved = true;
      }
      done &= progress[i].next == actors[i].events.size();
    }
  }
  return done ? checkEmptied() : reportStuck();
}

LogicalResult sparseattn::replayActors(ArrayRef<Actor> actors) {
  return Replay(actors).run();
}

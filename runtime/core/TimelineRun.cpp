//===- TimelineRun.cpp - Ranks, ports and devices in virtual time ---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Events in order of time: ends of transfers, ranks that go on, ports that
// become free. A rank executes what takes no time at once and comes back by an
// event after what does.
//
//===----------------------------------------------------------------------===//

#include "TimelineRun.h"

#include <algorithm>

using namespace sart;

TimelineRun::TimelineRun(const ValidatorContext &context,
                         const Schedule &schedule, const Machine &machine)
    : context(context), schedule(schedule), machine(machine),
      kernel(machine.kernelOf(context.shape())),
      levels(machine.portPerLink ? std::max<size_t>(machine.links.size(), 1)
                                 : 1),
      ranks(context.program.ranks.size()), ports(2 * levels * ranks.size()),
      transfers(schedule.rankOf.size()), entered(schedule.meetings.size(), 0),
      devices(static_cast<size_t>(machine.deviceOf(context.numRanks() - 1) + 1),
              {0, -1}) {
  timeline.kernel = kernel;
  timeline.first = schedule.first;
  timeline.steps.resize(schedule.rankOf.size());
  timeline.ranks.resize(ranks.size());
}

size_t TimelineRun::portOf(int64_t rank, size_t level, bool receiving) const {
  size_t own = machine.portPerLink ? level : 0;
  return (static_cast<size_t>(rank) * levels + own) * 2 + (receiving ? 1 : 0);
}

void TimelineRun::push(int64_t timePs, Event event, int64_t index) {
  events.push({timePs, event, index});
}

Status TimelineRun::run() {
  for (int64_t rank = 0; rank < context.numRanks(); ++rank)
    push(0, Resume, rank);
  while (!events.empty()) {
    auto [time, event, index] = events.top();
    events.pop();
    nowPs = time;
    switch (event) {
    case Done:
      complete(static_cast<int32_t>(index));
      break;
    case Resume:
      ranks[static_cast<size_t>(index)].nowPs = nowPs;
      advance(index);
      break;
    default:
      tryPort(static_cast<size_t>(index));
    }
  }
  for (int64_t rank = 0; rank < context.numRanks(); ++rank) {
    const Rank &state = ranks[static_cast<size_t>(rank)];
    if (state.next < context.list(rank).size())
      return makeError("rank ", rank,
                       " in virtual time: got blocked at "
                       "instruction ",
                       state.next, ", expected it to end");
    timeline.ranks[static_cast<size_t>(rank)].finishPs = state.nowPs;
    timeline.makespanPs = std::max(timeline.makespanPs, state.nowPs);
  }
  std::sort(timeline.links.begin(), timeline.links.end(),
            [](const TimelineLink &a, const TimelineLink &b) {
              return std::tie(a.from, a.to) < std::tie(b.from, b.to);
            });
  tracePath();
  return Status::success();
}

/// Goes on until the rank blocks, works or ends.
void TimelineRun::advance(int64_t rank) {
  Rank &state = ranks[static_cast<size_t>(rank)];
  while (state.next < context.list(rank).size()) {
    int32_t id = schedule.idOf(rank, state.next);
    if (!execute(rank, id))
      return;
    ++state.next;
  }
}

/// False: the rank does not go on now.
bool TimelineRun::execute(int64_t rank, int32_t id) {
  Rank &state = ranks[static_cast<size_t>(rank)];
  TimelineStep &step = at(id);
  if (schedule.meetingOf[static_cast<size_t>(id)] >= 0)
    return enter(rank, id);
  Opcode opcode = instructionOf(id).opcode;
  if (opcode == Opcode::Wait || opcode == Opcode::WaitSignal)
    return wait(rank, id);
  step.postedPs = step.beginPs = step.endPs = state.nowPs;
  step.cause = state.last < 0 ? Cause::Start : Cause::Order;
  step.before = state.last;
  switch (opcode) {
  case Opcode::Send:
  case Opcode::Recv:
  case Opcode::Put:
    post(rank, id);
    return true;
  case Opcode::Signal:
    raise(rank, id);
    return true;
  default:
    return work(rank, id, costOf(rank, id));
  }
}

/// Occupies the rank's device; the rank goes on when the work is done.
bool TimelineRun::work(int64_t rank, int32_t id, int64_t costPs) {
  TimelineRank &account = timeline.ranks[static_cast<size_t>(rank)];
  TimelineStep &step = at(id);
  account.tiles += step.tiles;
  if (costPs == 0)
    return true;
  auto &[freePs, holder] = devices[static_cast<size_t>(machine.deviceOf(rank))];
  if (freePs > step.postedPs) {
    step.beginPs = freePs;
    step.cause = Cause::Device;
    step.before = holder;
  }
  step.endPs = saturatingAdd(step.beginPs, costPs);
  freePs = step.endPs;
  holder = id;
  addTo(account.computePs, costPs);
  addTo(account.turnPs, step.beginPs - step.postedPs);
  Rank &state = ranks[static_cast<size_t>(rank)];
  state.last = id;
  ++state.next;
  push(step.endPs, Resume, rank);
  return false;
}

/// The rank has waited until `awaited` ended, if that was after it came.
void TimelineRun::reach(Rank &rank, int32_t id, int32_t awaited) {
  TimelineStep &step = at(id);
  int64_t end = at(awaited).endPs;
  if (end <= step.endPs)
    return;
  step.endPs = end;
  step.cause = Cause::Meet;
  step.before = awaited;
  rank.nowPs = end;
  rank.last = awaited;
}

bool TimelineRun::wait(int64_t rank, int32_t id) {
  Rank &state = ranks[static_cast<size_t>(rank)];
  TimelineStep &step = at(id);
  std::vector<int32_t> awaited;
  if (instructionOf(id).opcode == Opcode::WaitSignal)
    awaited.push_back(schedule.partner[static_cast<size_t>(id)]);
  for (int32_t a = schedule.awaitedFirst[static_cast<size_t>(id)];
       a < schedule.awaitedFirst[static_cast<size_t>(id) + 1]; ++a) {
    int32_t own = schedule.awaited[static_cast<size_t>(a)];
    awaited.push_back(instructionOf(own).opcode == Opcode::Recv
                          ? schedule.partner[static_cast<size_t>(own)]
                          : own);
  }
  step.postedPs = step.beginPs = step.endPs = state.nowPs;
  step.cause = state.last < 0 ? Cause::Start : Cause::Order;
  step.before = state.last;
  state.blocked =
      std::any_of(awaited.begin(), awaited.end(), [&](int32_t transfer) {
        return !transfers[static_cast<size_t>(transfer)].done;
      });
  if (state.blocked)
    return false;
  for (int32_t transfer : awaited)
    reach(state, id, transfer);
  addTo(timeline.ranks[static_cast<size_t>(rank)].exposedPs,
        step.endPs - step.postedPs);
  return true;
}

void TimelineRun::countLink(int64_t from, int64_t to, int64_t bytes) {
  auto [place, fresh] = linkIndex.insert({{from, to}, timeline.links.size()});
  if (fresh)
    timeline.links.push_back({from, to, 0, 0});
  TimelineLink &link = timeline.links[place->second];
  link.bytes = saturatingAdd(link.bytes, bytes);
  ++link.transfers;
}

/// One end of a transfer.
void TimelineRun::post(int64_t rank, int32_t id) {
  const Instruction &instruction = instructionOf(id);
  bool receiving = instruction.opcode == Opcode::Recv;
  int32_t sender = receiving ? schedule.partner[static_cast<size_t>(id)] : id;
  if (!receiving) {
    int64_t peer = instruction.peer.values[0];
    at(id).bytes = bytesOf(instruction.windows[0], instruction.lists[0].values);
    countLink(rank, peer, at(id).bytes);
    if (instruction.opcode == Opcode::Put)
      openPuts[{rank, peer}].push_back(id);
  }
  Transfer &transfer = transfers[static_cast<size_t>(sender)];
  int32_t needed = instruction.opcode == Opcode::Put ? 1 : 2;
  if (++transfer.ends < needed)
    return;
  transfer.readyPs = nowPs;
  TimelineStep &step = at(sender);
  // The later end decides; its rank stands here now.
  step.cause = sender != id                                ? Cause::Meet
               : ranks[static_cast<size_t>(rank)].last < 0 ? Cause::Start
                                                           : Cause::Order;
  step.before = ranks[static_cast<size_t>(rank)].last;
  size_t level = 0;
  auto [sendPort, recvPort] = portsOf(sender, level);
  for (size_t port : {sendPort, recvPort}) {
    ports[port].waiting.insert({nowPs, sender});
    if (ports[port].freePs <= nowPs)
      push(nowPs, PortFree, static_cast<int64_t>(port));
  }
}

std::pair<size_t, size_t> TimelineRun::portsOf(int32_t transfer,
                                               size_t &level) const {
  int64_t from = rankOf(transfer);
  int64_t to = instructionOf(transfer).peer.values[0];
  level = machine.levelOf(from, to);
  return {portOf(from, level, false), portOf(to, level, true)};
}

/// A port may have become free: the first transfer whose other port is free,
/// too, begins.
void TimelineRun::tryPort(size_t port) {
  if (ports[port].freePs > nowPs)
    return;
  for (auto [ready, transfer] : ports[port].waiting) {
    size_t level = 0;
    auto [sendPort, recvPort] = portsOf(transfer, level);
    if (std::max(ports[sendPort].freePs, ports[recvPort].freePs) > nowPs)
      continue;
    return begin(transfer, sendPort, recvPort, level);
  }
}

void TimelineRun::begin(int32_t id, size_t sendPort, size_t recvPort,
                        size_t level) {
  Transfer &transfer = transfers[static_cast<size_t>(id)];
  TimelineStep &step = at(id);
  step.beginPs = nowPs;
  if (transfer.readyPs < nowPs) {
    step.cause = Cause::Port;
    step.before = ports[sendPort].freePs == nowPs ? ports[sendPort].holder
                                                  : ports[recvPort].holder;
  }
  int64_t takes = saturatingAdd(machine.links[level].latencyPs.value,
                                machine.transferPs(step.bytes, level));
  step.endPs = saturatingAdd(nowPs, takes);
  int64_t from = rankOf(id), to = instructionOf(id).peer.values[0];
  addTo(timeline.ranks[static_cast<size_t>(from)].sendPs, takes);
  addTo(timeline.ranks[static_cast<size_t>(to)].recvPs, takes);
  if (int32_t partner = schedule.partner[static_cast<size_t>(id)];
      partner >= 0) {
    at(partner).beginPs = step.beginPs;
    at(partner).endPs = step.endPs;
    at(partner).cause = step.cause;
    at(partner).before = step.before;
  }
  for (size_t port : {sendPort, recvPort}) {
    ports[port].waiting.erase({transfer.readyPs, id});
    ports[port].freePs = step.endPs;
    ports[port].holder = id;
    push(step.endPs, PortFree, static_cast<int64_t>(port));
  }
  push(step.endPs, Done, id);
}

/// A signal goes out now and arrives behind the puts before it.
void TimelineRun::raise(int64_t rank, int32_t id) {
  int64_t peer = instructionOf(id).peer.values[0];
  Transfer &signal = transfers[static_cast<size_t>(id)];
  TimelineStep &step = at(id);
  step.endPs = saturatingAdd(
      nowPs, machine.links[machine.levelOf(rank, peer)].latencyPs.value);
  auto open = openPuts.find({rank, peer});
  if (open != openPuts.end()) {
    for (int32_t put : open->second)
      if (!transfers[static_cast<size_t>(put)].done) {
        transfers[static_cast<size_t>(put)].signals.push_back(id);
        ++signal.awaitedPuts;
      }
    openPuts.erase(open);
  }
  if (signal.awaitedPuts == 0)
    push(step.endPs, Done, id);
}

/// A transfer or signal has arrived.
void TimelineRun::complete(int32_t id) {
  Transfer &transfer = transfers[static_cast<size_t>(id)];
  transfer.done = true;
  for (int32_t waiting : transfer.signals) {
    Transfer &signal = transfers[static_cast<size_t>(waiting)];
    TimelineStep &step = at(waiting);
    if (step.endPs < nowPs) {
      step.beginPs = step.endPs = nowPs;
      step.cause = Cause::Order;
      step.before = id;
    }
    if (--signal.awaitedPuts == 0)
      push(step.endPs, Done, waiting);
  }
  for (int64_t rank : {rankOf(id), instructionOf(id).peer.values[0]})
    if (ranks[static_cast<size_t>(rank)].blocked)
      advance(rank);
}

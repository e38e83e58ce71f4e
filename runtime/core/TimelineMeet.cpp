//===- TimelineMeet.cpp - Collectives and the critical path ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TimelineRun.h"

#include <algorithm>

using namespace sart;

/// The rank has come to a collective, and stays until that has ended for it.
bool TimelineRun::enter(int64_t rank, int32_t id) {
  const Rank &state = ranks[static_cast<size_t>(rank)];
  at(id).postedPs = state.nowPs;
  auto index = static_cast<size_t>(schedule.meetingOf[static_cast<size_t>(id)]);
  const Meeting &meeting = schedule.meetings[index];
  if (++entered[index] == static_cast<int32_t>(meeting.members.size()))
    meet(meeting, id);
  return false;
}

/// What each member sends to each: bytes[from][to], own parts included.
std::vector<std::vector<int64_t>>
TimelineRun::bytesOf(const Meeting &meeting) const {
  std::vector<std::vector<int64_t>> bytes;
  for (int32_t member : meeting.members) {
    const Instruction &instruction = instructionOf(member);
    int64_t rowBytes = context.window(instruction.windows[0]).rowBytes();
    ChunkList chunks(instruction.lists[0].values);
    if (instruction.opcode == Opcode::AllGather) {
      bytes.emplace_back(meeting.members.size(),
                         saturatingMul(rowsOf(chunks), rowBytes));
      continue;
    }
    std::vector<int64_t> &row = bytes.emplace_back();
    int64_t first = 0;
    for (int64_t parts : instruction.lists[1].values) {
      row.push_back(
          saturatingMul(rowsOf(chunks.slice(first, parts)), rowBytes));
      first += parts;
    }
  }
  return bytes;
}

/// Sizes of the levels that the members form, inner to outer, so that member i
/// has digits i mod s0, i / s0 mod s1, ... One level where islands have
/// different numbers of members.
std::vector<size_t> TimelineRun::radicesOf(const Meeting &meeting) const {
  std::vector<size_t> radices;
  size_t count = meeting.members.size(), inner = 1;
  for (const MachineLink &link : machine.links) {
    auto groupOf = [&](size_t i) {
      return rankOf(meeting.members[i]) / link.ranks;
    };
    size_t size = 1;
    while (size < count && groupOf(size) == groupOf(0))
      ++size;
    for (size_t i = 0; i < count; ++i)
      if (groupOf(i) != groupOf(i / size * size) ||
          (i > 0 && i % size == 0 && groupOf(i) == groupOf(i - 1)))
        return {count};
    if (count % size != 0 || size % inner != 0)
      return {count};
    if (size > inner)
      radices.push_back(size / inner);
    inner = size;
  }
  if (inner < count)
    radices.push_back(count / inner);
  return radices.empty() ? std::vector<size_t>{1} : radices;
}

/// Member that is `step` away from `i`: each digit of its own, so that what
/// travels in one step crosses links of one level and meets at no port.
static size_t memberAfter(size_t i, size_t step,
                          const std::vector<size_t> &radices) {
  size_t result = 0, unit = 1;
  for (size_t radix : radices) {
    result += (i % radix + step % radix) % radix * unit;
    i /= radix;
    step /= radix;
    unit *= radix;
  }
  return result;
}

/// All members are here: everyone sends to the next, then to the one after it,
/// and so on, level by level, as the ports allow. Their latencies pass
/// together.
void TimelineRun::meet(const Meeting &meeting, int32_t lastIn) {
  std::vector<std::vector<int64_t>> bytes = bytesOf(meeting);
  size_t count = meeting.members.size();
  int64_t latency = 0;
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < count; ++j)
      if (i != j && bytes[i][j] > 0)
        latency = std::max(
            latency, machine
                         .links[machine.levelOf(rankOf(meeting.members[i]),
                                                rankOf(meeting.members[j]))]
                         .latencyPs.value);
  int64_t beginPs = saturatingAdd(nowPs, latency);
  std::vector<int64_t> ends(count, beginPs);
  for (size_t i = 0; i < count; ++i)
    if (bytes[i][i] > 0) // read and written
      ends[i] = std::max(
          ends[i], saturatingAdd(
                       nowPs, machine.memoryPs(saturatingMul(2, bytes[i][i]))));
  std::vector<size_t> radices = radicesOf(meeting);
  for (size_t step = 1; step < count; ++step)
    for (size_t i = 0; i < count; ++i) {
      size_t j = memberAfter(i, step, radices);
      if (bytes[i][j] == 0)
        continue;
      int32_t from = meeting.members[i], to = meeting.members[j];
      size_t level = machine.levelOf(rankOf(from), rankOf(to));
      Port &sender = ports[portOf(rankOf(from), level, false)];
      Port &receiver = ports[portOf(rankOf(to), level, true)];
      int64_t takes = machine.transferPs(bytes[i][j], level);
      int64_t end = saturatingAdd(
          std::max({beginPs, sender.freePs, receiver.freePs}), takes);
      sender.freePs = receiver.freePs = end;
      sender.holder = from;
      receiver.holder = to;
      ends[i] = std::max(ends[i], end);
      ends[j] = std::max(ends[j], end);
      at(from).bytes = saturatingAdd(at(from).bytes, bytes[i][j]);
      addTo(timeline.ranks[static_cast<size_t>(rankOf(from))].sendPs, takes);
      addTo(timeline.ranks[static_cast<size_t>(rankOf(to))].recvPs, takes);
      countLink(rankOf(from), rankOf(to), bytes[i][j]);
      push(end, PortFree,
           static_cast<int64_t>(portOf(rankOf(from), level, false)));
      push(end, PortFree,
           static_cast<int64_t>(portOf(rankOf(to), level, true)));
    }
  int32_t before = ranks[static_cast<size_t>(rankOf(lastIn))].last;
  for (size_t i = 0; i < count; ++i) {
    int32_t id = meeting.members[i];
    TimelineStep &step = at(id);
    step.beginPs = nowPs;
    step.endPs = ends[i];
    step.cause = id != lastIn ? Cause::Meet
                 : before < 0 ? Cause::Start
                              : Cause::Order;
    step.before = before;
    Rank &state = ranks[static_cast<size_t>(rankOf(id))];
    addTo(timeline.ranks[static_cast<size_t>(rankOf(id))].exposedPs,
          step.endPs - step.postedPs);
    if (step.endPs > step.postedPs)
      state.last = id;
    ++state.next;
    push(step.endPs, Resume, rankOf(id));
  }
}

/// From the end back: what began last because of what ended then.
void TimelineRun::tracePath() {
  int32_t id = -1;
  for (const Rank &rank : ranks)
    if (rank.nowPs == timeline.makespanPs) {
      id = rank.last;
      break;
    }
  int64_t endPs = timeline.makespanPs;
  for (; id >= 0; id = at(id).before) {
    // A collective's ports may be free before it ends.
    int64_t beginPs = std::min(at(id).beginPs, endPs);
    if (beginPs < endPs)
      timeline.path.push_back({id, beginPs, endPs});
    endPs = beginPs;
  }
  std::reverse(timeline.path.begin(), timeline.path.end());
}

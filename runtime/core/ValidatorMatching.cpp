//===- ValidatorMatching.cpp - Transfers and collectives find each other --===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Per ordered pair of ranks the k-th send meets the k-th receive, and the k-th
// signal the k-th wait for one; per group the members' k-th collectives meet.
// Where the two sequences differ in length, the first place at which they stop
// fitting is named: that is where an instruction is missing.
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"
#include "ValidatorContext.h"

#include <algorithm>

using namespace sart;

namespace {

class Matcher {
public:
  Matcher(ValidatorContext &context, Schedule &schedule)
      : context(context), schedule(schedule) {}

  void run() {
    numberInstructions();
    matchPairs("matching", Opcode::Send, Opcode::Recv);
    matchPairs("signal", Opcode::Signal, Opcode::WaitSignal);
    checkPuts();
    matchCollectives();
    checkPhases();
  }

private:
  const Instruction &at(int32_t id) const {
    return context.list(rankOf(id))[schedule.indexOf(id)];
  }
  int64_t rankOf(int32_t id) const {
    return schedule.rankOf[static_cast<size_t>(id)];
  }
  std::string place(int32_t id) const {
    return concat("instruction ", schedule.indexOf(id), " of rank ",
                  rankOf(id));
  }

  void numberInstructions() {
    int32_t total = 0;
    for (const std::vector<Instruction> &list : context.program.ranks) {
      schedule.first.push_back(total);
      total += static_cast<int32_t>(list.size());
    }
    schedule.first.push_back(total);
    auto size = static_cast<size_t>(total);
    schedule.rankOf.reserve(size);
    schedule.partner.assign(size, -1);
    schedule.meetingOf.assign(size, -1);
    std::vector<int32_t> definedBy;
    for (int64_t rank = 0; rank < context.numRanks(); ++rank) {
      for (size_t i = 0; i < context.list(rank).size(); ++i) {
        const Instruction &instruction = context.list(rank)[i];
        schedule.rankOf.push_back(static_cast<int32_t>(rank));
        schedule.awaitedFirst.push_back(
            static_cast<int32_t>(schedule.awaited.size()));
        if (instruction.token >= 0) {
          auto token = static_cast<size_t>(instruction.token);
          if (token >= definedBy.size())
            definedBy.resize(token + 1, -1);
          definedBy[token] = schedule.idOf(rank, i);
        }
        // checkOrder has seen that every awaited token is an earlier one.
        for (int32_t token : instruction.waits)
          schedule.awaited.push_back(definedBy[static_cast<size_t>(token)]);
      }
    }
    schedule.awaitedFirst.push_back(
        static_cast<int32_t>(schedule.awaited.size()));
  }

  //===--------------------------------------------------------------------===//
  // Pairs
  //===--------------------------------------------------------------------===//

  struct End {
    int64_t pair; ///< from * ranks + to
    int32_t id;
    bool operator<(const End &o) const {
      return pair != o.pair ? pair < o.pair : id < o.id;
    }
  };

  std::vector<End> endsOf(Opcode opcode, bool receiving) const {
    std::vector<End> ends;
    int64_t ranks = context.numRanks();
    for (int64_t rank = 0; rank < ranks; ++rank) {
      for (size_t i = 0; i < context.list(rank).size(); ++i) {
        const Instruction &instruction = context.list(rank)[i];
        if (instruction.opcode != opcode)
          continue;
        int64_t peer = instruction.peer.values[0];
        ends.push_back({receiving ? peer * ranks + rank : rank * ranks + peer,
                        schedule.idOf(rank, i)});
      }
    }
    std::sort(ends.begin(), ends.end());
    return ends;
  }

  void matchPairs(const char *rule, Opcode send, Opcode recv) {
    std::vector<End> sends = endsOf(send, false);
    std::vector<End> recvs = endsOf(recv, true);
    auto s = sends.begin(), r = recvs.begin();
    while (s != sends.end() || r != recvs.end()) {
      int64_t pair = r == recvs.end()   ? s->pair
                     : s == sends.end() ? r->pair
                                        : std::min(s->pair, r->pair);
      auto samePair = [&](const End &end) { return end.pair == pair; };
      auto sEnd = std::find_if_not(s, sends.end(), samePair);
      auto rEnd = std::find_if_not(r, recvs.end(), samePair);
      matchPair(rule, s, sEnd, r, rEnd);
      s = sEnd;
      r = rEnd;
    }
  }

  using EndIt = std::vector<End>::iterator;

  void matchPair(const char *rule, EndIt s, EndIt sEnd, EndIt r, EndIt rEnd) {
    auto sends = sEnd - s, recvs = rEnd - r;
    for (auto i = s, j = r; i != sEnd && j != rEnd; ++i, ++j) {
      schedule.partner[static_cast<size_t>(i->id)] = j->id;
      schedule.partner[static_cast<size_t>(j->id)] = i->id;
    }
    if (sends == recvs) {
      for (; s != sEnd; ++s, ++r)
        compare(rule, s->id, r->id);
      return;
    }
    // Both ends of one transfer name the same window in all but odd programs,
    // which sharpens the search for the missing instruction.
    while (s != sEnd && r != rEnd &&
           (at(s->id).windows.empty() || at(s->id).phase == at(r->id).phase) &&
           at(s->id).windows == at(r->id).windows &&
           bytesOf(s->id) == bytesOf(r->id)) {
      ++s;
      ++r;
    }
    bool extraSend = sends > recvs;
    int32_t id = extraSend ? s->id : r->id;
    const char *other = std::string_view(rule) == "signal"
                            ? (extraSend ? "wait_signal" : "signal")
                            : (extraSend ? "recv" : "send");
    context.add(rule, rankOf(id), schedule.indexOf(id), "has no ", other,
                " on rank ", at(id).peer.values[0], ": got ",
                std::min(sends, recvs), " for this pair, expected ",
                std::max(sends, recvs));
  }

  int64_t bytesOf(int32_t id) const {
    const Instruction &instruction = at(id);
    if (instruction.lists.empty())
      return 0;
    return saturatingMul(rowsOf(ChunkList(instruction.lists[0].values)),
                         context.window(instruction.windows[0]).rowBytes());
  }

  void compare(const char *rule, int32_t send, int32_t recv) {
    const Instruction &from = at(send), &to = at(recv);
    // A flag may stay up for a while: its wait can come in a later phase.
    if (from.windows.empty())
      return;
    if (from.phase != to.phase)
      context.add(rule, rankOf(send), schedule.indexOf(send),
                  "phase differs from its match: got ", from.phase,
                  ", expected ", to.phase, " (", place(recv), ")");
    const Window &source = context.window(from.windows[0]);
    const Window &target = context.window(to.windows[0]);
    if (source.dtype != target.dtype ||
        source.rowElements != target.rowElements)
      context.add(rule, rankOf(send), schedule.indexOf(send),
                  "rows differ from its receive: got ", toString(source.dtype),
                  " rows of ", source.rowElements, ", expected ",
                  toString(target.dtype), " rows of ", target.rowElements, " (",
                  place(recv), ")");
    else if (bytesOf(send) != bytesOf(recv))
      context.add(rule, rankOf(send), schedule.indexOf(send),
                  "size differs from its receive: got ", bytesOf(send),
                  " bytes, expected ", bytesOf(recv), " (", place(recv), ")");
  }

  void checkPuts() {
    for (int64_t rank = 0; rank < context.numRanks(); ++rank) {
      const std::vector<Instruction> &list = context.list(rank);
      std::vector<bool> signalled(static_cast<size_t>(context.numRanks()));
      for (size_t i = list.size(); i-- > 0;) {
        if (list[i].opcode != Opcode::Put && list[i].opcode != Opcode::Signal)
          continue;
        auto peer = static_cast<size_t>(list[i].peer.values[0]);
        if (list[i].opcode == Opcode::Signal)
          signalled[peer] = true;
        else if (!signalled[peer])
          context.add("signal", rank, i,
                      "is not followed by a signal: got none to rank ", peer,
                      ", expected one");
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Collectives
  //===--------------------------------------------------------------------===//

  static Group groupOf(const Instruction &instruction) {
    return instruction.opcode == Opcode::Plan ? Group::All : instruction.group;
  }

  void matchCollectives() {
    for (Group group : {Group::All, Group::Ulysses, Group::Ring}) {
      std::vector<std::vector<int32_t>> entered(
          static_cast<size_t>(context.numRanks()));
      bool any = false;
      for (int64_t rank = 0; rank < context.numRanks(); ++rank)
        for (size_t i = 0; i < context.list(rank).size(); ++i)
          if (const Instruction &instruction = context.list(rank)[i];
              infoOf(instruction.opcode).collective &&
              groupOf(instruction) == group) {
            entered[static_cast<size_t>(rank)].push_back(
                schedule.idOf(rank, i));
            any = true;
          }
      for (int64_t rank = 0; any && rank < context.numRanks(); ++rank) {
        std::vector<int64_t> members =
            groupMembers(context.mesh(), group, rank);
        if (members.front() == rank)
          matchGroup(group, members, entered);
      }
    }
  }

  bool alike(int32_t a, int32_t b) const {
    const Instruction &x = at(a), &y = at(b);
    return x.opcode == y.opcode && x.phase == y.phase && x.windows == y.windows;
  }

  void matchGroup(Group group, const std::vector<int64_t> &members,
                  const std::vector<std::vector<int32_t>> &entered) {
    auto of = [&](int64_t member) -> const std::vector<int32_t> & {
      return entered[static_cast<size_t>(member)];
    };
    // The longest sequence is the model: a member that skips one is at fault.
    int64_t model = members.front();
    for (int64_t member : members)
      if (of(member).size() > of(model).size())
        model = member;
    bool complete = true;
    for (int64_t member : members)
      complete &= sameSequence(group, model, of(model), member, of(member));
    if (!complete)
      return;
    for (size_t k = 0; k < of(model).size(); ++k) {
      Meeting meeting;
      for (int64_t member : members) {
        int32_t id = of(member)[k];
        meeting.members.push_back(id);
        schedule.meetingOf[static_cast<size_t>(id)] =
            static_cast<int32_t>(schedule.meetings.size());
      }
      compareSizes(meeting, members);
      schedule.meetings.push_back(std::move(meeting));
    }
  }

  bool sameSequence(Group group, int64_t model,
                    const std::vector<int32_t> &expected, int64_t member,
                    const std::vector<int32_t> &found) {
    for (size_t k = 0; k < expected.size(); ++k) {
      if (k < found.size() && alike(expected[k], found[k]))
        continue;
      const Instruction &wanted = at(expected[k]);
      if (expected.size() == found.size()) {
        context.add("collective", member, schedule.indexOf(found[k]),
                    "differs from what rank ", model, " enters: got ",
                    describe(found[k]), ", expected ", describe(expected[k]),
                    " (", place(expected[k]), ")");
        return false;
      }
      size_t next = k < found.size() ? schedule.indexOf(found[k])
                                     : context.list(member).size();
      context.push("collective", member, wanted.phase,
                   static_cast<int64_t>(next),
                   concat(describe(expected[k]), " of the ", toString(group),
                          " group is not entered: got ", found.size(),
                          " collectives on rank ", member, ", expected ",
                          expected.size(), " as on rank ", model));
      return false;
    }
    return true;
  }

  std::string describe(int32_t id) const {
    const Instruction &instruction = at(id);
    std::string text(toString(instruction.opcode));
    for (size_t w = 0; w < instruction.windows.size(); ++w)
      text += concat(w == 0 ? " " : " -> ",
                     context.window(instruction.windows[w]).name);
    return concat(text, " in phase ", instruction.phase);
  }

  /// Rows of each part of a chunk list that `counts` divides.
  static std::vector<int64_t> partRows(const Operand &chunks,
                                       const Operand &counts) {
    std::vector<int64_t> rows;
    int64_t begin = 0;
    for (int64_t count : counts.values) {
      rows.push_back(rowsOf(ChunkList(chunks.values).slice(begin, count)));
      begin += count;
    }
    return rows;
  }

  void compareSizes(const Meeting &meeting,
                    const std::vector<int64_t> &members) {
    const Instruction &model = at(meeting.members.front());
    if (model.opcode == Opcode::Plan)
      return;
    bool gather = model.opcode == Opcode::AllGather;
    std::vector<std::vector<int64_t>> received;
    received.reserve(meeting.members.size());
    for (int32_t id : meeting.members)
      received.push_back(
          partRows(at(id).lists[gather ? 1 : 2], at(id).lists[gather ? 2 : 3]));
    int64_t rowBytes = context.window(model.windows[0]).rowBytes();
    for (size_t i = 0; i < members.size(); ++i) {
      const Instruction &sender = at(meeting.members[i]);
      std::vector<int64_t> sent(
          members.size(),
          gather ? rowsOf(ChunkList(sender.lists[0].values)) : 0);
      if (!gather)
        sent = partRows(sender.lists[0], sender.lists[1]);
      for (size_t j = 0; j < members.size(); ++j)
        if (received[j][i] != sent[j])
          context.add("collective", members[j],
                      schedule.indexOf(meeting.members[j]), "part from rank ",
                      members[i], " differs in size: got ",
                      saturatingMul(received[j][i], rowBytes),
                      " bytes, expected ", saturatingMul(sent[j], rowBytes),
                      " (", place(meeting.members[i]), ")");
    }
  }

  /// A rank without work still takes part in every phase with a collective.
  void checkPhases() {
    std::vector<std::pair<int32_t, int32_t>>
        phases; // phase, id of a collective
    phases.reserve(schedule.meetings.size());
    for (const Meeting &meeting : schedule.meetings)
      phases.push_back(
          {at(meeting.members.front()).phase, meeting.members.front()});
    std::sort(phases.begin(), phases.end());
    phases.erase(std::unique(phases.begin(), phases.end(),
                             [](const auto &a, const auto &b) {
                               return a.first == b.first;
                             }),
                 phases.end());
    for (int64_t rank = 0; rank < context.numRanks(); ++rank) {
      const std::vector<Instruction> &list = context.list(rank);
      size_t i = 0;
      for (const auto &[phase, id] : phases) {
        while (i < list.size() && list[i].phase < phase)
          ++i;
        if (i == list.size() || list[i].phase != phase)
          context.push("phase", rank, phase, static_cast<int64_t>(i),
                       concat("phase with a collective is skipped: got no "
                              "instruction in phase ",
                              phase, ", expected one (", describe(id), ", ",
                              place(id), ")"));
      }
    }
  }

  ValidatorContext &context;
  Schedule &schedule;
};

} // namespace

void sart::matchSchedule(ValidatorContext &context, Schedule &schedule) {
  Matcher(context, schedule).run();
}

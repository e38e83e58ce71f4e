//===- TimelineJson.cpp - A timeline for programs and trace viewers -------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sparseattn-rt/Timeline.h"

#include <nlohmann/json.hpp>

using namespace sart;
using Json = nlohmann::ordered_json;

static double us(int64_t ps) { return static_cast<double>(ps) / 1e6; }

static std::string dumped(const Json &value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

static Json rankJson(const std::vector<Instruction> &list,
                     const Timeline &timeline, size_t rank) {
  const TimelineRank &account = timeline.ranks[rank];
  Json result = {{"rank", rank},
                 {"finish_us", us(account.finishPs)},
                 {"compute_us", us(account.computePs)},
                 {"exposed_us", us(account.exposedPs)},
                 {"turn_us", us(account.turnPs)},
                 {"send_us", us(account.sendPs)},
                 {"recv_us", us(account.recvPs)},
                 {"tiles", account.tiles}};
  Json &steps = result["instructions"] = Json::array();
  for (size_t i = 0; i < list.size(); ++i) {
    const TimelineStep &step =
        timeline.steps[static_cast<size_t>(timeline.first[rank]) + i];
    Json entry = {
        {"opcode", toString(list[i].opcode)}, {"phase", list[i].phase},
        {"posted_us", us(step.postedPs)},     {"begin_us", us(step.beginPs)},
        {"end_us", us(step.endPs)},           {"cause", toString(step.cause)}};
    if (!list[i].peer.values.empty())
      entry["peer"] = list[i].peer.values[0];
    if (step.tiles > 0)
      entry["tiles"] = step.tiles;
    if (step.rows > 0)
      entry["rows"] = step.rows;
    if (step.bytes > 0)
      entry["bytes"] = step.bytes;
    steps.push_back(std::move(entry));
  }
  return result;
}

std::string sart::timelineJson(const Program &bound, const Machine &machine,
                               const Timeline &timeline) {
  Json result = {{"machine", machine.name},
                 {"program", bound.name},
                 {"ulysses", bound.placement.mesh.ulysses},
                 {"ring", bound.placement.mesh.ring},
                 {"makespan_us", us(timeline.makespanPs)}};
  for (auto [milli, name] :
       {std::pair<int64_t, const char *>{500, "makespan_half_rate_us"},
        {2000, "makespan_twice_rate_us"}}) {
    Expected<Timeline> other = simulate(bound, machine.withLinkRate(milli));
    result[name] = other ? Json(us(other->makespanPs)) : Json();
  }
  result["kernel"] = {{"tile_ps", timeline.kernel.tilePs},
                      {"row_ps", timeline.kernel.rowPs},
                      {"exact", timeline.kernel.exact}};
  Json &ranks = result["ranks"] = Json::array();
  for (size_t rank = 0; rank < bound.ranks.size(); ++rank)
    ranks.push_back(rankJson(bound.ranks[rank], timeline, rank));
  Json &links = result["links"] = Json::array();
  for (const TimelineLink &link : timeline.links)
    links.push_back(
        {{"from", link.from},
         {"to", link.to},
         {"over", machine.links[machine.levelOf(link.from, link.to)].name},
         {"bytes", link.bytes},
         {"transfers", link.transfers}});
  Json &path = result["critical_path"] = Json::array();
  for (const TimelinePart &part : timeline.path)
    path.push_back({{"rank", timeline.rankOf(part.step)},
                    {"instruction", timeline.instructionOf(part.step)},
                    {"begin_us", us(part.beginPs)},
                    {"end_us", us(part.endPs)}});
  return dumped(result);
}

std::string sart::timelineTrace(const Program &bound,
                                const Timeline &timeline) {
  // Threads of a rank's process.
  enum Track { Work, Sends, Receives };
  constexpr const char *names[] = {"work and waits", "sends", "receives"};
  Json events = Json::array();
  for (size_t rank = 0; rank < bound.ranks.size(); ++rank) {
    events.push_back({{"ph", "M"},
                      {"name", "process_name"},
                      {"pid", rank},
                      {"args", {{"name", concat("rank ", rank)}}}});
    for (int track : {Work, Sends, Receives})
      events.push_back({{"ph", "M"},
                        {"name", "thread_name"},
                        {"pid", rank},
                        {"tid", track},
                        {"args", {{"name", names[track]}}}});
    const std::vector<Instruction> &list = bound.ranks[rank];
    for (size_t i = 0; i < list.size(); ++i) {
      const TimelineStep &step =
          timeline.steps[static_cast<size_t>(timeline.first[rank]) + i];
      Opcode opcode = list[i].opcode;
      bool collective =
          opcode == Opcode::AllToAll || opcode == Opcode::AllGather;
      int64_t begin = collective ? step.postedPs : step.beginPs;
      if (step.endPs <= begin)
        continue;
      int track = opcode == Opcode::Send || opcode == Opcode::Put ||
                          opcode == Opcode::Signal
                      ? Sends
                  : opcode == Opcode::Recv ? Receives
                                           : Work;
      Json args = {{"instruction", i}, {"phase", list[i].phase}};
      if (!list[i].peer.values.empty())
        args["peer"] = list[i].peer.values[0];
      if (step.tiles > 0)
        args["tiles"] = step.tiles;
      if (step.bytes > 0)
        args["bytes"] = step.bytes;
      events.push_back({{"ph", "X"},
                        {"name", toString(opcode)},
                        {"pid", rank},
                        {"tid", track},
                        {"ts", us(begin)},
                        {"dur", us(step.endPs - begin)},
                        {"args", std::move(args)}});
    }
  }
  return dumped(events);
}

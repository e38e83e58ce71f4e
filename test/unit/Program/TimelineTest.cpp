//===- TimelineTest.cpp - Programs in virtual time ------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sparseattn-rt/Timeline.h"
#include "OneSidedPrograms.h"
#include "ProgramTestSupport.h"
#include "RoundMachine.h"

#include <ctime>
#include <map>

using namespace sart;
using namespace sart::test;

namespace {

Timeline timelineOf(const Program &program, const Machine &machine) {
  Expected<Timeline> timeline = simulate(program, machine);
  EXPECT_TRUE(timeline.ok()) << timeline.message();
  return timeline ? std::move(*timeline) : Timeline();
}

/// `begin..end cause` of one instruction.
std::string stepText(const Timeline &timeline, size_t rank, size_t index) {
  const TimelineStep &step =
      timeline.steps[static_cast<size_t>(timeline.first[rank]) + index];
  return concat(step.beginPs, "..", step.endPs, " ", toString(step.cause));
}

std::string pathText(const Timeline &timeline) {
  std::string text;
  for (const TimelinePart &part : timeline.path)
    text += concat(timeline.rankOf(part.step), ":",
                   timeline.instructionOf(part.step), " ", part.beginPs, "..",
                   part.endPs, "\n");
  return text;
}

TEST(Timeline, RingByHand) {
  Program program = ringProgram();
  Timeline timeline = timelineOf(program, roundMachine(2));
  // Each rank keeps its own: q 16,384 bytes read and written, k and v 8,192.
  // Routing waits for the gathered loads, and pools 64 query rows and 32 key
  // rows of 128 bytes.
  EXPECT_EQ(stepText(timeline, 0, 0), "0..16384 start");
  EXPECT_EQ(stepText(timeline, 0, 1), "16384..24576 order");
  EXPECT_EQ(stepText(timeline, 0, 2), "24576..1036864 order");
  EXPECT_EQ(stepText(timeline, 0, 3), "1036864..1045056 order");
  // A kv-block of k, then of v: 16 rows of 128 bytes each.
  EXPECT_EQ(stepText(timeline, 0, 4), "1045056..4093056 meet");
  EXPECT_EQ(stepText(timeline, 0, 5), "4093056..7141056 port");
  EXPECT_EQ(stepText(timeline, 0, 7), "4093056..7141056 port");
  EXPECT_EQ(stepText(timeline, 1, 4), "1045056..4093056 order");
  // Meanwhile 6 tiles on rank 0 and 4 on rank 1.
  EXPECT_EQ(stepText(timeline, 0, 8), "1045056..7045056 order");
  EXPECT_EQ(stepText(timeline, 1, 8), "1045056..5045056 order");
  EXPECT_EQ(stepText(timeline, 0, 9), "7045056..7141056 meet");
  EXPECT_EQ(stepText(timeline, 1, 9), "5045056..7141056 meet");
  EXPECT_EQ(stepText(timeline, 0, 10), "7141056..9141056 order");
  EXPECT_EQ(stepText(timeline, 1, 10), "7141056..11141056 order");
  // Merging 64 rows reads two results and writes one, 132 bytes a row; the
  // conversion reads and writes 128.
  EXPECT_EQ(stepText(timeline, 1, 11), "11141056..11166400 order");
  EXPECT_EQ(stepText(timeline, 1, 14), "11166400..11182784 order");
  EXPECT_EQ(timeline.makespanPs, 11199680);
  EXPECT_EQ(pathText(timeline), "1:0 0..16384\n"
                                "1:1 16384..24576\n"
                                "1:2 24576..1036864\n"
                                "1:3 1036864..1045056\n"
                                "1:4 1045056..4093056\n"
                                "1:5 4093056..7141056\n"
                                "1:10 7141056..11141056\n"
                                "1:11 11141056..11166400\n"
                                "1:14 11166400..11182784\n"
                                "1:15 11182784..11199168\n"
                                "1:16 11199168..11199680\n");
  const TimelineRank &rank = timeline.ranks[0];
  EXPECT_EQ(rank.finishPs, 9199680);
  EXPECT_EQ(rank.computePs, 1012288 + 8000000 + 25344 + 16384);
  // The wait, and what each collective takes.
  EXPECT_EQ(rank.exposedPs, 96000 + 16384 + 8192 + 8192 + 16384 + 512);
  EXPECT_EQ(rank.sendPs, 6096000);
  EXPECT_EQ(rank.recvPs, 6096000);
  EXPECT_EQ(rank.tiles, 8);
  ASSERT_EQ(timeline.links.size(), 2u);
  EXPECT_EQ(timeline.links[0].to, 1);
  EXPECT_EQ(timeline.links[0].bytes, 4096);
  EXPECT_EQ(timeline.links[0].transfers, 2);
}

TEST(Timeline, HeadsThatMoveByHand) {
  Timeline timeline = timelineOf(swapProgram(), roundMachine(2));
  // Half of q goes over: 2 heads of 32 rows, 8,192 bytes; of k and v one head
  // each. Routing waits for the loads and pools 192 rows of 128 bytes.
  EXPECT_EQ(stepText(timeline, 0, 0), "0..9192000 meet");
  EXPECT_EQ(stepText(timeline, 1, 0), "0..9192000 start");
  // Three tensors of 8,192 bytes and 80 bytes of mask rows, one after another.
  EXPECT_EQ(stepText(timeline, 0, 4), "20408576..29600576 meet");
  EXPECT_EQ(stepText(timeline, 0, 7), "47984576..49064576 port");
  EXPECT_EQ(stepText(timeline, 0, 12), "20408576..36408576 order");
  EXPECT_EQ(stepText(timeline, 1, 16), "49064576..65064576 order");
  // Rank 1 is the last to return its outputs.
  EXPECT_EQ(stepText(timeline, 0, 17), "65064576..74256576 meet");
  EXPECT_EQ(timeline.makespanPs, 75512576);
  EXPECT_EQ(timeline.ranks[0].tiles, 20);
  EXPECT_EQ(timeline.ranks[1].tiles, 20);
}

TEST(Timeline, SlowerAndFasterLinks) {
  Machine machine = roundMachine(2);
  // Transfers of 1 + 4.096 us and 1 + 1.024: the second pair ends the wait.
  Timeline half = timelineOf(ringProgram(), machine.withLinkRate(500));
  EXPECT_EQ(stepText(half, 0, 9), "7045056..11237056 meet");
  Timeline twice = timelineOf(ringProgram(), machine.withLinkRate(2000));
  EXPECT_EQ(stepText(twice, 0, 9), "7045056..7045056 order");
  EXPECT_EQ(twice.ranks[0].exposedPs, 16384 + 8192 + 8192 + 16384 + 512);
}

TEST(Timeline, LaunchesRowsScoresAndPlanning) {
  Machine machine = roundMachine(2);
  machine.device.launchPs.value = 100;
  machine.device.scorePs.value = 8;
  machine.device.kernels[0].rowPs.value = 10;
  machine.planPs.value = 5000;
  machine.syncPs.value = 300;
  Timeline timeline = timelineOf(ringProgram(), machine);
  // Three launches, 4 rows x 4 blocks of 8 ps * 32 / 128, a plan and a read.
  EXPECT_EQ(stepText(timeline, 0, 2),
            concat("24576..", 1036864 + 300 + 32 + 5300, " order"));
  const TimelineStep &attend =
      timeline.steps[static_cast<size_t>(timeline.first[0]) + 8];
  EXPECT_EQ(attend.endPs - attend.beginPs, 6000000 + 40 + 100);
}

TEST(Timeline, ConstantMasksAreNotRouted) {
  Program program = ringProgram();
  program.policy.kind = RoutingPolicy::Kind::Explicit;
  EXPECT_EQ(stepText(timelineOf(program, roundMachine(2)), 0, 2),
            "24576..24576 order");
}

TEST(Timeline, RanksThatShareADevice) {
  Machine machine = roundMachine(2);
  machine.device.ranks = 2;
  Timeline timeline = timelineOf(ringProgram(), machine);
  // Rank 0 routes first, and so does everything first.
  EXPECT_EQ(stepText(timeline, 0, 2), "24576..1036864 order");
  EXPECT_EQ(stepText(timeline, 1, 2), "1036864..2049152 device");
  EXPECT_GT(timeline.ranks[1].turnPs, 1012288);
  EXPECT_GT(timeline.makespanPs, 16000000); // 16 tiles
  for (const TimelineRank &rank : timeline.ranks)
    EXPECT_EQ(rank.finishPs, rank.computePs + rank.exposedPs + rank.turnPs);
}

TEST(Timeline, PutsAndSignals) {
  // Signals arrive behind the puts, and so as the receives do.
  Timeline timeline = timelineOf(putProgram(), roundMachine(2));
  EXPECT_EQ(timeline.makespanPs, 11199680);
  EXPECT_EQ(stepText(timeline, 0, 6), "7141056..7141056 order");
  // A put of 2,048 bytes, an answer of 1 us, another put.
  timeline = timelineOf(stagedProgram(true), roundMachine(2));
  EXPECT_EQ(timeline.makespanPs, 11199680 + 3048000 + 1000000 + 3048000);
  EXPECT_EQ(timeline.path.back().endPs, timeline.makespanPs);
}

TEST(Timeline, OnePortOrOneForEachLink) {
  // Four ranks in two islands, rings of two across them: the moved head and
  // the kv-blocks share a port, or do not.
  Placement placement = makePlacement(2, 2, 4, 4, 128, 128);
  TemplateOptions options;
  options.planner.k1Milli = options.planner.k2Milli = 1000;
  Program program = boundOf(placement, maskFor(placement, 0.4, 3), options);
  Machine machine = roundMachine(4);
  machine.links = {{"inside", 2, {1000000000, 0}, {1000000, 0}},
                   {"across", 4, {100000000, 0}, {1000000, 0}}};
  Timeline one = timelineOf(program, machine);
  machine.portPerLink = true;
  Timeline each = timelineOf(program, machine);
  EXPECT_LE(each.makespanPs, one.makespanPs);
  // Ten times the time a byte across.
  for (const TimelineStep &step : one.steps) {
    auto id = static_cast<int32_t>(&step - one.steps.data());
    int64_t rank = one.rankOf(id);
    const Instruction &instruction =
        program.ranks[static_cast<size_t>(rank)]
                     [static_cast<size_t>(one.instructionOf(id))];
    if (instruction.opcode != Opcode::Send)
      continue;
    bool across = rank / 2 != instruction.peer.values[0] / 2;
    EXPECT_EQ(step.endPs - step.beginPs,
              1000000 + step.bytes * (across ? 10000 : 1000));
  }
}

TEST(Timeline, ExchangeOverIslandsFillsThePorts) {
  // 8 ranks of 8 heads each send one head of 16 rows, 2,048 bytes, to each
  // other: 3 inside at 1 ns a byte, 4 across at 10 ns.
  Placement placement = makePlacement(8, 1, 8, 8, 128, 128);
  Program program = boundOf(placement, BlockMask::dense(8, 8, 8));
  Machine machine = roundMachine(8);
  machine.links = {{"inside", 4, {1000000000, 0}, {1000000, 0}},
                   {"across", 8, {100000000, 0}, {1000000, 0}}};
  machine.portPerLink = true;
  EXPECT_EQ(stepText(timelineOf(program, machine), 5, 0),
            concat("0..", 1000000 + 4 * 20480000, " meet"));
  machine.portPerLink = false;
  EXPECT_EQ(stepText(timelineOf(program, machine), 5, 0),
            concat("0..", 1000000 + 3 * 2048000 + 4 * 20480000, " meet"));
  // Islands of unequal numbers of members: in plain order.
  machine.links[0].ranks = 2;
  machine.links[1].ranks = 6;
  machine.links.push_back({"far", 12, {100000000, 0}, {1000000, 0}});
  EXPECT_GE(timelineOf(program, machine).steps[0].endPs,
            1000000 + 2048000 + 6 * 20480000);
}

TEST(Timeline, Refusals) {
  Program program = ringProgram();
  Machine machine = roundMachine(2);
  machine.name.clear();
  EXPECT_EQ(simulate(program, machine).message(),
            "machine: name: got none, expected one");
  machine = roundMachine(2);
  machine.links.clear();
  EXPECT_EQ(simulate(program, machine).message(),
            "ranks of the program: got 2, expected at most 1 of the machine "
            "'round'");
  drop(program, 0, find(program, 0, Opcode::Wait));
  std::string message = simulate(program, roundMachine(2)).message();
  EXPECT_EQ(message.substr(0, 16), "program: rank 0 ") << message;
}

/// What holds of every timeline.
void checkTimeline(const Program &program, const Machine &machine) {
  Timeline timeline = timelineOf(program, machine);
  ASSERT_FALSE(timeline.path.empty());
  int64_t at = 0;
  for (const TimelinePart &part : timeline.path) {
    EXPECT_EQ(part.beginPs, at);
    at = part.endPs;
  }
  EXPECT_EQ(at, timeline.makespanPs);
  // No port has two transfers at a time.
  std::map<std::pair<int64_t, bool>, std::vector<std::pair<int64_t, int64_t>>>
      busy;
  for (size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const TimelineRank &account = timeline.ranks[rank];
    EXPECT_EQ(account.finishPs,
              account.computePs + account.exposedPs + account.turnPs);
    EXPECT_LE(account.finishPs, timeline.makespanPs);
    for (size_t i = 0; i < program.ranks[rank].size(); ++i) {
      const TimelineStep &step =
          timeline.steps[static_cast<size_t>(timeline.first[rank]) + i];
      EXPECT_LE(step.postedPs, step.beginPs);
      EXPECT_LE(step.beginPs, step.endPs);
      Opcode opcode = program.ranks[rank][i].opcode;
      if (opcode == Opcode::Send || opcode == Opcode::Recv)
        busy[{rank, opcode == Opcode::Send}].push_back(
            {step.beginPs, step.endPs});
    }
  }
  for (auto &[port, spans] : busy) {
    std::sort(spans.begin(), spans.end());
    for (size_t i = 1; i < spans.size(); ++i)
      EXPECT_LE(spans[i - 1].second, spans[i].first);
  }
  EXPECT_EQ(timelineOf(program, machine).makespanPs, timeline.makespanPs);
}

TEST(Timeline, HoldsTogetherOnManyMeshes) {
  TemplateOptions options;
  options.planner.k1Milli = options.planner.k2Milli = 1000;
  for (auto [ulysses, ring] : {std::pair<int64_t, int64_t>{1, 1},
                               {3, 1},
                               {1, 4},
                               {2, 3},
                               {4, 2},
                               {1, 8}}) {
    SCOPED_TRACE(concat(ulysses, "x", ring));
    Placement placement = makePlacement(ulysses, ring, 6, 3, 250, 330);
    Program program = boundOf(placement, maskFor(placement, 0.4, 5), options);
    int64_t ranks = ulysses * ring;
    for (int64_t latency : {0, 1000, 5000000}) {
      Machine machine = roundMachine(std::max<int64_t>(ranks, 2));
      machine.links[0].latencyPs.value = latency;
      checkTimeline(program, machine);
      machine.device.ranks = 2;
      checkTimeline(program, machine);
    }
  }
}

TEST(Timeline, HundredsOfRanks) {
  Placement placement = makePlacement(64, 8, 64, 64, 8192, 8192, 128);
  Program program = boundOf(placement, maskFor(placement, 0.2, 5));
  Machine machine = roundMachine(512);
  std::clock_t start = std::clock();
  checkTimeline(program, machine);
  double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_LT(seconds, 30);
}

} // namespace

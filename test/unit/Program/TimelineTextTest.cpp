//===- TimelineTextTest.cpp - Timelines in words and JSON -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"
#include "RoundMachine.h"
#include "sparseattn-rt/Timeline.h"

#include <nlohmann/json.hpp>

using namespace sart;
using namespace sart::test;

namespace {

TEST(TimelineText, RingInWords) {
  EXPECT_EQ(
      explainTimeline(ringProgram(), roundMachine(2)),
      "\n"
      "predicted on round\n"
      "  kernel f32 16x16 of head dimension 32: 1,000,000 ps a tile, 0 ps a "
      "row, assumed\n"
      "  ends at 11.200 us; most work of a rank 9.054 us (1.000 of the mean), "
      "most exposed communication 2.146 us\n"
      "  rank 0: ends at 9.200 us, works 9.054 us, waits 0.146 us; sends 6.096 "
      "us, receives 6.096 us\n"
      "  rank 1: ends at 11.200 us, works 9.054 us, waits 2.146 us; sends "
      "6.096 us, receives 6.096 us\n"
      "  over link: 8,192 bytes\n"
      "  with links of half the rate it ends at 15.296 us, with links of twice "
      "the rate it ends at 9.152 us\n"
      "predicted critical path\n"
      "  0.000 us to 0.016 us: rank 1 phase 0 instruction 0, all_to_all\n"
      "  0.016 us to 0.025 us: rank 1 phase 0 instruction 1, all_to_all\n"
      "  0.025 us to 1.037 us: rank 1 phase 1 instruction 2, load_mask\n"
      "  1.037 us to 1.045 us: rank 1 phase 2 instruction 3, all_to_all\n"
      "  1.045 us to 4.093 us: rank 1 phase 3 instruction 4, send to rank 0, "
      "2,048 bytes\n"
      "  4.093 us to 7.141 us: rank 1 phase 3 instruction 5, send to rank 0, "
      "2,048 bytes, after a transfer of rank 1\n"
      "  7.141 us to 11.141 us: rank 1 phase 4 instruction 10, attend, 4 "
      "tiles\n"
      "  11.141 us to 11.166 us: rank 1 phase 4 instruction 11, merge\n"
      "  11.166 us to 11.183 us: rank 1 phase 5 instruction 14, convert\n"
      "  11.183 us to 11.199 us: rank 1 phase 6 instruction 15, all_to_all\n"
      "  11.199 us to 11.200 us: rank 1 phase 6 instruction 16, all_to_all\n");
}

TEST(TimelineText, KernelsInProportionAndManyRanks) {
  Machine machine = roundMachine(32);
  machine.device.kernels[0].blockQ = 32;
  Placement placement = makePlacement(16, 2, 16, 16, 640, 640);
  std::string text =
      explainTimeline(boundOf(placement, maskFor(placement, 0.4, 1)), machine);
  EXPECT_NE(text.find("kernel f32 16x16 of head dimension 32: 500,000 ps a "
                      "tile, 0 ps a row, assumed; in proportion to f32 32x16 "
                      "of head dimension 32, since the machine file has no "
                      "such kernel\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  most work: rank "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  least work: rank "), std::string::npos) << text;
  EXPECT_EQ(text.find("\n  rank 0:"), std::string::npos) << text;
}

TEST(TimelineText, OneRankHasNoLinks) {
  Machine machine = roundMachine(2);
  machine.links.clear();
  std::string text = explainTimeline(
      boundOf(makePlacement(1, 1, 2, 2, 40, 40), BlockMask::dense(2, 3, 3)),
      machine);
  EXPECT_EQ(text.find("over "), std::string::npos) << text;
  EXPECT_EQ(text.find("with links"), std::string::npos) << text;
}

TEST(TimelineText, SaysWhatIsWrong) {
  EXPECT_EQ(explainTimeline(Program(), roundMachine(2)).substr(0, 9),
            "program: ");
}

TEST(TimelineText, Json) {
  Program program = ringProgram();
  Machine machine = roundMachine(2);
  auto json = nlohmann::json::parse(
      timelineJson(program, machine, *simulate(program, machine)));
  EXPECT_EQ(json["machine"], "round");
  EXPECT_EQ(json["makespan_us"], 11.19968);
  EXPECT_EQ(json["makespan_half_rate_us"], 15.29568);
  EXPECT_EQ(json["kernel"]["exact"], true);
  ASSERT_EQ(json["ranks"].size(), 2u);
  EXPECT_EQ(json["ranks"][1]["finish_us"], 11.19968);
  const auto &send = json["ranks"][0]["instructions"][5];
  EXPECT_EQ(send["opcode"], "send");
  EXPECT_EQ(send["peer"], 1);
  EXPECT_EQ(send["bytes"], 2048);
  EXPECT_EQ(send["begin_us"], 4.093056);
  EXPECT_EQ(send["cause"], "port");
  EXPECT_EQ(json["links"][0]["bytes"], 4096);
  EXPECT_EQ(json["links"][0]["over"], "link");
  EXPECT_EQ(json["critical_path"].size(), 11u);
  EXPECT_EQ(json["critical_path"].back()["end_us"], 11.19968);
}

TEST(TimelineText, Trace) {
  Program program = ringProgram();
  auto events = nlohmann::json::parse(
      timelineTrace(program, *simulate(program, roundMachine(2))));
  int64_t sends = 0, attends = 0;
  for (const auto &event : events) {
    if (event["ph"] != "X")
      continue;
    EXPECT_GT(event["dur"], 0);
    sends += event["tid"] == 1 ? 1 : 0;
    attends += event["name"] == "attend" ? 1 : 0;
  }
  EXPECT_EQ(sends, 4);
  EXPECT_EQ(attends, 4);
}

} // namespace

//===- TraceTest.cpp - Perfetto traces ------------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Stats.h"

#include "gtest/gtest.h"

#include <nlohmann/json.hpp>

using namespace sart;

namespace {

TraceEvent eventOf(const char *name, int64_t rank, int64_t begin, int64_t end) {
  TraceEvent event;
  event.name = name;
  event.rank = rank;
  event.phase = 3;
  event.instruction = 12;
  event.beginNs = begin;
  event.endNs = end;
  return event;
}

nlohmann::json parse(const std::string &events) {
  return nlohmann::json::parse("[" + events + "]", nullptr,
                               /*allow_exceptions=*/false);
}

} // namespace

TEST(Trace, EventsBecomeSlices) {
  RunStats stats;
  stats.density = 0.25;
  stats.events = {eventOf("all_to_all q_shard -> q", 0, 1000, 2500),
                  eventOf("attend", 1, 1500, 4000001)};
  stats.events[0].bytes = 4096;
  stats.events[1].tiles = 77;
  auto json = parse(toTraceEvents(stats, "step 1 layer 0", 10000));
  ASSERT_TRUE(json.is_array());
  // Per rank a name and an enclosing slice, then the instructions.
  ASSERT_EQ(json.size(), 6u);
  EXPECT_EQ(json[0]["ph"], "M");
  EXPECT_EQ(json[0]["args"]["name"], "rank 0");
  EXPECT_EQ(json[1]["name"], "step 1 layer 0");
  EXPECT_EQ(json[1]["ts"], 11.0);
  EXPECT_EQ(json[1]["dur"], 1.5);
  EXPECT_EQ(json[1]["args"]["density"], 0.25);
  EXPECT_EQ(json[4]["name"], "all_to_all q_shard -> q");
  EXPECT_EQ(json[4]["ph"], "X");
  EXPECT_EQ(json[4]["cat"], "phase 3");
  EXPECT_EQ(json[4]["tid"], 0);
  EXPECT_EQ(json[4]["args"]["bytes"], 4096);
  EXPECT_EQ(json[4]["args"]["instruction"], 12);
  EXPECT_FALSE(json[4]["args"].contains("tiles"));
  EXPECT_EQ(json[5]["tid"], 1);
  EXPECT_EQ(json[5]["args"]["tiles"], 77);
  EXPECT_EQ(json[5]["dur"], 3998.501);
}

TEST(Trace, RunsConcatenate) {
  RunStats stats;
  stats.events = {eventOf("attend", 0, 0, 10)};
  auto json = parse(toTraceEvents(stats, "a", 0) + "," +
                    toTraceEvents(stats, "b", 1000));
  ASSERT_EQ(json.size(), 6u);
  EXPECT_EQ(json[5]["ts"], 1.0);
}

TEST(Trace, NamesAreEscaped) {
  RunStats stats;
  stats.events = {eventOf("a\"b\\c\nd", 0, 0, 10)};
  auto json = parse(toTraceEvents(stats, "tab\there", 0));
  ASSERT_TRUE(json.is_array());
  EXPECT_EQ(json[1]["name"], "tab\there");
  EXPECT_EQ(json[2]["name"], "a\"b\\c\nd");
}

TEST(Trace, LongTimesKeepTheirNanoseconds) {
  RunStats stats;
  stats.events = {eventOf("attend", 0, 1, 2)};
  std::string text = toTraceEvents(stats, "x", int64_t(86400) * 1000000000);
  EXPECT_NE(text.find("\"ts\":86400000000.001"), std::string::npos) << text;
}

TEST(Trace, NothingRan) { EXPECT_EQ(toTraceEvents(RunStats(), "x", 0), ""); }

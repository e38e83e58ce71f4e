//===- ExplainTest.cpp - Programs in plain words --------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"
#include "sparseattn-rt/Executor.h"

using namespace sart;
using namespace sart::test;

namespace {

TEST(Explain, HeadsThatMove) {
  EXPECT_EQ(
      explainProgram(swapProgram()),
      "layer layer: 4 heads (2 kv heads) of 32 f32, 64 queries x 64 keys, "
      "blocks 16x16\n"
      "mesh: 2 ranks, ulysses 2 x ring 1\n"
      "mask: 40 of 64 tiles selected (density 0.625)\n"
      "\n"
      "work per rank\n"
      "  rank 0: 20 tiles (50.0 %) in 8 rows of 2 heads 1, 2\n"
      "  rank 1: 20 tiles (50.0 %) in 8 rows of 2 heads 3, 0\n"
      "  imbalance (largest / mean): 1.000, with every head where it began "
      "1.600\n"
      "\n"
      "bytes per link\n"
      "  rank 0 -> rank 1: 49.5 kB (exchange 24.6 kB, moved heads 24.6 kB, "
      "masks and lse 336 bytes)\n"
      "  rank 1 -> rank 0: 49.5 kB (exchange 24.6 kB, moved heads 24.6 kB, "
      "masks and lse 336 bytes)\n"
      "  in all exchange (q, k, v and o between shards and heads): 49.2 kB\n"
      "  in all moved heads (q, k and v): 49.2 kB\n"
      "  in all masks and lse: 672 bytes\n"
      "\n"
      "critical path (1,000 ps a tile, 0 ps a row, 0 ps a transfer, 0 ps a "
      "byte)\n"
      "  rank 0 phase 3 instruction 12, attend: 16 tiles, 0.016 us\n"
      "  rank 0 phase 4 instruction 16, attend: 4 tiles, 0.004 us\n"
      "  in all 20 tiles and 0 bytes, 0.020 us\n");
}

TEST(Explain, RingWithLinkCosts) {
  Program program = ringProgram();
  program.planner.cost = {1000000, 1000, 500000, 2000, 0};
  EXPECT_EQ(explainProgram(program),
            "layer layer: 2 heads (1 kv head) of 32 f32, 64 queries x 64 "
            "keys, blocks 16x16\n"
            "mesh: 2 ranks, ulysses 1 x ring 2\n"
            "mask: 16 of 32 tiles selected (density 0.500)\n"
            "\n"
            "work per rank\n"
            "  rank 0: 8 tiles (50.0 %) in 8 rows of 2 heads 0, 1\n"
            "  rank 1: 8 tiles (50.0 %) in 8 rows of 2 heads 0, 1\n"
            "  imbalance (largest / mean): 1.000, with every head where it "
            "began 1.000\n"
            "\n"
            "bytes per link\n"
            "  rank 0 -> rank 1: 4,096 bytes (ring 4,096 bytes)\n"
            "  rank 1 -> rank 0: 4,096 bytes (ring 4,096 bytes)\n"
            "  in all kv-blocks over the ring: 8,192 bytes\n"
            "\n"
            "critical path (1,000,000 ps a tile, 1,000 ps a row, 500,000 ps a "
            "transfer, 2,000 ps a byte)\n"
            "  rank 1 phase 4 instruction 9, wait: 4,096 bytes, 9.192 us\n"
            "  rank 1 phase 4 instruction 10, attend: 4 tiles, 4.004 us\n"
            "  in all 4 tiles and 4,096 bytes, 13.196 us\n");
}

TEST(Explain, BytesAreThoseOfThePlan) {
  // The account of the instructions against the planner's own count.
  TemplateOptions options;
  options.planner.k1Milli = options.planner.k2Milli = 1000;
  Placement placement = makePlacement(2, 2, 5, 5, 640, 640);
  BlockMask mask = maskFor(placement, 0.1, 11);
  Plan plan = *makePlan(summarize(mask, placement), placement, options.planner);
  TrafficBytes traffic = countTraffic(plan, placement);
  ASSERT_GT(traffic.moved, 0);
  ASSERT_GT(traffic.routed, 0);
  std::string text = explainProgram(boundOf(placement, mask, options));
  auto total = [&](const char *what) {
    size_t at = text.find(concat("in all ", what));
    EXPECT_NE(at, std::string::npos) << text;
    at = text.find("): ", at) == std::string::npos ? at : at;
    return text.substr(at, text.find('\n', at) - at);
  };
  auto kB = [](int64_t bytes) {
    char digits[32];
    std::snprintf(digits, sizeof(digits), ": %.1f kB",
                  static_cast<double>(bytes) / 1e3);
    return std::string(digits);
  };
  for (auto [what, bytes] :
       {std::pair<const char *, int64_t>{"exchange", traffic.exchange},
        {"moved heads", traffic.moved},
        {"kv-blocks over the ring", traffic.routed}}) {
    std::string line = total(what);
    std::string expected = kB(bytes);
    EXPECT_EQ(line.substr(line.size() - expected.size()), expected) << line;
  }
}

TEST(Explain, OneRankSendsNothing) {
  std::string text = explainProgram(
      boundOf(makePlacement(1, 1, 2, 2, 40, 40), BlockMask::dense(2, 3, 3)));
  EXPECT_NE(text.find("nothing leaves a rank"), std::string::npos) << text;
}

TEST(Explain, InvalidPrograms) {
  Program program = swapProgram();
  drop(program, 0, find(program, 0, Opcode::Wait));
  program.placement.shape.headDim = 0;
  EXPECT_EQ(explainProgram(program),
            "the program is not valid:\n"
            "  program: head dimension not supported: got 0, expected a "
            "multiple of 8 from 32 to 256\n");
  EXPECT_NE(explainProgram(Program()).find("the program is not valid"),
            std::string::npos);
}

TEST(Explain, AnyCostsAreFine) {
  Program program = ringProgram();
  program.planner.cost = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, 0};
  EXPECT_NE(explainProgram(program).find("critical path"), std::string::npos);
  program.planner.cost = {INT64_MIN, -1, -1, -1, -1};
  EXPECT_NE(explainProgram(program).find("critical path"), std::string::npos);
}

} // namespace

//===- HandmadeProgramTest.cpp - Instructions that templates do not use ---===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small bound programs written out by hand, run without the validator: they
// move data and attend to nothing.
//
//===----------------------------------------------------------------------===//
#include "ExecutorTestSupport.h"

#include <cmath>

using namespace sart;
using namespace sart::test;

namespace {

using Ints = std::vector<int64_t>;

class HandmadeProgram : public ::testing::Test {
protected:
  /// Two ranks, two heads, 16 tokens on each.
  HandmadeProgram() : placement(placementOf(2, 1, 2, 2, 32, 32)) {
    program.placement = placement;
    program.bound = true;
    program.mask = BlockMask(2, 2, 2);
    program.ranks.resize(2);
    auto add = [&](const char *name, DType dtype, int64_t elements,
                   Window::Role role) {
      program.windows.push_back({name, dtype, 2, 32, elements, role});
    };
    add("q_shard", DType::F32, 32, Window::Role::Input);   // 0
    add("k_shard", DType::F32, 32, Window::Role::Input);   // 1
    add("v_shard", DType::F32, 32, Window::Role::Input);   // 2
    add("o_shard", DType::F32, 32, Window::Role::Output);  // 3
    add("lse_shard", DType::F32, 1, Window::Role::Output); // 4
    add("box", DType::F32, 32, Window::Role::Internal);    // 5
    add("half", DType::BF16, 32, Window::Role::Internal);  // 6
    add("k", DType::F32, 32, Window::Role::Internal);      // 7
  }

  Instruction &add(size_t rank, Opcode opcode, std::vector<int32_t> windows,
                   std::vector<Ints> lists, int64_t peer = -1) {
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.phase = phase;
    instruction.windows = std::move(windows);
    for (Ints &list : lists)
      instruction.lists.push_back(Operand::immediate(std::move(list)));
    if (peer >= 0)
      instruction.peer = Operand::immediate({peer});
    program.ranks[rank].push_back(std::move(instruction));
    return program.ranks[rank].back();
  }

  /// Writes every o_shard and lse_shard row that the test does not.
  std::string run(int64_t timeoutMs = 60000) {
    ExecutorOptions options;
    options.validate = false;
    options.poison = true;
    options.timeoutMs = timeoutMs;
    auto executor = executorOf(program, options);
    return executor->run(data.shards(placement), {}, stats).message();
  }
  float qAt(int64_t head, int64_t token, int64_t d) const {
    return loadAsFloat(data.q.data(), DType::F32, (head * 32 + token) * 32 + d);
  }

  Placement placement;
  Program program;
  LayerData data{placement.shape, 81};
  RunStats stats;
  int32_t phase = 0;
};

} // namespace

TEST_F(HandmadeProgram, PutSignalAndPack) {
  for (size_t rank : {0, 1}) {
    auto peer = static_cast<int64_t>(1 - rank);
    add(rank, Opcode::Put, {0, 5}, {{0, 0, 16, 1, 0, 16}, {0, 0, 16, 1, 0, 16}},
        peer);
    add(rank, Opcode::Signal, {}, {}, peer);
    add(rank, Opcode::WaitSignal, {}, {}, peer);
    // Heads swap on the way out, in pieces of other sizes.
    add(rank, Opcode::Pack, {5, 3},
        {{1, 0, 5, 1, 5, 16, 0, 0, 16}, {0, 0, 16, 1, 0, 9, 1, 9, 16}});
  }
  EXPECT_EQ(run(), "");
  for (int64_t head = 0; head < 2; ++head)
    for (int64_t token = 0; token < 32; ++token)
      for (int64_t d = 0; d < 32; ++d)
        ASSERT_EQ(data.oAt(head, token, d),
                  qAt(1 - head, (token + 16) % 32, d));
  EXPECT_EQ(stats.bytesSent, (Ints{0, 2 * 16 * 128, 2 * 16 * 128, 0}));
  EXPECT_EQ(stats.bytesMoved, 2 * 2 * 16 * 128);
  EXPECT_TRUE(std::isnan(data.lse[0])) << "poisoned, and never written";
}

TEST_F(HandmadeProgram, SignalThatNeverComes) {
  add(1, Opcode::WaitSignal, {}, {}, 0);
  EXPECT_EQ(run(100), "rank 1 phase 0 instruction 0 (wait_signal): signal from "
                      "rank 0 not met in time: got nothing within 100 ms");
}

TEST_F(HandmadeProgram, ConvertRoundsToNearestEven) {
  for (size_t rank : {0, 1}) {
    add(rank, Opcode::Pack, {0, 5}, {{0, 0, 16}, {0, 0, 16}});
    add(rank, Opcode::Convert, {5, 6}, {{0, 2, 9}});
    add(rank, Opcode::Convert, {6, 3}, {{0, 2, 9}});
  }
  // Halfway cases, infinities, NaN, subnormal numbers.
  float special[] = {1.00390625f, 1.01171875f, -1.00390625f, 3.4e38f, INFINITY,
                     -INFINITY,   NAN,         1e-40f,       -0.0f,   1.5f};
  for (size_t i = 0; i < 10; ++i)
    storeFromFloat(data.q.data(), DType::F32, 2 * 32 + static_cast<int64_t>(i),
                   special[i]);
  EXPECT_EQ(run(), "");
  for (int64_t d = 0; d < 32; ++d) {
    float expected = bf16ToFloat(floatToBf16(qAt(0, 2, d)));
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(data.oAt(0, 2, d)));
    else
      EXPECT_EQ(data.oAt(0, 2, d), expected);
  }
  EXPECT_EQ(data.oAt(0, 2, 0), 1.0f);
  EXPECT_EQ(data.oAt(0, 2, 1), 1.015625f);
  EXPECT_TRUE(std::isnan(data.oAt(0, 1, 0))) << "row 1 was not asked for";
  EXPECT_TRUE(std::isnan(data.oAt(0, 9, 0)));
}

TEST_F(HandmadeProgram, ReleasedSlotsArePoisoned) {
  for (size_t rank : {0, 1}) {
    add(rank, Opcode::Pack, {0, 5},
        {{0, 0, 16, 1, 0, 16}, {0, 0, 16, 1, 0, 16}});
    add(rank, Opcode::Release, {5}, {{0}});
    add(rank, Opcode::Pack, {5, 3},
        {{0, 0, 16, 1, 0, 16}, {0, 0, 16, 1, 0, 16}});
  }
  EXPECT_EQ(run(), "");
  EXPECT_TRUE(std::isnan(data.oAt(0, 3, 3)));
  EXPECT_EQ(data.oAt(1, 3, 3), qAt(1, 3, 3));
}

TEST_F(HandmadeProgram, TransfersNobodyWaitsForAreWaitedForAtTheEnd) {
  Instruction &send = add(0, Opcode::Send, {0}, {{0, 0, 16}}, 1);
  send.token = 0;
  Instruction &recv = add(1, Opcode::Recv, {3}, {{1, 0, 16}}, 0);
  recv.token = 0;
  EXPECT_EQ(run(), "");
  for (int64_t d = 0; d < 32; ++d)
    EXPECT_EQ(data.oAt(1, 16 + 3, d), qAt(0, 3, d));
  // And their errors are errors of the run.
  program.ranks[1].clear();
  EXPECT_EQ(run(100), "rank 0 end of program: send to rank 1 not met in time: "
                      "got nothing within 100 ms, expected its receive of 2048 "
                      "bytes");
}

TEST_F(HandmadeProgram, TrafficIsSplitByDirection) {
  // The same program on a ring: the peer is in another segment.
  placement.mesh = {1, 2};
  program.placement = placement;
  Instruction &send = add(0, Opcode::Send, {1}, {{0, 0, 4}}, 1);
  send.token = 0;
  Instruction &recv = add(1, Opcode::Recv, {7}, {{0, 0, 4}}, 0);
  recv.token = 0;
  EXPECT_EQ(run(), "");
  EXPECT_EQ(stats.bytesRouted, 4 * 128);
  EXPECT_EQ(stats.bytesMoved, 0);
  EXPECT_EQ(stats.bytesExchange, 0);
}

TEST_F(HandmadeProgram, WindowsThatAreNoPayloadDoNotCount) {
  program.windows[5].dtype = DType::I32;
  Instruction &send = add(0, Opcode::Send, {5}, {{0, 0, 4}}, 1);
  send.token = 0;
  Instruction &recv = add(1, Opcode::Recv, {5}, {{0, 0, 4}}, 0);
  recv.token = 0;
  EXPECT_EQ(run(), "");
  EXPECT_EQ(stats.bytesSent, Ints(4, 0));
  ASSERT_EQ(stats.events.size(), 2u);
  EXPECT_EQ(stats.events[0].bytes + stats.events[1].bytes, 4 * 128);
}

//===- BindProgramTest.cpp - Templates to bound programs ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"
#include "sparseattn-rt/Binder.h"

using namespace sart;
using namespace sart::test;

namespace {

size_t countOf(const Program &program, Opcode opcode) {
  size_t count = 0;
  for (const std::vector<Instruction> &list : program.ranks)
    for (const Instruction &instruction : list)
      count += instruction.opcode == opcode;
  return count;
}

TEST(BindProgram, RoutingGoesAndTheMaskComes) {
  Program program = templateOf(makePlacement(2, 2, 4, 4, 128, 128));
  BlockMask mask = maskFor(program.placement, 0.5, 1);
  Program bound = *buildBound(program, mask);
  EXPECT_TRUE(bound.bound);
  EXPECT_EQ(bound.ranks.size(), 4u);
  EXPECT_TRUE(*bound.mask == mask);
  EXPECT_TRUE(bound.symbols.empty());
  for (Opcode opcode : {Opcode::Pool, Opcode::Route, Opcode::Plan,
                        Opcode::Augment, Opcode::AllGather})
    EXPECT_EQ(countOf(bound, opcode), 0u) << toString(opcode);
  EXPECT_EQ(countOf(bound, Opcode::LoadMask), 4u);
  // In place of route, with its work; phases without instructions close up.
  const Instruction &route = program.ranks[0][find(program, 0, Opcode::Route)];
  const Instruction &load = bound.ranks[3][find(bound, 3, Opcode::LoadMask)];
  EXPECT_EQ(route.phase, 3);
  EXPECT_EQ(load.phase, 1); // no pooling, no gather before
  EXPECT_EQ(load.lists[0].values,
            program.statics
                .values[3][static_cast<size_t>(program.findSymbol("route"))]);
  ASSERT_EQ(load.windows.size(), 1u);
  EXPECT_EQ(bound.windows[static_cast<size_t>(load.windows[0])].name, "mask");
}

TEST(BindProgram, UnusedWindowsGo) {
  Program bound =
      boundOf(makePlacement(2, 1, 4, 4, 64, 64), BlockMask::dense(4, 4, 4));
  for (const char *name : {"pooled_q", "pooled_k", "summary", "summary_all"})
    EXPECT_EQ(bound.findWindow(name), -1) << name;
  for (const char *name :
       {"q_shard", "o_shard", "lse_shard", "q", "k", "v", "mask", "o", "lse"})
    EXPECT_GE(bound.findWindow(name), 0) << name;
}

TEST(BindProgram, TransfersWithoutRowsGo) {
  // A dense mask is balanced: no head moves.
  Program bound =
      boundOf(makePlacement(2, 1, 4, 4, 64, 64), BlockMask::dense(4, 4, 4));
  for (Opcode opcode : {Opcode::Send, Opcode::Recv, Opcode::Wait})
    EXPECT_EQ(countOf(bound, opcode), 0u) << toString(opcode);
  // The attend of heads that came has no work on any rank.
  EXPECT_EQ(countOf(bound, Opcode::Attend), 2u);
}

TEST(BindProgram, WaitsKeepTheTokensThatExist) {
  Program bound = swapProgram();
  const Instruction &wait = bound.ranks[0][find(bound, 0, Opcode::Wait)];
  EXPECT_EQ(wait.waits, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  // Heads 0 and 1 share their kv head with the target of the move: q and mask
  // alone travel.
  Placement placement = makePlacement(2, 1, 4, 1, 64, 64);
  std::vector<std::vector<int32_t>> lists;
  for (int32_t head = 0; head < 4; ++head)
    for (int32_t row = 0; row < 4; ++row)
      lists.push_back(head < 2 ? std::vector<int32_t>{0, 1, 2, 3}
                               : std::vector<int32_t>{row});
  bound = boundOf(placement, *BlockMask::fromLists(4, 4, 4, lists));
  EXPECT_EQ(textOf(validateBound(bound)), "");
  EXPECT_EQ(countOf(bound, Opcode::Send), 4u);
  EXPECT_EQ(bound.ranks[0][find(bound, 0, Opcode::Wait)].waits,
            (std::vector<int32_t>{0, 3, 4, 7}));
}

TEST(BindProgram, CollectivesStayOnRanksWithoutWork) {
  // Two heads on eight ranks: six ranks own nothing and still take part.
  Program bound =
      boundOf(makePlacement(8, 1, 2, 2, 63, 63), BlockMask::dense(2, 4, 4));
  for (size_t rank = 0; rank < 8; ++rank) {
    size_t collectives = 0;
    for (const Instruction &instruction : bound.ranks[rank])
      collectives += instruction.opcode == Opcode::AllToAll;
    EXPECT_EQ(collectives, 5u) << rank;
  }
}

TEST(BindProgram, CollectivesWithoutRowsAnywhereGo) {
  Program bound = boundOf(makePlacement(2, 1, 2, 2, 0, 40), BlockMask(2, 0, 3));
  EXPECT_EQ(textOf(validateBound(bound)), "");
  // k and v alone are exchanged.
  EXPECT_EQ(countOf(bound, Opcode::AllToAll), 4u);
}

TEST(BindProgram, Errors) {
  Program program = templateOf(makePlacement(2, 1, 4, 4, 64, 64));
  BlockMask mask = BlockMask::dense(4, 4, 4);
  Binding binding = program.statics;
  auto message = [&](const Program &p, const Binding &b, const BlockMask &m) {
    return bindProgram(p, b, m).message();
  };
  EXPECT_EQ(message(program, binding, mask), "");
  EXPECT_EQ(
      message(swapProgram(), binding, mask),
      "program is bound already: got a bound program, expected a template");
  EXPECT_EQ(message(program, binding, BlockMask::dense(4, 4, 5)),
            "mask shape differs: got 4x4x5, expected 4x4x4");
  Binding few = binding;
  few.values.pop_back();
  EXPECT_EQ(message(program, few, mask),
            "number of ranks of the binding differs: got 1, expected 2");
  few = binding;
  few.values[1].pop_back();
  EXPECT_EQ(message(program, few, mask),
            "number of symbol values of rank 1 differs: got 36, expected 37");
  Program broken = program;
  broken.ranks.push_back({});
  EXPECT_EQ(
      message(broken, binding, mask),
      "number of instruction lists of a template differs: got 2, expected 1");
  broken = program;
  broken.placement.mesh.ring = 0;
  EXPECT_EQ(message(broken, binding, mask),
            "mesh axis ring out of range: got 0, expected 1 to 1024");
  broken = program;
  at(broken, 0, 3).windows.clear();
  EXPECT_EQ(message(broken, binding, mask),
            "operands of instruction 3 (pool) differ: got 0 windows and 2 "
            "lists, expected 2 and 2");
  broken = program;
  at(broken, 0, 3).windows[0] = 77;
  EXPECT_EQ(
      message(broken, binding, mask),
      "window of instruction 3 (pool) out of range: got 77, expected 0 to 14");
  broken = program;
  at(broken, 0, 3).lists[0].symbol = 77;
  EXPECT_EQ(message(broken, binding, mask),
            "symbol of instruction 3 (pool) is not declared: got an index "
            "beyond 37 symbols, expected a declared one");
}

} // namespace

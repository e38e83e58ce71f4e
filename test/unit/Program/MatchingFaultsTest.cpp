//===- MatchingFaultsTest.cpp - Transfers and collectives that do not meet ===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"

using namespace sart;
using namespace sart::test;

TEST(MatchingFaults, SendDropped) {
  Program p = swapProgram();
  drop(p, 0, find(p, 0, Opcode::Send, "q"));
  std::vector<int32_t> &waits = at(p, 0, find(p, 0, Opcode::Wait)).waits;
  waits.erase(waits.begin());
  expectFault(p, "[matching] rank 1 phase 3 instruction 8: recv has no send on "
                 "rank 0: got 3 for this pair, expected 4");
}

TEST(MatchingFaults, RecvDropped) {
  Program p = swapProgram();
  drop(p, 1, find(p, 1, Opcode::Recv, "mask"));
  std::vector<int32_t> &waits = at(p, 1, find(p, 1, Opcode::Wait)).waits;
  waits.erase(waits.begin() + 7);
  expectFault(p, "[matching] rank 0 phase 3 instruction 7: send has no recv on "
                 "rank 1: got 3 for this pair, expected 4");
}

TEST(MatchingFaults, SendResized) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send, "v")).lists[0].values[2] = 63;
  expectFault(
      p, "[matching] rank 0 phase 3 instruction 6: send size differs from its "
         "receive: got 8064 bytes, expected 8192 (instruction 10 of rank 1)");
}

TEST(MatchingFaults, RecvResized) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Recv, "q")).lists[0].values[1] = 32;
  expectFault(
      p, "[matching] rank 0 phase 3 instruction 4: send size differs from its "
         "receive: got 8192 bytes, expected 4096 (instruction 8 of rank 1)");
}

TEST(MatchingFaults, SendRetargeted) {
  Program p = swapProgram();
  // Three ranks, so that there is another peer.
  p = boundOf(makePlacement(3, 1, 3, 3, 48, 48), randomMask(3, 3, 3, 0.6, 3));
  ASSERT_EQ(textOf(validateBound(p)), "");
  Instruction send;
  send.opcode = Opcode::Send;
  send.phase = 9;
  send.windows = {p.findWindow("lse")};
  send.lists = {Operand::immediate({})};
  send.peer = Operand::immediate({2});
  send.token = 40;
  Instruction recv = send;
  recv.opcode = Opcode::Recv;
  recv.peer = Operand::immediate({0});
  Instruction wait;
  wait.opcode = Opcode::Wait;
  wait.phase = 9;
  wait.waits = {40};
  for (size_t rank : {0, 2}) {
    p.ranks[rank].push_back(rank == 0 ? send : recv);
    p.ranks[rank].push_back(wait);
  }
  ASSERT_EQ(textOf(validateBound(p)), "");
  p.ranks[0][p.ranks[0].size() - 2].peer.values[0] = 1;
  expectFault(p, "[matching] rank 0 phase 9 instruction 13: send has no recv "
                 "on rank 1: got 0 for this pair, expected 1");
}

TEST(MatchingFaults, SendsOfDifferentSizesSwapped) {
  Program p = swapProgram();
  size_t q = find(p, 0, Opcode::Send, "q"),
         mask = find(p, 0, Opcode::Send, "mask");
  std::swap(at(p, 0, q), at(p, 0, mask));
  expectFault(p, "[matching] rank 0 phase 3 instruction 4: send rows differ "
                 "from its receive: got i32 rows of 5, expected f32 rows of 32 "
                 "(instruction 8 of rank 1)");
}

TEST(MatchingFaults, RowsOfDifferentTypes) {
  Program p = swapProgram();
  // As many bytes, but of other numbers.
  Instruction &send = at(p, 0, find(p, 0, Opcode::Send, "mask"));
  send.windows[0] = p.findWindow("lse");
  send.lists[0].values = {0, 0, 20};
  expectFault(p, "[matching] rank 0 phase 3 instruction 7: send rows differ "
                 "from its receive: got f32 rows of 1, expected i32 rows of 5 "
                 "(instruction 11 of rank 1)");
}

TEST(MatchingFaults, PhasesDiffer) {
  Program p = swapProgram();
  for (size_t i = find(p, 1, Opcode::Recv, "mask"); i < p.ranks[1].size(); ++i)
    at(p, 1, i).phase += 1;
  expectFault(p,
              "[matching] rank 0 phase 3 instruction 7: send phase differs "
              "from its match: got 3, expected 4 (instruction 11 of rank 1)");
}

TEST(MatchingFaults, CollectiveSkipped) {
  Program p = swapProgram();
  drop(p, 1, find(p, 1, Opcode::AllToAll, "k_shard"));
  expectFault(p, "[collective] rank 1 phase 0 instruction 2: all_to_all "
                 "k_shard -> k in phase 0 of the ulysses group is not entered: "
                 "got 4 collectives on rank 1, expected 5 as on rank 0");
}

TEST(MatchingFaults, LastCollectiveSkipped) {
  Program p = swapProgram();
  drop(p, 1, find(p, 1, Opcode::AllToAll, "lse_shard"));
  expectFault(p, "[collective] rank 1 phase 5 instruction 24: all_to_all lse "
                 "-> lse_shard in phase 5 of the ulysses group is not entered: "
                 "got 4 collectives on rank 1, expected 5 as on rank 0");
}

TEST(MatchingFaults, CollectiveDoubled) {
  Program p = swapProgram();
  size_t i = find(p, 0, Opcode::AllToAll, "v");
  insert(p, 0, i, at(p, 0, i));
  expectFault(p, "[collective] rank 1 phase 2 instruction 17: all_to_all "
                 "v_shard -> v in phase 2 of the ulysses group is not entered: "
                 "got 5 collectives on rank 1, expected 6 as on rank 0");
}

TEST(MatchingFaults, CollectivesInOtherOrder) {
  Program p = swapProgram();
  std::swap(at(p, 1, 0), at(p, 1, 1));
  expectFault(
      p, "[collective] rank 1 phase 0 instruction 0: all_to_all differs from "
         "what rank 0 enters: got all_to_all k_shard -> k in phase 0, expected "
         "all_to_all q_shard -> q in phase 0 (instruction 0 of rank 0)");
}

TEST(MatchingFaults, CollectiveOfAnotherGroup) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::AllToAll, "v")).group = Group::All;
  expectFault(p, "[collective] rank 1 phase 2 instruction 25: all_to_all "
                 "v_shard -> v in phase 2 of the all group is not entered: got "
                 "0 collectives on rank 1, expected 1 as on rank 0");
}

TEST(MatchingFaults, PartsOfDifferentSize) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::AllToAll, "v")).lists[0].values[5] = 31;
  expectFault(p, "[collective] rank 1 phase 2 instruction 3: all_to_all part "
                 "from rank 0 differs in size: got 4096 bytes, expected 3968 "
                 "(instruction 3 of rank 0)");
}

TEST(MatchingFaults, PhaseWithCollectiveSkipped) {
  // Every rank of ring group 1 is alone in its Ulysses group and leaves out
  // the exchange of v.
  Program p = ringProgram();
  drop(p, 1, find(p, 1, Opcode::AllToAll, "v"));
  // Its own rows by a copy, in another phase.
  Instruction pack;
  pack.opcode = Opcode::Pack;
  pack.phase = 1;
  pack.windows = {p.findWindow("v_shard"), p.findWindow("v")};
  pack.lists = {Operand::immediate({0, 0, 32}),
                Operand::immediate({0, 32, 64})};
  insert(p, 1, 3, pack);
  expectFault(p,
              "[phase] rank 1 phase 2 instruction 4: phase with a collective "
              "is skipped: got no instruction in phase 2, expected one "
              "(all_to_all v_shard -> v in phase 2, instruction 3 of rank 0)");
}

TEST(MatchingFaults, GatherPartsOfDifferentSize) {
  Program p = swapProgram();
  Instruction gather;
  gather.opcode = Opcode::AllGather;
  gather.phase = 2;
  gather.windows = {p.findWindow("q"), p.findWindow("o")};
  gather.lists = {Operand::immediate({0, 0, 8}),
                  Operand::immediate({0, 0, 8, 0, 8, 16}),
                  Operand::immediate({1, 1})};
  for (size_t rank : {0, 1})
    insert(p, rank, 3, gather);
  ASSERT_EQ(textOf(validateBound(p)), "");
  at(p, 1, 3).lists[0].values[2] = 7;
  expectFault(p, "[collective] rank 0 phase 2 instruction 3: all_gather part "
                 "from rank 1 differs in size: got 1024 bytes, expected 896 "
                 "(instruction 3 of rank 1)");
}

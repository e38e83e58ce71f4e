//===- ProgressFaultsTest.cpp - Ranks that wait for ever ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"

using namespace sart;
using namespace sart::test;

TEST(ProgressFaults, WaitCycle) {
  Program p = swapProgram();
  // Both ranks wait for what they receive before they send.
  for (size_t rank : {0, 1}) {
    Instruction &wait = at(p, rank, find(p, rank, Opcode::Wait));
    Instruction early = wait;
    early.waits = {4, 5, 6, 7};
    wait.waits = {0, 1, 2, 3};
    std::vector<Instruction> &list = p.ranks[rank];
    std::rotate(list.begin() + 4, list.begin() + 8, list.begin() + 12);
    insert(p, rank, 8, early);
  }
  EXPECT_EQ(textOf(validateBound(p)),
            "[progress] rank 0 phase 3 instruction 8: wait never completes: "
            "got blocked on token 4, the send of rank 1, expected instruction "
            "9 there, but rank 1 is blocked at instruction 8 (wait)\n"
            "[progress] rank 1 phase 3 instruction 8: wait never completes: "
            "got blocked on token 4, the send of rank 0, expected instruction "
            "9 there, but rank 0 is blocked at instruction 8 (wait)\n");
  expectFault(
      p, "[progress] rank 0 phase 3 instruction 8: wait never completes: got "
         "blocked on token 4, the send of rank 1, expected instruction 9 "
         "there, but rank 1 is blocked at instruction 8 (wait)");
}

TEST(ProgressFaults, WaitBeforeCollective) {
  Program p = swapProgram();
  // Rank 0 waits for a receive that rank 1 posts after the return, which waits
  // for rank 0.
  Instruction send;
  send.opcode = Opcode::Send;
  send.phase = 5;
  send.windows = {p.findWindow("lse")};
  send.lists = {Operand::immediate({})};
  send.peer = Operand::immediate({1});
  send.token = 40;
  Instruction recv = send;
  recv.opcode = Opcode::Recv;
  recv.peer = Operand::immediate({0});
  Instruction wait;
  wait.opcode = Opcode::Wait;
  wait.phase = 5;
  wait.waits = {40};
  for (size_t rank : {0, 1}) {
    size_t i = find(p, rank, Opcode::AllToAll, "lse") + (rank == 0 ? 0 : 1);
    insert(p, rank, i, wait);
    insert(p, rank, i, rank == 0 ? send : recv);
  }
  EXPECT_EQ(textOf(validateBound(p)),
            "[progress] rank 0 phase 5 instruction 19: wait never completes: "
            "got blocked on token 40, the recv of rank 1, expected instruction "
            "19 there, but rank 1 is blocked at instruction 18 (all_to_all)\n"
            "[progress] rank 1 phase 5 instruction 18: all_to_all never "
            "completes: got blocked on rank 0 to enter, expected instruction "
            "20 there, but rank 0 is blocked at instruction 19 (wait)\n");
  expectFault(
      p, "[progress] rank 0 phase 5 instruction 19: wait never completes: got "
         "blocked on token 40, the recv of rank 1, expected instruction 19 "
         "there, but rank 1 is blocked at instruction 18 (all_to_all)");
}

TEST(ProgressFaults, CollectivesOfTwoGroupsCross) {
  Program p = swapProgram();
  p = boundOf(makePlacement(2, 2, 2, 2, 64, 64), randomMask(2, 4, 4, 0.6, 3));
  ASSERT_EQ(textOf(validateBound(p)), "");
  // An empty gather of all ranks and one of the ring: two orders.
  for (size_t rank = 0; rank < 4; ++rank)
    for (Group group : {Group::All, Group::Ring}) {
      Instruction gather;
      gather.opcode = Opcode::AllGather;
      gather.group = group;
      gather.phase = 0;
      gather.windows = {p.findWindow("q"), p.findWindow("o")};
      gather.lists = {Operand::immediate({}), Operand::immediate({}),
                      Operand::immediate(
                          std::vector<int64_t>(group == Group::All ? 4 : 2))};
      insert(p, rank, 0, gather);
    }
  ASSERT_EQ(textOf(validateBound(p)), "");
  std::swap(at(p, 2, 0), at(p, 2, 1));
  EXPECT_EQ(textOf(validateBound(p)),
            "[progress] rank 0 phase 0 instruction 0: all_gather never "
            "completes: got blocked on rank 2 to enter, expected instruction 1 "
            "there, but rank 2 is blocked at instruction 0 (all_gather)\n"
            "[progress] rank 1 phase 0 instruction 1: all_gather never "
            "completes: got blocked on rank 0 to enter, expected instruction 1 "
            "there, but rank 0 is blocked at instruction 0 (all_gather)\n"
            "[progress] rank 2 phase 0 instruction 0: all_gather never "
            "completes: got blocked on rank 0 to enter, expected instruction 1 "
            "there, but rank 0 is blocked at instruction 0 (all_gather)\n"
            "[progress] rank 3 phase 0 instruction 1: all_gather never "
            "completes: got blocked on rank 0 to enter, expected instruction 1 "
            "there, but rank 0 is blocked at instruction 0 (all_gather)\n");
  expectFault(p,
              "[progress] rank 0 phase 0 instruction 0: all_gather never "
              "completes: got blocked on rank 2 to enter, expected instruction "
              "1 there, but rank 2 is blocked at instruction 0 (all_gather)");
}

//===- RangeFaultsTest.cpp - List values, phases and tokens ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"

using namespace sart;
using namespace sart::test;

TEST(RangeFaults, SymbolInBoundProgram) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0] = Operand::ofSymbol(0);
  expectFault(p, "[range] rank 0 phase 3 instruction 12: attend list 0 is a "
                 "symbol: got symbol 0, expected values in a bound program");
}

TEST(RangeFaults, PeerMissing) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send)).peer.values.clear();
  expectFault(p, "[range] rank 0 phase 3 instruction 4: send number of peers "
                 "differs: got 0, expected 1");
}

TEST(RangeFaults, PeerOutOfRange) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send)).peer.values[0] = 2;
  expectFault(p, "[range] rank 0 phase 3 instruction 4: send peer out of "
                 "range: got 2, expected another rank of 0 to 1");
}

TEST(RangeFaults, PeerIsSelf) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send)).peer.values[0] = 0;
  expectFault(p, "[range] rank 0 phase 3 instruction 4: send peer out of "
                 "range: got 0, expected another rank of 0 to 1");
}

TEST(RangeFaults, ChunkNotWhole) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send)).lists[0].values.pop_back();
  expectFault(p, "[range] rank 0 phase 3 instruction 4: send length of list 0 "
                 "is not whole: got 2 integers, expected a multiple of 3");
}

TEST(RangeFaults, ChunkOutOfRange) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Recv)).lists[0].values[2] = 65;
  expectFault(p, "[range] rank 1 phase 3 instruction 8: recv chunk 0 of list 0 "
                 "out of range: got q[2] rows 0..65, expected slots 0 to 2 and "
                 "rows within 0..64");
}

TEST(RangeFaults, ChunkSlotOutOfRange) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Recv)).lists[0].values[0] = -1;
  expectFault(p, "[range] rank 1 phase 3 instruction 8: recv chunk 0 of list 0 "
                 "out of range: got q[-1] rows 0..64, expected slots 0 to 2 "
                 "and rows within 0..64");
}

TEST(RangeFaults, ChunkReversed) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Recv)).lists[0].values[1] = 70;
  expectFault(p, "[range] rank 1 phase 3 instruction 8: recv chunk 0 of list 0 "
                 "out of range: got q[2] rows 70..64, expected slots 0 to 2 "
                 "and rows within 0..64");
}

TEST(RangeFaults, CountsPerMember) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::AllToAll)).lists[1].values = {4};
  expectFault(
      p, "[range] rank 0 phase 0 instruction 0: all_to_all number of counts of "
         "list 1 differs: got 1, expected 2 members of the ulysses group");
}

TEST(RangeFaults, CountOutOfRange) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::AllToAll)).lists[3].values = {5, -1};
  expectFault(p, "[range] rank 0 phase 0 instruction 0: all_to_all count of "
                 "list 3 out of range: got 5, expected 0 to 4");
}

TEST(RangeFaults, CountsDoNotAddUp) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::AllToAll)).lists[1].values = {2, 1};
  expectFault(p, "[range] rank 0 phase 0 instruction 0: all_to_all counts of "
                 "list 1 do not add up: got 3 chunks, expected 4");
}

TEST(RangeFaults, SlotOutOfRange) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Release)).lists[0].values = {3};
  expectFault(p, "[range] rank 0 phase 3 instruction 14: release slot out of "
                 "range: got q[3], expected 0 to 2");
}

TEST(RangeFaults, WorkHead) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values[0] = 4;
  expectFault(p, "[range] rank 0 phase 3 instruction 12: attend head of work "
                 "entry 0 out of range: got 4, expected 0 to 3");
}

TEST(RangeFaults, WorkQBlocks) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values[4] = 5;
  expectFault(p, "[range] rank 0 phase 3 instruction 12: attend q-blocks of "
                 "work entry 0 out of range: got 0..5, expected within 0..4");
}

TEST(RangeFaults, WorkKvBlocks) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values[5] = 5;
  expectFault(p, "[range] rank 0 phase 3 instruction 12: attend kv-blocks of "
                 "work entry 0 out of range: got 5..4, expected within 0..4");
}

TEST(RangeFaults, WorkSlot) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values[1] = 3;
  expectFault(p, "[range] rank 0 phase 3 instruction 12: attend rows of work "
                 "entry 0 out of range: got q[3] rows 0..64, expected slots 0 "
                 "to 2 and rows within 0..64");
}

TEST(RangeFaults, WorkKvSlot) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values[2] = 2;
  expectFault(p, "[range] rank 0 phase 3 instruction 12: attend rows of work "
                 "entry 0 out of range: got k[2] rows 0..64, expected slots 0 "
                 "to 1 and rows within 0..64");
}

TEST(RangeFaults, WorkBudget) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values[7] = -1;
  expectFault(p, "[range] rank 0 phase 3 instruction 12: attend budget of work "
                 "entry 0 out of range: got -1, expected at least 0");
}

TEST(RangeFaults, PackRowsDiffer) {
  Program p = swapProgram();
  Instruction pack;
  pack.opcode = Opcode::Pack;
  pack.windows = {p.findWindow("q"), p.findWindow("o")};
  pack.lists = {Operand::immediate({0, 0, 16}), Operand::immediate({0, 0, 8})};
  insert(p, 0, 3, pack);
  at(p, 0, 3).phase = 2;
  expectFault(p, "[range] rank 0 phase 2 instruction 3: pack rows of the chunk "
                 "lists differ: got 8 rows written, expected 16");
}

TEST(RangeFaults, PhaseDescends) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::LoadMask)).phase = 6;
  expectFault(p, "[phase] rank 0 phase 2 instruction 3: all_to_all phase does "
                 "not ascend: got 2, expected at least 6");
}

TEST(RangeFaults, PhaseNegative) {
  Program p = swapProgram();
  at(p, 0, 0).phase = -1;
  expectFault(p, "[phase] rank 0 instruction 0: all_to_all phase does not "
                 "ascend: got -1, expected at least 0");
}

TEST(RangeFaults, TokenDefinedTwice) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send, "k")).token = 0;
  expectFault(p, "[token] rank 0 phase 3 instruction 5: send token is defined "
                 "twice: got 0 of instruction 4, expected a new one");
}

TEST(RangeFaults, TokenNotDefined) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Wait)).waits[0] = 17;
  expectFault(p,
              "[token] rank 0 phase 3 instruction 13: wait token is not "
              "defined: got 17, expected a token of an earlier send or recv");
}

TEST(RangeFaults, WaitBeforeItsSend) {
  Program p = swapProgram();
  Instruction wait = at(p, 0, find(p, 0, Opcode::Wait));
  drop(p, 0, find(p, 0, Opcode::Wait));
  insert(p, 0, find(p, 0, Opcode::Recv), wait);
  expectFault(p, "[token] rank 0 phase 3 instruction 8: wait token is not "
                 "defined: got 4, expected a token of an earlier send or recv");
}

TEST(RangeFaults, TokenAwaitedTwice) {
  Program p = swapProgram();
  size_t wait = find(p, 0, Opcode::Wait);
  insert(p, 0, wait, at(p, 0, wait));
  expectFault(p, "[token] rank 0 phase 3 instruction 14: wait token is awaited "
                 "twice: got 0 of instruction 4, expected one wait");
}

TEST(RangeFaults, TokenNeverAwaited) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Wait))
      .waits.erase(at(p, 0, find(p, 0, Opcode::Wait)).waits.begin() + 5);
  expectFault(p, "[token] rank 0 phase 3 instruction 9: recv token is never "
                 "awaited: got 5 open at the end, expected a wait");
}

TEST(RangeFaults, WaitForgotten) {
  Program p = swapProgram();
  drop(p, 0, find(p, 0, Opcode::Wait));
  expectFault(p, "[token] rank 0 phase 3 instruction 4: send token is never "
                 "awaited: got 0 open at the end, expected a wait");
}

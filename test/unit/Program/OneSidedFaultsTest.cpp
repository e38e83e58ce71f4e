//===- OneSidedFaultsTest.cpp - Puts and signals --------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OneSidedPrograms.h"

using namespace sart;
using namespace sart::test;

namespace {

TEST(OneSidedFaults, ValidPrograms) {
  EXPECT_EQ(textOf(validateBound(putProgram())), "");
  EXPECT_EQ(textOf(validateBound(stagedProgram(true))), "");
}

TEST(OneSidedFaults, PutWithoutSignal) {
  Program p = putProgram();
  drop(p, 1, find(p, 1, Opcode::Signal));
  drop(p, 0, find(p, 0, Opcode::WaitSignal));
  expectFault(p, "[signal] rank 1 phase 3 instruction 5: put is not followed "
                 "by a signal: got none to rank 0, expected one");
}

TEST(OneSidedFaults, SignalWithoutWait) {
  Program p = putProgram();
  drop(p, 0, find(p, 0, Opcode::WaitSignal));
  expectFault(p, "[signal] rank 1 phase 3 instruction 6: signal has no "
                 "wait_signal on rank 0: got 0 for this pair, expected 1");
}

TEST(OneSidedFaults, WaitWithoutSignal) {
  Program p = putProgram();
  drop(p, 1, find(p, 1, Opcode::Signal));
  expectFault(p, "[signal] rank 0 phase 4 instruction 8: wait_signal has no "
                 "signal on rank 1: got 0 for this pair, expected 1");
}

TEST(OneSidedFaults, SignalBeforeThePut) {
  Program p = putProgram();
  size_t signal = find(p, 1, Opcode::Signal);
  std::swap(at(p, 1, signal), at(p, 1, find(p, 1, Opcode::Put, "v")));
  expectFault(p, "[signal] rank 1 phase 3 instruction 6: put is not followed "
                 "by a signal: got none to rank 0, expected one");
}

TEST(OneSidedFaults, ReadBeforeTheWait) {
  Program p = putProgram();
  std::swap(at(p, 0, find(p, 0, Opcode::WaitSignal)),
            at(p, 0, find(p, 0, Opcode::Attend, "o_part")));
  expectFault(p,
              "[lifetime] rank 0 phase 4 instruction 8: attend reads kv-block "
              "3 of head 0 q-blocks 0..2 in k[0] before it is written: got "
              "rows 48..64 not all written, expected every selected block");
}

TEST(OneSidedFaults, PutOverWrittenRows) {
  Program p = putProgram();
  at(p, 1, find(p, 1, Opcode::Put, "k")).lists[1].values = {0, 0, 16};
  expectFault(p, "[lifetime] rank 1 phase 3 instruction 4: put writes k[0] "
                 "rows 0..16 of rank 0 that are written already: got rows "
                 "0..32 written, expected a release before");
}

TEST(OneSidedFaults, PutsOfDifferentSize) {
  Program p = putProgram();
  at(p, 1, find(p, 1, Opcode::Put, "k")).lists[1].values = {0, 48, 63};
  expectFault(p, "[range] rank 1 phase 3 instruction 4: put rows of the chunk "
                 "lists differ: got 15 rows written, expected 16");
}

TEST(OneSidedFaults, SourceReleasedBeforeTheSignal) {
  Program p = putProgram();
  Instruction release;
  release.opcode = Opcode::Release;
  release.phase = 3;
  release.windows = {p.findWindow("k")};
  release.lists = {Operand::immediate({0})};
  insert(p, 1, find(p, 1, Opcode::Put, "v"), release);
  expectFault(p, "[lifetime] rank 1 phase 3 instruction 5: release of k[0] "
                 "while it is sent: got rows 48..64 in transit (instruction 4 "
                 "of rank 1), expected a signal before");
}

TEST(OneSidedFaults, StageReleasedWhileDataMayArrive) {
  Program p = stagedProgram(true);
  size_t wait = find(p, 0, Opcode::WaitSignal);
  std::swap(at(p, 0, wait), at(p, 0, wait + 1));
  expectFault(p, "[lifetime] rank 0 phase 11 instruction 24: release of "
                 "stage[0] while data may arrive: got rows 0..16 in transit "
                 "(instruction 24 of rank 1), expected a wait_signal before");
}

TEST(OneSidedFaults, StageFilledAgainWithoutAReply) {
  EXPECT_EQ(
      textOf(validateBound(stagedProgram(false))),
      "[lifetime] rank 1 phase 11 instruction 26: put writes stage[0] rows "
      "0..16 of rank 0 that other data may reach: got rows 0..16 in transit "
      "(instruction 24 of rank 1), expected them complete and released before\n"
      "[signal] rank 1 phase 11 instruction 27: signal raises a flag that may "
      "be raised: got the signal of instruction 25 not known to be cleared, "
      "expected news from rank 0 after its instruction 24\n");
}

TEST(OneSidedFaults, StageNotKnownToBeFree) {
  // The reply comes before the release, which nothing orders with the put.
  Program p = stagedProgram(true);
  size_t release = find(p, 0, Opcode::Release, "stage");
  std::swap(at(p, 0, release), at(p, 0, release + 1));
  expectFault(
      p, "[lifetime] rank 1 phase 11 instruction 27: put into stage[0] rows "
         "0..16 of rank 0 that may not be free: got a release at instruction "
         "26 of rank 0 unordered with the put, expected a signal after it");
}

TEST(OneSidedFaults, FlagRaisedAgainBeforeItIsCleared) {
  Program p = stagedProgram(true);
  // Signals without puts: the reply comes before the flag is cleared.
  for (size_t rank : {0, 1})
    for (size_t i = p.ranks[rank].size(); i-- > 0;)
      if (at(p, rank, i).phase == 11 &&
          (at(p, rank, i).opcode == Opcode::Put ||
           (at(p, rank, i).opcode == Opcode::Release &&
            at(p, rank, i).windows[0] == p.findWindow("stage"))))
        drop(p, rank, i);
  ASSERT_EQ(textOf(validateBound(p)), "");
  size_t reply = find(p, 0, Opcode::Signal);
  std::swap(at(p, 0, reply), at(p, 0, reply - 1));
  expectFault(
      p, "[signal] rank 1 phase 11 instruction 26: signal raises a flag that "
         "may be raised: got the signal of instruction 24 not known to be "
         "cleared, expected news from rank 0 after its instruction 25");
}

TEST(OneSidedFaults, SignalsWaitForEachOther) {
  Program p = putProgram();
  for (size_t rank : {0, 1}) {
    Instruction wait = at(p, rank, find(p, rank, Opcode::WaitSignal));
    Instruction signal = at(p, rank, find(p, rank, Opcode::Signal));
    drop(p, rank, find(p, rank, Opcode::Signal));
    signal.phase = wait.phase;
    insert(p, rank, find(p, rank, Opcode::WaitSignal) + 1, signal);
  }
  EXPECT_EQ(
      textOf(validateBound(p)),
      "[progress] rank 0 phase 4 instruction 7: wait_signal never completes: "
      "got blocked on the signal of rank 1, expected instruction 8 there, but "
      "rank 1 is blocked at instruction 7 (wait_signal)\n"
      "[progress] rank 1 phase 4 instruction 7: wait_signal never completes: "
      "got blocked on the signal of rank 0, expected instruction 8 there, but "
      "rank 0 is blocked at instruction 7 (wait_signal)\n");
}

} // namespace

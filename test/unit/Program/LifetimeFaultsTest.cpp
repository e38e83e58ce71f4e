//===- LifetimeFaultsTest.cpp - Rows written, read and released at a wrong time
//===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"

using namespace sart;
using namespace sart::test;

TEST(LifetimeFaults, ReadsBeforeWritten) {
  Program p = swapProgram();
  size_t load = find(p, 0, Opcode::LoadMask);
  drop(p, 0, load);
  expectFault(p, "[lifetime] rank 0 phase 3 instruction 6: send reads mask[0] "
                 "rows 0..4 before they are written: got rows 0..4 unwritten, "
                 "expected all of them written");
}

TEST(LifetimeFaults, AttendBeforeWait) {
  Program p = swapProgram();
  std::swap(at(p, 0, find(p, 0, Opcode::Wait)),
            at(p, 0, find(p, 0, Opcode::Attend, "", 1)));
  at(p, 0, 13).phase = 3;
  expectFault(p, "[lifetime] rank 0 phase 3 instruction 13: attend reads q[2] "
                 "rows 0..64 while they are received: got rows 0..64 in "
                 "transit (instruction 8 of rank 0), expected a wait before");
}

TEST(LifetimeFaults, SendsRowsInTransit) {
  Program p = swapProgram();
  size_t recv = find(p, 1, Opcode::Recv, "q");
  // Rank 1 passes on what it has not received yet.
  at(p, 1, find(p, 1, Opcode::Send, "mask")).lists[0].values[0] = 2;
  Instruction send = at(p, 1, find(p, 1, Opcode::Send, "mask"));
  drop(p, 1, find(p, 1, Opcode::Send, "mask"));
  insert(p, 1, find(p, 1, Opcode::Recv, "mask") + 1, send);
  EXPECT_EQ(recv, find(p, 1, Opcode::Recv, "q") + 1);
  expectFault(p, "[lifetime] rank 1 phase 3 instruction 11: send reads mask[2] "
                 "rows 0..4 while they are received: got rows 0..4 in transit "
                 "(instruction 10 of rank 1), expected a wait before");
}

TEST(LifetimeFaults, WritesTwice) {
  Program p = swapProgram();
  size_t attend = find(p, 1, Opcode::Attend);
  insert(p, 1, attend, at(p, 1, attend));
  expectFault(p, "[lifetime] rank 1 phase 3 instruction 13: attend writes o[1] "
                 "rows 0..64 that are written already: got rows 0..64 written, "
                 "expected a release before");
}

TEST(LifetimeFaults, AttendEntryDoubled) {
  Program p = swapProgram();
  std::vector<int64_t> &work =
      at(p, 1, find(p, 1, Opcode::Attend)).lists[0].values;
  std::vector<int64_t> twice = work;
  work.insert(work.end(), twice.begin(), twice.end());
  expectFault(p, "[lifetime] rank 1 phase 3 instruction 12: attend writes o[1] "
                 "rows 0..64 that are written already: got rows 0..64 written, "
                 "expected a release before");
}

TEST(LifetimeFaults, ReceivesIntoWrittenRows) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Recv, "q")).lists[0].values[0] = 1;
  expectFault(p, "[lifetime] rank 0 phase 3 instruction 8: recv writes q[1] "
                 "rows 0..64 that are written already: got rows 0..64 written, "
                 "expected a release before");
}

TEST(LifetimeFaults, OverlappingReceives) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Recv, "v")).windows[0] = p.findWindow("k");
  expectFault(
      p,
      "[lifetime] rank 0 phase 3 instruction 10: recv writes k[1] rows 0..64 "
      "that other data may reach: got rows 0..64 in transit (instruction 9 of "
      "rank 0), expected them complete and released before");
}

TEST(LifetimeFaults, CollectiveWritesTwice) {
  Program p = swapProgram();
  // Two members write the same rows.
  at(p, 0, 0).lists[2].values[7] = 16;
  at(p, 0, 0).lists[2].values[8] = 48;
  expectFault(p, "[lifetime] rank 0 phase 0 instruction 0: all_to_all writes "
                 "q[0] rows 16..48 that are written already: got rows 0..32 "
                 "written, expected a release before");
}

TEST(LifetimeFaults, ReleasedWhileSent) {
  Program p = swapProgram();
  size_t release = find(p, 0, Opcode::Release, "q"),
         wait = find(p, 0, Opcode::Wait);
  std::swap(at(p, 0, release), at(p, 0, wait));
  expectFault(p, "[lifetime] rank 0 phase 3 instruction 13: release of q[0] "
                 "while it is sent: got rows 0..64 in transit (instruction 4 "
                 "of rank 0), expected a wait before");
}

TEST(LifetimeFaults, ReleasedWhileReceived) {
  Program p = swapProgram();
  size_t release = find(p, 0, Opcode::Release, "q"),
         wait = find(p, 0, Opcode::Wait);
  at(p, 0, release).lists[0].values = {2};
  std::swap(at(p, 0, release), at(p, 0, wait));
  expectFault(p, "[lifetime] rank 0 phase 3 instruction 13: release of q[2] "
                 "while data may arrive: got rows 0..64 in transit "
                 "(instruction 8 of rank 0), expected a wait before");
}

TEST(LifetimeFaults, ReleasedBeforeRead) {
  Program p = swapProgram();
  size_t release = find(p, 0, Opcode::Release, "q");
  at(p, 0, release).lists[0].values = {2};
  expectFault(p, "[lifetime] rank 0 phase 4 instruction 16: attend reads q[2] "
                 "rows 0..64 before they are written: got rows 0..64 "
                 "unwritten, expected all of them written");
}

TEST(LifetimeFaults, ReleasedBeforeReturn) {
  Program p = swapProgram();
  size_t release = find(p, 0, Opcode::Release, "o");
  Instruction early = at(p, 0, release);
  drop(p, 0, release);
  early.phase = 5;
  insert(p, 0, find(p, 0, Opcode::AllToAll, "o_shard"), early);
  expectFault(p, "[lifetime] rank 0 phase 5 instruction 18: all_to_all reads "
                 "o[1] rows 0..32 before they are written: got rows 0..32 "
                 "unwritten, expected all of them written");
}

TEST(LifetimeFaults, PartialResultNotReleased) {
  Program p =
      boundOf(makePlacement(1, 3, 1, 1, 96, 96), BlockMask::dense(1, 6, 6));
  ASSERT_EQ(textOf(validateBound(p)), "");
  drop(p, 2, find(p, 2, Opcode::Release, "o_part"));
  expectFault(p, "[lifetime] rank 2 phase 5 instruction 18: attend writes "
                 "o_part[0] rows 0..32 that are written already: got rows "
                 "0..32 written, expected a release before");
}

TEST(LifetimeFaults, MergeWhileSent) {
  Program p = ringProgram();
  size_t merge = find(p, 0, Opcode::Merge);
  for (size_t rank : {0, 1}) {
    Instruction send;
    send.opcode = rank == 0 ? Opcode::Send : Opcode::Recv;
    send.phase = 4;
    send.windows = {p.findWindow(rank == 0 ? "o_acc" : "o_part")};
    send.lists = {Operand::immediate({0, 0, 16})};
    send.peer = Operand::immediate({rank == 0 ? 1 : 0});
    send.token = 9;
    Instruction wait;
    wait.opcode = Opcode::Wait;
    wait.phase = 4;
    wait.waits = {9};
    insert(p, rank, rank == 0 ? merge : merge + 3, send);
    insert(p, rank, rank == 0 ? merge + 2 : merge + 4, wait);
  }
  expectFault(p, "[lifetime] rank 0 phase 4 instruction 12: merge changes "
                 "o_acc[0] while it is sent: got rows 0..16 in transit "
                 "(instruction 11 of rank 0), expected a wait before");
}

TEST(LifetimeFaults, KvBlockDropped) {
  Program p = ringProgram();
  for (size_t rank : {0, 1})
    for (const char *window : {"k", "v"}) {
      if (rank == 0)
        at(p, 0, find(p, 0, Opcode::Recv, window)).lists[0].values.clear();
      else
        at(p, 1, find(p, 1, Opcode::Send, window)).lists[0].values.clear();
    }
  expectFault(p,
              "[lifetime] rank 0 phase 4 instruction 10: attend reads kv-block "
              "3 of head 0 q-blocks 0..2 in k[0] before it is written: got "
              "rows 48..64 not all written, expected every selected block");
}

TEST(LifetimeFaults, KvBlockShort) {
  Program p = ringProgram();
  at(p, 0, find(p, 0, Opcode::Recv, "v")).lists[0].values[2] = 63;
  at(p, 1, find(p, 1, Opcode::Send, "v")).lists[0].values[2] = 63;
  expectFault(p,
              "[lifetime] rank 0 phase 4 instruction 10: attend reads kv-block "
              "3 of head 0 q-blocks 0..2 in v[0] before it is written: got "
              "rows 48..64 not all written, expected every selected block");
}

TEST(LifetimeFaults, AttendRemoteBeforeWait) {
  Program p = ringProgram();
  std::swap(at(p, 1, find(p, 1, Opcode::Wait)),
            at(p, 1, find(p, 1, Opcode::Attend, "o_part")));
  expectFault(
      p, "[lifetime] rank 1 phase 4 instruction 9: attend reads kv-block 0 of "
         "head 0 q-blocks 2..4 in k[0] while data may arrive: got rows 0..16 "
         "in transit (instruction 6 of rank 1), expected a wait before");
}

TEST(LifetimeFaults, OutputNotCovered) {
  Program p = swapProgram();
  // Rank 0 hands itself one row less.
  Instruction &back = at(p, 0, find(p, 0, Opcode::AllToAll, "o_shard"));
  back.lists[0].values[2] = back.lists[2].values[2] = 31;
  expectFault(
      p, "[output] rank 0 phase 5 instruction 17: output o_shard[1] rows 0..32 "
         "is not written completely: got rows 0..31, expected rows 0..32");
}

TEST(LifetimeFaults, OutputHeadLost) {
  Program p = swapProgram();
  // Head 1 stays behind.
  Instruction &send = at(p, 0, find(p, 0, Opcode::AllToAll, "lse_shard"));
  for (size_t l : {0, 2})
    send.lists[l].values.erase(send.lists[l].values.begin(),
                               send.lists[l].values.begin() + 3);
  send.lists[1].values = send.lists[3].values = {1, 2};
  expectFault(
      p, "[output] rank 0 phase 6 instruction 24: output lse_shard[1] rows "
         "0..32 is not written completely: got rows 0..0, expected rows 0..32");
}

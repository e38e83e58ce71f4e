//===- StructureFaultsTest.cpp - Headers, operands and ranges -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"

using namespace sart;
using namespace sart::test;

TEST(StructureFaults, Placement) {
  Program p = swapProgram();
  p.placement.mesh.ulysses = 0;
  expectFault(p, "[header] program: mesh axis ulysses out of range: got 0, "
                 "expected 1 to 1024");
}

TEST(StructureFaults, InstructionLists) {
  Program p = swapProgram();
  p.ranks.pop_back();
  expectFault(p, "[header] program: number of instruction lists differs: got "
                 "1, expected 2");
}

TEST(StructureFaults, MaskMissing) {
  Program p = swapProgram();
  p.mask.reset();
  expectFault(p, "[header] program: mask of a bound program is missing: got "
                 "none, expected one");
}

TEST(StructureFaults, MaskShape) {
  Program p = swapProgram();
  p.mask = BlockMask(4, 4, 5);
  expectFault(
      p, "[header] program: mask shape differs: got 4x4x5, expected 4x4x4");
}

TEST(StructureFaults, WindowNamedTwice) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("k"))].name = "q";
  expectFault(p, "[header] program: name of a window is not unique: got q at "
                 "least twice, expected once");
}

TEST(StructureFaults, WindowWithoutName) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("lse"))].name = "";
  expectFault(p, "[header] program: name of window 10 is empty: got \"\", "
                 "expected a name");
}

TEST(StructureFaults, WindowTooLarge) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("q"))].rows = int64_t(1) << 60;
  expectFault(p, "[header] program: size of window q out of range: got "
                 "3x1152921504606846976x32, expected 1 to 4194304 slots and at "
                 "most 70368744177664 bytes");
}

TEST(StructureFaults, UnknownInput) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("q"))].role = Window::Role::Input;
  expectFault(p, "[header] program: input window q aliases no tensor: got "
                 "input q, expected inputs q_shard, k_shard, v_shard and "
                 "outputs o_shard, lse_shard");
}

TEST(StructureFaults, OutputMissing) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("o_shard"))].role =
      Window::Role::Internal;
  expectFault(p, "[header] program: output window o_shard is missing: got "
                 "none, expected one");
}

TEST(StructureFaults, InputShape) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("k_shard"))].slots = 4;
  expectFault(p, "[header] program: shape of window k_shard does not fit the "
                 "layer: got 4x32x32, expected 2x32x32");
}

TEST(StructureFaults, InputDType) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("v_shard"))].dtype = DType::F16;
  expectFault(p, "[header] program: dtype of window v_shard does not fit the "
                 "layer: got f16, expected f32");
}

TEST(StructureFaults, OutputDType) {
  Program p = swapProgram();
  p.windows[static_cast<size_t>(p.findWindow("lse_shard"))].dtype = DType::BF16;
  expectFault(p, "[header] program: dtype of window lse_shard does not fit the "
                 "layer: got bf16, expected f32");
}

TEST(StructureFaults, NotBound) {
  Program p = templateOf(makePlacement(2, 1, 4, 2, 64, 64));
  EXPECT_EQ(textOf(validateBound(p)), "[header] program: program is not bound: "
                                      "got a template, expected a bound "
                                      "program\n");
  EXPECT_EQ(textOf(validateTemplate(swapProgram())),
            "[header] program: program is bound: got a bound program, expected "
            "a template\n");
  p.ranks.clear();
  expectFault(p, "[header] program: number of instruction lists differs: got "
                 "0, expected 1");
}

TEST(StructureFaults, RoutingInBoundProgram) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::LoadMask)).opcode = Opcode::Route;
  expectFault(p, "[structure] rank 1 phase 1 instruction 2: route is not "
                 "allowed in a bound program: got routing, expected a mask");
}

TEST(StructureFaults, NumberOfWindows) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send)).windows.push_back(0);
  expectFault(p,
              "[structure] rank 0 phase 3 instruction 4: send number of "
              "operands differs: got 2 windows and 1 lists, expected 1 and 1");
}

TEST(StructureFaults, NumberOfLists) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists.clear();
  expectFault(p,
              "[structure] rank 0 phase 3 instruction 12: attend number of "
              "operands differs: got 6 windows and 0 lists, expected 6 and 1");
}

TEST(StructureFaults, WindowIndex) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Recv)).windows[0] = 99;
  expectFault(p, "[structure] rank 1 phase 3 instruction 8: recv window out of "
                 "range: got 99, expected 0 to 10");
}

TEST(StructureFaults, PeerNotAllowed) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).peer = Operand::immediate({1});
  expectFault(p, "[structure] rank 0 phase 3 instruction 12: attend peer is "
                 "not allowed: got one, expected none");
}

TEST(StructureFaults, CollectiveWithPeer) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::AllToAll)).peer = Operand::immediate({1});
  expectFault(p, "[structure] rank 0 phase 0 instruction 0: all_to_all "
                 "collective depends on a peer: got a peer, expected none");
}

TEST(StructureFaults, TokenMissing) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send)).token = -1;
  expectFault(p, "[token] rank 0 phase 3 instruction 4: send token out of "
                 "range: got -1, expected 0 to 65535");
}

TEST(StructureFaults, TokenNotAllowed) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Release)).token = 3;
  expectFault(p, "[token] rank 0 phase 3 instruction 14: release token out of "
                 "range: got 3, expected -1");
}

TEST(StructureFaults, TokenTooLarge) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send)).token = 1 << 30;
  expectFault(p, "[token] rank 0 phase 3 instruction 4: send token out of "
                 "range: got 1073741824, expected 0 to 65535");
}

TEST(StructureFaults, WaitsNotAllowed) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Release)).waits = {3};
  expectFault(p, "[structure] rank 0 phase 3 instruction 14: release awaited "
                 "tokens are not allowed: got 1, expected 0");
}

TEST(StructureFaults, OperandDType) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).windows[4] = p.findWindow("mask");
  expectFault(p, "[structure] rank 0 phase 3 instruction 12: attend rows of "
                 "window mask do not fit operand 4: got i32 rows of 5, "
                 "expected f32, bf16 or f16 rows of 32");
}

TEST(StructureFaults, AttendInputDType) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).windows[0] = p.findWindow("lse");
  expectFault(
      p, "[structure] rank 0 phase 3 instruction 12: attend rows of window lse "
         "do not fit operand 0: got f32 rows of 1, expected f32 rows of 32");
}

TEST(StructureFaults, CopyBetweenUnlikeRows) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::AllToAll)).windows[1] = p.findWindow("lse");
  expectFault(p, "[structure] rank 0 phase 0 instruction 0: all_to_all rows of "
                 "window lse differ from those of q_shard: got f32 rows of 1, "
                 "expected f32 rows of 32");
}

TEST(StructureFaults, WritesInput) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Recv)).windows[0] = p.findWindow("q_shard");
  expectFault(
      p, "[structure] rank 1 phase 3 instruction 8: recv window q_shard is "
         "written: got an input, expected an internal or output window");
}

TEST(StructureFaults, SameWindowTwice) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Attend)).windows[4] = p.findWindow("q");
  expectFault(p,
              "[structure] rank 1 phase 3 instruction 12: attend window q is "
              "used twice: got operands 0 and 4, expected different windows");
}

TEST(StructureFaults, ReleasesOutput) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Release)).windows[0] = p.findWindow("o_shard");
  expectFault(
      p, "[structure] rank 1 phase 3 instruction 14: release window o_shard is "
         "released: got an output, expected an internal window");
}

TEST(StructureFaults, MergeOfUnlikeWindows) {
  Program p = ringProgram();
  p.windows.push_back({"o_small", DType::F32, 2, 16, 32});
  at(p, 0, find(p, 0, Opcode::Merge)).windows[0] = p.findWindow("o_small");
  expectFault(p,
              "[structure] rank 0 phase 4 instruction 11: merge size of window "
              "lse_part differs from that of o_small: got 2x32, expected 2x16");
}

TEST(StructureFaults, SymbolInBoundProgram) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0] = Operand::ofSymbol(0);
  expectFault(p, "[range] rank 0 phase 3 instruction 12: attend list 0 is a "
                 "symbol: got symbol 0, expected values in a bound program");
}

TEST(StructureFaults, PeerMissing) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send)).peer.values.clear();
  expectFault(p, "[range] rank 0 phase 3 instruction 4: send number of peers "
                 "differs: got 0, expected 1");
}

TEST(StructureFaults, PeerOutOfRange) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send)).peer.values[0] = 2;
  expectFault(p, "[range] rank 0 phase 3 instruction 4: send peer out of "
                 "range: got 2, expected another rank of 0 to 1");
}

TEST(StructureFaults, PeerIsSelf) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send)).peer.values[0] = 0;
  expectFault(p, "[range] rank 0 phase 3 instruction 4: send peer out of "
                 "range: got 0, expected another rank of 0 to 1");
}

TEST(StructureFaults, ChunkNotWhole) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send)).lists[0].values.pop_back();
  expectFault(p, "[range] rank 0 phase 3 instruction 4: send length of list 0 "
                 "is not whole: got 2 integers, expected a multiple of 3");
}

TEST(StructureFaults, ChunkOutOfRange) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Recv)).lists[0].values[2] = 65;
  expectFault(p, "[range] rank 1 phase 3 instruction 8: recv chunk 0 of list 0 "
                 "out of range: got q[2] rows 0..65, expected slots 0 to 2 and "
                 "rows within 0..64");
}

TEST(StructureFaults, ChunkSlotOutOfRange) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Recv)).lists[0].values[0] = -1;
  expectFault(p, "[range] rank 1 phase 3 instruction 8: recv chunk 0 of list 0 "
                 "out of range: got q[-1] rows 0..64, expected slots 0 to 2 "
                 "and rows within 0..64");
}

TEST(StructureFaults, ChunkReversed) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Recv)).lists[0].values[1] = 70;
  expectFault(p, "[range] rank 1 phase 3 instruction 8: recv chunk 0 of list 0 "
                 "out of range: got q[2] rows 70..64, expected slots 0 to 2 "
                 "and rows within 0..64");
}

TEST(StructureFaults, CountsPerMember) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::AllToAll)).lists[1].values = {4};
  expectFault(
      p, "[range] rank 0 phase 0 instruction 0: all_to_all number of counts of "
         "list 1 differs: got 1, expected 2 members of the ulysses group");
}

TEST(StructureFaults, CountOutOfRange) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::AllToAll)).lists[3].values = {5, -1};
  expectFault(p, "[range] rank 0 phase 0 instruction 0: all_to_all count of "
                 "list 3 out of range: got 5, expected 0 to 4");
}

TEST(StructureFaults, CountsDoNotAddUp) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::AllToAll)).lists[1].values = {2, 1};
  expectFault(p, "[range] rank 0 phase 0 instruction 0: all_to_all counts of "
                 "list 1 do not add up: got 3 chunks, expected 4");
}

TEST(StructureFaults, SlotOutOfRange) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Release)).lists[0].values = {3};
  expectFault(p, "[range] rank 0 phase 3 instruction 14: release slot out of "
                 "range: got q[3], expected 0 to 2");
}

TEST(StructureFaults, WorkHead) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values[0] = 4;
  expectFault(p, "[range] rank 0 phase 3 instruction 12: attend head of work "
                 "entry 0 out of range: got 4, expected 0 to 3");
}

TEST(StructureFaults, WorkQBlocks) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values[4] = 5;
  expectFault(p, "[range] rank 0 phase 3 instruction 12: attend q-blocks of "
                 "work entry 0 out of range: got 0..5, expected within 0..4");
}

TEST(StructureFaults, WorkKvBlocks) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values[5] = 5;
  expectFault(p, "[range] rank 0 phase 3 instruction 12: attend kv-blocks of "
                 "work entry 0 out of range: got 5..4, expected within 0..4");
}

TEST(StructureFaults, WorkSlot) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values[1] = 3;
  expectFault(p, "[range] rank 0 phase 3 instruction 12: attend rows of work "
                 "entry 0 out of range: got q[3] rows 0..64, expected slots 0 "
                 "to 2 and rows within 0..64");
}

TEST(StructureFaults, WorkKvSlot) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values[2] = 2;
  expectFault(p, "[range] rank 0 phase 3 instruction 12: attend rows of work "
                 "entry 0 out of range: got k[2] rows 0..64, expected slots 0 "
                 "to 1 and rows within 0..64");
}

TEST(StructureFaults, WorkBudget) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values[7] = -1;
  expectFault(p, "[range] rank 0 phase 3 instruction 12: attend budget of work "
                 "entry 0 out of range: got -1, expected at least 0");
}

TEST(StructureFaults, PackRowsDiffer) {
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

TEST(StructureFaults, PhaseDescends) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::LoadMask)).phase = 6;
  expectFault(p, "[phase] rank 0 phase 2 instruction 3: all_to_all phase does "
                 "not ascend: got 2, expected at least 6");
}

TEST(StructureFaults, PhaseNegative) {
  Program p = swapProgram();
  at(p, 0, 0).phase = -1;
  expectFault(p, "[phase] rank 0 instruction 0: all_to_all phase does not "
                 "ascend: got -1, expected at least 0");
}

TEST(StructureFaults, TokenDefinedTwice) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send, "k")).token = 0;
  expectFault(p, "[token] rank 0 phase 3 instruction 5: send token is defined "
                 "twice: got 0 of instruction 4, expected a new one");
}

TEST(StructureFaults, TokenNotDefined) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Wait)).waits[0] = 17;
  expectFault(p,
              "[token] rank 0 phase 3 instruction 13: wait token is not "
              "defined: got 17, expected a token of an earlier send or recv");
}

TEST(StructureFaults, WaitBeforeItsSend) {
  Program p = swapProgram();
  Instruction wait = at(p, 0, find(p, 0, Opcode::Wait));
  drop(p, 0, find(p, 0, Opcode::Wait));
  insert(p, 0, find(p, 0, Opcode::Recv), wait);
  expectFault(p, "[token] rank 0 phase 3 instruction 8: wait token is not "
                 "defined: got 4, expected a token of an earlier send or recv");
}

TEST(StructureFaults, TokenAwaitedTwice) {
  Program p = swapProgram();
  size_t wait = find(p, 0, Opcode::Wait);
  insert(p, 0, wait, at(p, 0, wait));
  expectFault(p, "[token] rank 0 phase 3 instruction 14: wait token is awaited "
                 "twice: got 0 of instruction 4, expected one wait");
}

TEST(StructureFaults, TokenNeverAwaited) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Wait))
      .waits.erase(at(p, 0, find(p, 0, Opcode::Wait)).waits.begin() + 5);
  expectFault(p, "[token] rank 0 phase 3 instruction 9: recv token is never "
                 "awaited: got 5 open at the end, expected a wait");
}

TEST(StructureFaults, WaitForgotten) {
  Program p = swapProgram();
  drop(p, 0, find(p, 0, Opcode::Wait));
  expectFault(p, "[token] rank 0 phase 3 instruction 4: send token is never "
                 "awaited: got 0 open at the end, expected a wait");
}

//===- ContentFaultsTest.cpp - Right sizes, wrong rows --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"

using namespace sart;
using namespace sart::test;

TEST(ContentFaults, HeadsSwappedInAttend) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values[1] = 2;
  at(p, 0, find(p, 0, Opcode::Attend, "", 1)).lists[0].values[1] = 1;
  // After the wait both heads are there.
  std::swap(at(p, 0, find(p, 0, Opcode::Attend)),
            at(p, 0, find(p, 0, Opcode::Wait)));
  expectFault(
      p,
      "[content] rank 0 phase 3 instruction 13: attend reads other data in "
      "q[2] rows 0..64: got q of head 2 from 0, expected q of head 1 from 0");
}

TEST(ContentFaults, WrongHeadNamed) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values[0] = 3;
  expectFault(
      p,
      "[content] rank 0 phase 3 instruction 12: attend reads other data in "
      "q[1] rows 0..64: got q of head 1 from 0, expected q of head 3 from 0");
}

TEST(ContentFaults, WrongKvSlot) {
  Program p = swapProgram();
  at(p, 1, find(p, 1, Opcode::Attend, "", 1)).lists[0].values[2] = 0;
  expectFault(p, "[content] rank 1 phase 4 instruction 16: attend reads other "
                 "data for kv-block 0 of head 0 q-blocks 0..4 in k[0]: got k "
                 "of head 1 from 0, expected k of kv head 0 from 0");
}

TEST(ContentFaults, KeysAndValuesSwapped) {
  Program p = swapProgram();
  std::vector<int32_t> &windows = at(p, 1, find(p, 1, Opcode::Attend)).windows;
  std::swap(windows[1], windows[2]);
  expectFault(p, "[content] rank 1 phase 3 instruction 12: attend reads other "
                 "data for kv-block 0 of head 3 q-blocks 0..4 in v[0]: got v "
                 "of head 1 from 0, expected k of kv head 1 from 0");
}

TEST(ContentFaults, SendsOfEqualSizesSwapped) {
  Program p = swapProgram();
  size_t k = find(p, 0, Opcode::Send, "k"), v = find(p, 0, Opcode::Send, "v");
  std::swap(at(p, 0, k), at(p, 0, v));
  expectFault(p, "[content] rank 1 phase 4 instruction 16: attend reads other "
                 "data for kv-block 0 of head 0 q-blocks 0..4 in k[1]: got v "
                 "of head 0 from 0, expected k of kv head 0 from 0");
}

TEST(ContentFaults, ExchangeOfAnotherTensor) {
  Program p = swapProgram();
  for (size_t rank : {0, 1})
    at(p, rank, find(p, rank, Opcode::AllToAll, "v")).windows[0] =
        p.findWindow("k_shard");
  expectFault(p, "[content] rank 1 phase 3 instruction 12: attend reads other "
                 "data for kv-block 0 of head 3 q-blocks 0..4 in v[0]: got k "
                 "of head 1 from 0, expected v of kv head 1 from 0");
}

TEST(ContentFaults, ExchangeOrder) {
  Program p = swapProgram();
  std::vector<int64_t> &chunks =
      at(p, 1, find(p, 1, Opcode::AllToAll, "q")).lists[0].values;
  std::swap_ranges(chunks.begin(), chunks.begin() + 3, chunks.begin() + 3);
  expectFault(
      p,
      "[content] rank 0 phase 3 instruction 12: attend reads other data in "
      "q[1] rows 0..64: got q of head 0 from 32, expected q of head 1 from 32");
}

TEST(ContentFaults, WrongMaskMoved) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::Send, "mask")).lists[0].values[0] = 1;
  expectFault(p, "[content] rank 1 phase 4 instruction 16: attend reads other "
                 "data in mask[2] rows 0..4: got mask of head 1 from 0, "
                 "expected mask of head 0 from 0");
}

TEST(ContentFaults, MaskOfAnotherHead) {
  Program p = swapProgram();
  at(p, 0, find(p, 0, Opcode::LoadMask)).lists[0].values[workInts] = 3;
  expectFault(p, "[content] rank 0 phase 3 instruction 12: attend reads other "
                 "data in mask[1] rows 0..4: got mask of head 3 from 0, "
                 "expected mask of head 1 from 0");
}

TEST(ContentFaults, RowsShifted) {
  Program p = ringProgram();
  // Same size, other tokens.
  at(p, 1, find(p, 1, Opcode::Send, "k")).lists[0].values = {0, 32, 48};
  expectFault(p, "[content] rank 0 phase 4 instruction 10: attend reads other "
                 "data for kv-block 3 of head 0 q-blocks 0..2 in k[0]: got k "
                 "of head 0 from 32, expected k of kv head 0 from 48");
}

TEST(ContentFaults, MergedTwice) {
  Program p = ringProgram();
  size_t merge = find(p, 0, Opcode::Merge);
  insert(p, 0, merge, at(p, 0, merge));
  expectFault(p, "[content] rank 0 phase 4 instruction 12: merge of "
                 "overlapping partial results in o_acc[0] rows 0..32: got "
                 "kv-blocks 2..4 in both, expected disjoint blocks");
}

TEST(ContentFaults, MergedWithItself) {
  Program p = ringProgram();
  // The local result again in place of the remote one.
  Instruction &attend = at(p, 0, find(p, 0, Opcode::Attend, "o_part"));
  for (size_t entry : {0, 8}) {
    attend.lists[0].values[entry + 5] = 0;
    attend.lists[0].values[entry + 6] = 2;
  }
  expectFault(p, "[content] rank 0 phase 4 instruction 11: merge of "
                 "overlapping partial results in o_acc[0] rows 0..32: got "
                 "kv-blocks 0..2 in both, expected disjoint blocks");
}

TEST(ContentFaults, MergedWithAnotherHead) {
  Program p = ringProgram();
  Instruction &attend = at(p, 0, find(p, 0, Opcode::Attend, "o_part"));
  std::vector<int64_t> &work = attend.lists[0].values;
  std::swap(work[0], work[workInts]);
  // Heads with their q and mask, into the other slot.
  p.windows.push_back({"q2", DType::F32, 2, 32, 32});
  p.windows.push_back({"mask2", DType::I32, 2, 2, 5});
  for (auto [from, to, rows] :
       {std::tuple{"q", "q2", 32}, {"mask", "mask2", 2}}) {
    Instruction pack;
    pack.opcode = Opcode::Pack;
    pack.phase = 3;
    pack.windows = {p.findWindow(from), p.findWindow(to)};
    pack.lists = {Operand::immediate({0, 0, rows, 1, 0, rows}),
                  Operand::immediate({1, 0, rows, 0, 0, rows})};
    insert(p, 0, 4, pack);
  }
  Instruction &moved = at(p, 0, find(p, 0, Opcode::Attend, "o_part"));
  moved.windows[0] = p.findWindow("q2");
  moved.windows[3] = p.findWindow("mask2");
  expectFault(
      p, "[content] rank 0 phase 4 instruction 13: merge of unlike partial "
         "results in o_acc[0] rows 0..32: got o of head 1 from 0 with o of "
         "head 0 from 0, expected o and lse of the same rows and blocks");
}

TEST(ContentFaults, MergeForgotten) {
  Program p = ringProgram();
  drop(p, 0, find(p, 0, Opcode::Merge));
  expectFault(p, "[output] rank 0 phase 6 instruction 14: output o_shard[0] "
                 "rows 0..32 lacks selected tiles: got kv-blocks 0..2, "
                 "expected kv-block 3 of q-block 0 too");
}

TEST(ContentFaults, OutputOfAnotherHead) {
  Program p = swapProgram();
  for (size_t rank : {0, 1}) {
    std::vector<int64_t> &chunks =
        at(p, rank, find(p, rank, Opcode::AllToAll, "o_shard")).lists[2].values;
    std::swap(chunks[0], chunks[3]);
  }
  expectFault(
      p,
      "[output] rank 0 phase 5 instruction 17: output o_shard[1] rows 0..32 "
      "holds other data: got o of head 2 from 0, expected o of head 1 from 0");
}

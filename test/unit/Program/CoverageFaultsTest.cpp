//===- CoverageFaultsTest.cpp - Tiles and demand --------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"

using namespace sart;
using namespace sart::test;

TEST(CoverageFaults, TileNeverComputed) {
  Program p = swapProgram();
  // The output is written, but from fewer kv-blocks.
  at(p, 0, find(p, 0, Opcode::Attend)).lists[0].values[6] = 3;
  expectFault(p, "[output] rank 0 phase 5 instruction 17: output o_shard[1] "
                 "rows 0..32 lacks selected tiles: got kv-blocks 0..3, "
                 "expected kv-block 3 of q-block 0 too");
}

TEST(CoverageFaults, RemoteTilesLost) {
  Program p = ringProgram();
  at(p, 0, find(p, 0, Opcode::Attend, "o_part")).lists[0].values[6] = 3;
  expectFault(p, "[output] rank 0 phase 6 instruction 15: output o_shard[0] "
                 "rows 0..32 lacks selected tiles: got kv-blocks 0..3, "
                 "expected kv-block 3 of q-block 0 too");
}

TEST(CoverageFaults, TileComputedTwice) {
  Program p = ringProgram();
  // Thrown away, but computed: the remote part twice.
  size_t attend = find(p, 0, Opcode::Attend, "o_part");
  Instruction work = at(p, 0, attend);
  insert(p, 0, attend + 1, at(p, 0, find(p, 0, Opcode::Release, "lse_part")));
  insert(p, 0, attend + 1, at(p, 0, find(p, 0, Opcode::Release, "o_part")));
  insert(p, 0, attend + 3, work);
  expectFault(p, "[coverage] rank 0 phase 4 instruction 13: tile of head 0 "
                 "q-block 0 kv-block 3 is computed twice: got instruction 10 "
                 "of rank 0 too, expected one attend");
}

TEST(CoverageFaults, BlockNotDemanded) {
  Program p = ringProgram();
  // kv-block 2 travels along without a reader.
  for (const char *window : {"k", "v"}) {
    at(p, 1, find(p, 1, Opcode::Send, window)).lists[0].values[1] = 32;
    at(p, 0, find(p, 0, Opcode::Recv, window)).lists[0].values[1] = 32;
  }
  expectFault(p, "[demand] rank 0 phase 3 instruction 6: kv-block 2 of kv head "
                 "0 from rank 1 is not needed: got no selected tile of it on "
                 "rank 0, expected one");
}

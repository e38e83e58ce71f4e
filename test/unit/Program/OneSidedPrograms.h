//===- OneSidedPrograms.h - Programs with puts and signals ---- -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_PROGRAM_ONESIDEDPROGRAMS_H
#define SPARSEATTN_TEST_PROGRAM_ONESIDEDPROGRAMS_H

#include "ProgramTestSupport.h"

namespace sart::test {

/// The ring program with puts in place of sends: every put is followed by one
/// signal, every wait is a wait_signal.
inline Program putProgram() {
  Program p = ringProgram();
  for (size_t rank : {0, 1}) {
    std::vector<Instruction> list;
    auto peer = Operand::immediate({rank == 0 ? 1 : 0});
    for (Instruction &from : p.ranks[rank]) {
      Instruction to = from;
      if (from.opcode == Opcode::Recv)
        continue;
      if (from.opcode == Opcode::Send) {
        to.opcode = Opcode::Put;
        to.windows.push_back(from.windows[0]);
        to.lists.push_back(from.lists[0]);
        to.token = -1;
      }
      if (from.opcode == Opcode::Attend && list.back().opcode == Opcode::Put) {
        Instruction signal;
        signal.opcode = Opcode::Signal;
        signal.phase = from.phase;
        signal.peer = peer;
        list.push_back(signal);
      }
      if (from.opcode == Opcode::Wait) {
        to.opcode = Opcode::WaitSignal;
        to.waits.clear();
        to.peer = peer;
      }
      list.push_back(to);
    }
    p.ranks[rank] = list;
  }
  return p;
}

/// Rank 1 fills a stage of rank 0 twice; `reply`: rank 0 says when it is free
/// again.
inline Program stagedProgram(bool reply) {
  Program p = ringProgram();
  p.windows.push_back({"stage", DType::F32, 1, 16, 32});
  auto add = [&](size_t rank, Opcode opcode) -> Instruction & {
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.phase = 11;
    if (opcode == Opcode::Signal || opcode == Opcode::WaitSignal ||
        opcode == Opcode::Put)
      instruction.peer = Operand::immediate({rank == 0 ? 1 : 0});
    p.ranks[rank].push_back(instruction);
    return p.ranks[rank].back();
  };
  for (int round = 0; round < 2; ++round) {
    if (reply && round == 1)
      add(1, Opcode::WaitSignal);
    Instruction &put = add(1, Opcode::Put);
    put.windows = {p.findWindow("q_shard"), p.findWindow("stage")};
    put.lists = {Operand::immediate({0, 0, 16}),
                 Operand::immediate({0, 0, 16})};
    add(1, Opcode::Signal);
    add(0, Opcode::WaitSignal);
    Instruction &release = add(0, Opcode::Release);
    release.windows = {p.findWindow("stage")};
    release.lists = {Operand::immediate({0})};
    if (reply && round == 0)
      add(0, Opcode::Signal);
  }
  return p;
}

} // namespace sart::test

#endif // SPARSEATTN_TEST_PROGRAM_ONESIDEDPROGRAMS_H

//===- ProgramMutator.h - Random edits of bound programs --------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_SUPPORT_PROGRAMMUTATOR_H
#define SPARSEATTN_TEST_SUPPORT_PROGRAMMUTATOR_H

#include "sparseattn-rt/Program.h"

#include <string>

namespace sart::test {

/// What one edit did.
struct ProgramEdit {
  std::string kind;   ///< drop, double, swap, reorder, retarget, ...
  std::string opcode; ///< of the instruction
  std::string text;   ///< all of it in words, with the place
};

/// Makes one random edit of the instructions of `program` (which must have
/// some): drop, double, swap or move an instruction; drop, double or swap
/// entries of a list; change an integer of a list, a peer, a window, a token,
/// a phase or a group. Same seed, same edit. Kinds: drop, double, swap,
/// reorder, retarget (peer), window, token, phase, group, resize (entries and
/// integers of lists).
ProgramEdit editProgram(Program &program, uint64_t seed);

/// The same, in words.
std::string mutateProgram(Program &program, uint64_t seed);

} // namespace sart::test

#endif // SPARSEATTN_TEST_SUPPORT_PROGRAMMUTATOR_H

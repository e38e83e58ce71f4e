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

/// Makes one random edit of the instructions of `program` (which must have
/// some): drop, double, swap or move an instruction; drop, double or swap
/// entries of a list; change an integer of a list, a peer, a window, a token,
/// a phase or a group. Says in words what it did. Same seed, same edit.
std::string mutateProgram(Program &program, uint64_t seed);

} // namespace sart::test

#endif // SPARSEATTN_TEST_SUPPORT_PROGRAMMUTATOR_H

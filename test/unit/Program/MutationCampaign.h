//===- MutationCampaign.h - Many random edits of valid programs -*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_PROGRAM_MUTATIONCAMPAIGN_H
#define SPARSEATTN_TEST_PROGRAM_MUTATIONCAMPAIGN_H

#include "sparseattn-rt/Program.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sart::test {

/// A valid program that edits start from.
struct MutationBase {
  std::string name;
  Program program;
};

/// Bound programs over 1 to 8 ranks: Ulysses, ring and both, with head moves,
/// kv-blocks that travel, grouped heads, causal masks, and one-sided transfers.
std::vector<MutationBase> mutationBases();

/// What became of the mutants.
struct MutationTally {
  uint64_t edits = 0;
  uint64_t unchanged = 0; ///< edits that gave the base again
  uint64_t accepted = 0;
  std::map<std::string, uint64_t> refused; ///< by the validator's rule
  struct Survivors {
    uint64_t count = 0;
    std::string example; ///< the first
  };
  /// Accepted and same output, by (kind of edit, opcode).
  std::map<std::pair<std::string, std::string>, Survivors> survivors;
  std::map<std::string, uint64_t> perBase; ///< accepted
  /// Accepted, but the run failed, hung or gave another output: in words.
  std::vector<std::string> wrong;
};

/// Makes one edit per seed in [begin, end), of the bases in turn: the validator
/// refuses the mutant, or the interpreter must give the base's output.
MutationTally runMutations(const std::vector<MutationBase> &bases,
                           uint64_t begin, uint64_t end);

/// Why an accepted edit of this kind is right; empty: not known.
std::string survivorReason(const std::string &kind, const std::string &opcode);

/// The tally as JSON.
std::string toJson(const MutationTally &tally, uint64_t begin, uint64_t end);

} // namespace sart::test

#endif // SPARSEATTN_TEST_PROGRAM_MUTATIONCAMPAIGN_H

//===- Validator.h - Proofs about a program before it runs ------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_VALIDATOR_H
#define SPARSEATTN_RT_VALIDATOR_H

#include "sparseattn-rt/Program.h"

namespace sart {

/// Where a rule is broken. rank -1: the template; instruction -1: the header.
struct Violation {
  /// Short name. header: placement, windows, symbols' names, mask; structure:
  /// operands per opcode; symbol: declared, bound by the plan; range: list
  /// values; token; phase; matching: sends and receives; collective; signal:
  /// puts and flags; progress: waits that never end; lifetime: rows written,
  /// read, released in order; content: rows are what instructions take them
  /// for; output; demand: k and v that crossed the ring; coverage: tiles.
  std::string rule;
  std::string message;
  int64_t rank = -1;
  int64_t phase = -1;
  int64_t instruction = -1;
  /// `rank 2 phase 7 instruction 12: <message>`
  std::string toString() const;
};

struct ValidatorOptions {
  bool coverage = true; ///< every mask tile exactly once (bound programs)
  size_t maxViolations = 8;
};

/// Rules of a template, independent of values: windows and symbols declared,
/// operand counts per opcode, dtypes that fit, phases ascending, tokens defined
/// before they are waited for and waited for once, sends and receives waited
/// for before their window is released or the program ends, nothing after the
/// plan uses an unbound symbol, collectives outside conditional lists. Where
/// the static symbols are bound, the part before the plan is also executed
/// symbolically on all ranks, like a bound program.
std::vector<Violation> validateTemplate(const Program &program);

/// Rules of one bound program (or a template with a complete binding, bound by
/// bindProgram first): ranges inside windows; every send matched by one receive
/// of the same size in the same order per pair and phase; collectives entered
/// by every member in the same order with matching sizes; puts covered by a
/// signal and a wait; no wait cycle (all ranks executed once, symbolically,
/// each blocked rank reported with what it waits for); rows written before they
/// are read; slots released before they are written again, and not while a send
/// reads them; outputs written completely; every mask tile computed exactly
/// once with its kv-block present; phases numbered alike, with every rank in
/// every phase that has a collective.
///
/// Rows carry what they are (query 17 of head 3; a partial result of it over
/// kv-blocks 0..4), so that data which go astray with the right sizes are
/// caught where they are read. The groups of rules run in the order of the
/// names above; the first group with a violation is the last that runs. Without
/// `coverage` the time is that of the lists, not of the mask's tiles.
std::vector<Violation> validateBound(const Program &program,
                                     const ValidatorOptions &options = {});

/// validateTemplate or validateBound, the first violation as a Status.
Status validate(const Program &program, const ValidatorOptions &options = {});

} // namespace sart

#endif // SPARSEATTN_RT_VALIDATOR_H

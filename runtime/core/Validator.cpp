//===- Validator.cpp - Proofs about a program before it runs --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "sparseattn-rt/Validator.h"

#include "Schedule.h"
#include "ValidatorContext.h"

using namespace sart;

std::string Violation::toString() const {
  std::string place = rank < 0 ? (instruction < 0 ? "program" : "template")
                               : concat("rank ", rank);
  if (phase >= 0)
    place += concat(" phase ", phase);
  if (instruction >= 0)
    place += concat(" instruction ", instruction);
  return concat(place, ": ", message);
}

/// Every group of rules relies on the ones before it, so the first group with
/// a violation is the last that runs.
std::vector<Violation> sart::validateBound(const Program &program,
                                           const ValidatorOptions &options) {
  ValidatorContext context(program, options);
  if (!program.bound) {
    context.addGlobal("header", "program is not bound: got a template, "
                                "expected a bound program");
    return context.violations;
  }
  checkHeader(context);
  if (!context.clean())
    return context.violations;
  bool operandsFit = true;
  for (int64_t rank = 0; rank < context.numRanks(); ++rank) {
    for (size_t i = 0; i < context.list(rank).size() && !context.full(); ++i) {
      if (infoOf(context.list(rank)[i].opcode).routing) {
        context.add("structure", rank, i,
                    "is not allowed in a bound program: "
                    "got routing, expected a mask");
        operandsFit = false;
        continue;
      }
      operandsFit &= checkOperands(context, rank, i);
    }
    checkOrder(context, rank);
  }
  if (operandsFit)
    checkRanges(context);
  if (!context.clean())
    return context.violations;
  Schedule schedule;
  matchSchedule(context, schedule);
  if (context.clean())
    executeSymbolically(context, schedule, /*prefix=*/false);
  return context.violations;
}

Status sart::validate(const Program &program, const ValidatorOptions &options) {
  std::vector<Violation> violations = program.bound
                                          ? validateBound(program, options)
                                          : validateTemplate(program);
  return violations.empty() ? Status::success()
                            : Status::error(violations.front().toString());
}

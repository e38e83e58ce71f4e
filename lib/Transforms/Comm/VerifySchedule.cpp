//===- VerifySchedule.cpp - Prove the schedules of a module ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exports each schedule to a program, runs the run time's validator on it and
// puts each violation on the operation that it names. Time: that of the
// validator, which executes all ranks once, symbolically.
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Transforms/Comm/Passes.h"

#include "sparseattn-rt/Validator.h"
#include "sparseattn/Dialect/Comm/IR/Comm.h"
#include "sparseattn/Target/Program/Program.h"

using namespace mlir;

namespace mlir::sparseattn {
#define GEN_PASS_DEF_VERIFYSCHEDULEPASS
#include "sparseattn/Transforms/Comm/Passes.h.inc"
} // namespace mlir::sparseattn

namespace {
struct VerifySchedulePass
    : mlir::sparseattn::impl::VerifySchedulePassBase<VerifySchedulePass> {
  using VerifySchedulePassBase::VerifySchedulePassBase;
  void runOnOperation() override;

  /// Reports every violation of one schedule.
  LogicalResult verifySchedule(Operation *schedule);
};
} // namespace

LogicalResult VerifySchedulePass::verifySchedule(Operation *schedule) {
  FailureOr<sa_comm::ExportedProgram> exported =
      sa_comm::exportWithOperations(schedule);
  if (failed(exported))
    return failure();
  const sart::Program &program = exported->program;
  sart::ValidatorOptions options;
  options.coverage = coverage;
  options.maxViolations = maxViolations;
  std::vector<sart::Violation> violations =
      program.bound ? sart::validateBound(program, options)
                    : sart::validateTemplate(program);
  (program.bound ? numPrograms : numTemplates) += 1;
  for (const std::vector<sart::Instruction> &list : program.ranks)
    numInstructions += list.size();
  numViolations += violations.size();
  for (const sart::Violation &violation : violations)
    exported->find(violation.rank, violation.instruction)
        ->emitOpError(violation.toString());
  return success(violations.empty());
}

void VerifySchedulePass::runOnOperation() {
  bool valid = true;
  for (Operation &op : *getOperation().getBody())
    if (isa<sa_comm::TemplateOp, sa_comm::ProgramOp>(op))
      valid &= succeeded(verifySchedule(&op));
  if (!valid)
    signalPassFailure();
  markAllAnalysesPreserved();
}

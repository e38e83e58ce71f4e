//===- Passes.td - Passes over schedules -------------------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TRANSFORMS_COMM_PASSES_TD
#define SPARSEATTN_TRANSFORMS_COMM_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifySchedulePass : Pass<"sparseattn-verify-schedule", "::mlir::ModuleOp"> {
  let summary = "Prove the schedules of a module before they run";
  let description = [{
    The contract between the passes that make schedules and whatever runs them.
    Every `sa_comm.template` and `sa_comm.program` is checked with the run time's
    own validator; a violation is an error on the operation of the instruction
    that breaks the rule and names the rank, the phase and the instruction. The
    rules stand in the dialect's Rationale.md.

    Before:

    ```mlir
    sa_comm.rank 1 {
      sa_comm.phase 4 "move"
      %received = sa_comm.recv @q [[1, 0:256]] from 2
      sa_comm.wait %received
    }
    ```

    After: unchanged, or

    ```
    error: 'sa_comm.recv' op rank 1 phase 4 instruction 0: ...
    ```

    Requires: nothing.

    Guarantees: when the pass succeeds, every bound program of the module ends on
    every rank, each transfer meets its partner, no row is read before it is
    written, and every tile of the mask is computed exactly once; for templates,
    what holds independently of the symbols' values.

    Does not handle: the values that symbols of a template get later. They are
    checked when the template is bound.
  }];
  let options = [
    Option<"coverage", "coverage", "bool", "true",
           "check that every tile of the mask is computed exactly once">,
    Option<"maxViolations", "max-violations", "unsigned", "8",
           "largest number of violations reported for one schedule">,
  ];
  let statistics = [
    Statistic<"numTemplates", "templates", "Templates checked">,
    Statistic<"numPrograms", "programs", "Bound programs checked">,
    Statistic<"numInstructions", "instructions", "Instructions checked">,
    Statistic<"numViolations", "violations", "Violations found">,
  ];
}

#endif // SPARSEATTN_TRANSFORMS_COMM_PASSES_TD

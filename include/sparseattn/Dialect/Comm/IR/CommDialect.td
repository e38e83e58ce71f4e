//===- CommDialect.td - The sa_comm dialect ----------------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_COMM_IR_COMMDIALECT
#define SPARSEATTN_DIALECT_COMM_IR_COMMDIALECT

include "mlir/IR/OpBase.td"

def Comm_Dialect : Dialect {
  let name = "sa_comm";
  let cppNamespace = "::mlir::sa_comm";
  let summary = "Communication and compute schedules, rank by rank";
  let description = [{
    A *program* is the list of instructions that carries a plan out: pack, send,
    recv, put, signal, wait, attend, merge, release, in numbered phases over
    slots of windows. The dialect is the text of the run time's programs, one
    operation per instruction and nothing that the program format lacks, so that
    what runs is what the text says: a program can be exported, edited by hand,
    verified, and run again.

    - `sa_comm.template` has one instruction list for all ranks; lists of ranges,
      counts and peers may be symbols whose values the planner binds per mask.
    - `sa_comm.program` is bound: one list per rank, every operand literal, and
      the mask as data.

    Verifiers here check one operation at a time: names resolve, lists are well
    formed. What spans instructions or ranks (matching, order, lifetimes, wait
    cycles, coverage) is proved by the pass `sparseattn-verify-schedule`. The
    ordering and deadlock model stands in Rationale.md beside this file.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

#endif // SPARSEATTN_DIALECT_COMM_IR_COMMDIALECT

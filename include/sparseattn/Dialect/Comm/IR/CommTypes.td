//===- CommTypes.td - Types of the sa_comm dialect ---------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_COMM_IR_COMMTYPES
#define SPARSEATTN_DIALECT_COMM_IR_COMMTYPES

include "mlir/IR/AttrTypeBase.td"
include "sparseattn/Dialect/Comm/IR/CommDialect.td"

class Comm_Type<string name, string typeMnemonic> : TypeDef<Comm_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Comm_Token : Comm_Type<"Token", "token">,
    BuildableType<"::mlir::sa_comm::TokenType::get($_builder.getContext())"> {
  let summary = "Completion of one send or receive";
  let description = [{
    Defined by `sa_comm.send` and `sa_comm.recv`, consumed once by
    `sa_comm.wait`. Tokens order an instruction list within one rank; they do
    not cross ranks.
  }];
}

#endif // SPARSEATTN_DIALECT_COMM_IR_COMMTYPES

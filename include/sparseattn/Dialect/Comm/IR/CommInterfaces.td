//===- CommInterfaces.td - What all instructions share -----*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_COMM_IR_COMMINTERFACES
#define SPARSEATTN_DIALECT_COMM_IR_COMMINTERFACES

include "mlir/IR/OpBase.td"

def Comm_InstructionOpInterface : OpInterface<"InstructionOpInterface"> {
  let cppNamespace = "::mlir::sa_comm";
  let description = [{
    One instruction of a program, seen the way the program format stores it:
    opcode, windows, lists and peer in the order of the format. Export, the
    verifier of names and every analysis work on this view instead of on
    eighteen operations.
  }];
  let methods = [
    InterfaceMethod<"Opcode of the program format.",
                    "::sart::Opcode", "getOpcode">,
    InterfaceMethod<"Group of a collective; `All` for the other instructions.",
                    "::sart::Group", "getCollectiveGroup">,
    InterfaceMethod<"Windows, in the order of the program format.",
                    "::llvm::SmallVector<::mlir::FlatSymbolRefAttr>",
                    "getWindowRefs">,
    InterfaceMethod<"Lists, in the order of the program format.",
                    "::llvm::SmallVector<::mlir::sa_comm::ListOperand>",
                    "getListOperands">,
    InterfaceMethod<"Peer: a symbol or a literal list of none or one rank; "
                    "null for instructions without a peer.",
                    "::mlir::Attribute", "getPeerOperand">,
  ];
}

#endif // SPARSEATTN_DIALECT_COMM_IR_COMMINTERFACES

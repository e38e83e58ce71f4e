//===- Sm90Base.td - What sa_sm90 operations share -----------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SM90_IR_SM90BASE
#define SPARSEATTN_DIALECT_SM90_IR_SM90BASE

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"
include "sparseattn/Dialect/Sm90/IR/Sm90Types.td"

class Sm90_Op<string mnemonic, list<Trait> traits = []>
    : Op<Sm90_Dialect, mnemonic, traits>;

/// Pointers to global memory, and generic ones (tensor maps).
def Sm90_GlobalPtr : LLVM_PointerInAddressSpace<1>;

#endif // SPARSEATTN_DIALECT_SM90_IR_SM90BASE

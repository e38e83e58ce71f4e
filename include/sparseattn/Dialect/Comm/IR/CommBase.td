//===- CommBase.td - Base classes of the sa_comm operations -*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_COMM_IR_COMMBASE
#define SPARSEATTN_DIALECT_COMM_IR_COMMBASE

include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "sparseattn/Dialect/Comm/IR/CommAttrs.td"
include "sparseattn/Dialect/Comm/IR/CommInterfaces.td"
include "sparseattn/Dialect/Comm/IR/CommTypes.td"

class Comm_Op<string mnemonic, list<Trait> traits = []>
    : Op<Comm_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Operands of instructions: a symbol, or a literal list
//===----------------------------------------------------------------------===//

class Comm_SymbolOr<Attr literal, string text>
    : AnyAttrOf<[FlatSymbolRefAttr, literal], text>;
def Comm_ChunkList : Comm_SymbolOr<Comm_ChunksAttr, "symbol or chunks">;
def Comm_WorkItems : Comm_SymbolOr<Comm_WorkListAttr, "symbol or work">;
def Comm_IntList : Comm_SymbolOr<DenseI64ArrayAttr, "symbol or integers">;
def Comm_Peer : Comm_SymbolOr<DenseI64ArrayAttr, "symbol, rank or none">;

/// One list of an instruction: its accessor stem and what its integers mean.
class Comm_ListSpec<string stem, string text, string listKind> {
  string accessor = stem;
  string label = text;
  string kind = listKind;
}
class Comm_Chunks<string stem, string text> : Comm_ListSpec<stem, text, "Chunks">;
class Comm_Counts<string stem, string text> : Comm_ListSpec<stem, text, "Counts">;
class Comm_Slots<string stem, string text> : Comm_ListSpec<stem, text, "Slots">;
def Comm_WorkSpec : Comm_ListSpec<"Work", "work", "Work">;
def Comm_SideSpec : Comm_ListSpec<"Side", "side", "Side">;

/// One instruction. `windows` and `lists` name the accessors in the order of
/// the program format, from which the instruction's interface is generated.
class Comm_Instruction<string mnemonic, string opcode, list<string> windows,
                       list<Comm_ListSpec> lists, list<Trait> traits = [],
                       bit hasPeer = 0, bit hasGroup = 0>
    : Comm_Op<mnemonic, !listconcat(traits, [
        ParentOneOf<["SpmdOp", "RankOp"]>,
        MemoryEffects<[MemRead, MemWrite]>,
        Comm_InstructionOpInterface,
        DeclareOpInterfaceMethods<SymbolUserOpInterface>])> {
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::sart::Opcode getOpcode() { return ::sart::Opcode::}] # opcode # [{; }
    ::sart::Group getCollectiveGroup() {
      return }] # !if(hasGroup, "static_cast<::sart::Group>(getGroup())",
                      "::sart::Group::All") # [{;
    }
    ::llvm::SmallVector<::mlir::FlatSymbolRefAttr> getWindowRefs() {
      return }] # "{" # !interleave(
          !foreach(window, windows, "get" # window # "Attr()"), ", ") # "}" # [{;
    }
    ::llvm::SmallVector<::mlir::sa_comm::ListOperand> getListOperands() {
      return }] # "{" # !interleave(
          !foreach(spec, lists, "{\"" # spec.label
            # "\", ::mlir::sa_comm::ListKind::" # spec.kind
            # ", get" # spec.accessor # "Attr()}"), ", ") # "}" # [{;
    }
    ::mlir::Attribute getPeerOperand() { return }]
      # !if(hasPeer, "getPeerAttr()", "{}") # [{; }
  }];
  // The same two hooks for every instruction: lists, then names.
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() {
      return ::mlir::sa_comm::detail::verifyInstruction(*this);
    }
    ::llvm::LogicalResult $cppClass::verifySymbolUses(
        ::mlir::SymbolTableCollection &tables) {
      return ::mlir::sa_comm::detail::verifyNames(*this, tables);
    }
  }];
}

#endif // SPARSEATTN_DIALECT_COMM_IR_COMMBASE

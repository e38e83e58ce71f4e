//===- Sm90Types.td - Fragments, rings and tiles -------------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SM90_IR_SM90TYPES
#define SPARSEATTN_DIALECT_SM90_IR_SM90TYPES

include "mlir/IR/AttrTypeBase.td"
include "sparseattn/Dialect/Sm90/IR/Sm90Dialect.td"

class Sm90_Type<string name, string typeMnemonic>
    : TypeDef<Sm90_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Sm90_AccumulatorType : Sm90_Type<"Accumulator", "accumulator"> {
  let summary = "64 x columns fp32 values in the registers of a warpgroup";
  let description = [{
    The accumulator fragment of wgmma: a lane of warp `w` holds rows
    `16 w + lane / 4` (+ 8) and columns `8 j + 2 (lane % 4)` (+ 1); register
    `4 j + 2 r + c` is row half `r`, column `c`. `columns / 2` registers a
    thread.
  }];
  let parameters = (ins "int64_t":$columns);
  let assemblyFormat = "`<` $columns `>`";
}

def Sm90_OperandType : Sm90_Type<"Operand", "operand"> {
  let summary = "64 x columns 16-bit values, the A operand of a product";
  let description = [{
    The A fragment of wgmma in registers: four 32-bit registers for each 16
    columns, `columns / 4` in all. For 16-bit elements the packed accumulator
    is this fragment.
  }];
  let parameters = (ins "int64_t":$columns, "::mlir::Type":$element);
  let assemblyFormat = "`<` $columns `,` $element `>`";
}

def Sm90_TileType : Sm90_Type<"Tile", "tile"> {
  let summary = "A tile in shared memory, rows x columns, 128-byte swizzle";
  let description = [{
    `columns / 64` boxes of `boxRows` rows x 64 columns (128 bytes a row), one
    after another; the tile is rows [0, rows) of each box from its address on.
    The address is a multiple of 1024 bytes.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "int64_t":$boxRows, "::mlir::Type":$element);
  let assemblyFormat =
      "`<` $rows `,` $columns `,` `box` $boxRows `,` $element `>`";
  let extraClassDeclaration = [{
    int64_t getBoxBytes() const { return getBoxRows() * 128; }
    int64_t getBytes() const { return getColumns() / 64 * getBoxBytes(); }
  }];
}

def Sm90_RingType : Sm90_Type<"Ring", "ring"> {
  let summary = "Slots in shared memory that one thread fills and warps empty";
  let description = [{
    `stages` slots of one tile each, with a full and an empty barrier a slot.
    The producer is one thread; `consumers` warps each release a slot once.
  }];
  let parameters = (ins "int64_t":$stages, "::mlir::sa_sm90::TileType":$tile,
                        "int64_t":$consumers);
  let assemblyFormat = "`<` $stages `,` $tile `,` `consumers` $consumers `>`";
}

def Sm90_MailboxType : Sm90_Type<"Mailbox", "mailbox"> {
  let summary = "Slots of four integers that one thread fills and warps read";
  let parameters = (ins "int64_t":$stages, "int64_t":$consumers);
  let assemblyFormat = "`<` $stages `,` `consumers` $consumers `>`";
}

def Sm90_CursorType : Sm90_Type<"Cursor", "cursor"> {
  let summary = "Position in a ring or mailbox: a slot and a barrier parity";
  let parameters = (ins "int64_t":$stages);
  let assemblyFormat = "`<` $stages `>`";
}

#endif // SPARSEATTN_DIALECT_SM90_IR_SM90TYPES

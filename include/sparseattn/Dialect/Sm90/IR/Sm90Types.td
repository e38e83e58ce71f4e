//===- Sm90Types.td - Fragments, rings and tiles -----------*- tablegen -*-===//
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
    The accumulator fragment of wgmma: a lane of warp `w` holds rows `16 w +
    lane / 4` (+ 8) and columns `8 j + 2 (lane % 4)` (+ 1); register `4 j + 2 r
    + c` is row half `r`, column `c`. `columns / 2` registers a thread.

    Life span: made by `zero` or by a product; becomes registers in `sparseattn-
    lower-sm90`.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %zero = sa_sm90.zero : !sa_sm90.accumulator<128>
      }
    }
    ```

    **Constraints:**
    - (C1) columns are a multiple of 8 from 8 to 256
  }];
  let parameters = (ins "int64_t":$columns);
  let assemblyFormat = "`<` $columns `>`";
  let genVerifyDecl = 1;
}

def Sm90_OperandType : Sm90_Type<"Operand", "operand"> {
  let summary = "64 x columns 16-bit values, the A operand of a product";
  let description = [{
    The A fragment of wgmma in registers: four 32-bit registers for each 16
    columns, `columns / 4` in all. For 16-bit elements the packed accumulator is
    this fragment.

    Life span: made by `to_operand` or `load_operand`; becomes registers in
    `sparseattn-lower-sm90`.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %zero = sa_sm90.zero : !sa_sm90.accumulator<64>
        %a = sa_sm90.to_operand %zero
            : !sa_sm90.accumulator<64> -> !sa_sm90.operand<64, bf16>
      }
    }
    ```

    **Constraints:**
    - (C1) columns are a multiple of 16 from 16 to 256
    - (C2) element is bf16 or f16
  }];
  let parameters = (ins "int64_t":$columns, "::mlir::Type":$element);
  let assemblyFormat = "`<` $columns `,` $element `>`";
  let genVerifyDecl = 1;
}

def Sm90_TileType : Sm90_Type<"Tile", "tile"> {
  let summary = "A tile in shared memory, rows x columns, 128-byte swizzle";
  let description = [{
    `columns / 64` boxes of `boxRows` rows x 64 columns (128 bytes a row), one
    after another; the tile is rows [0, rows) of each box from its address on.
    The address is a multiple of 1024 bytes.

    Life span: of a ring's slot, from `await` to `release`; of scratch memory,
    the kernel's. Becomes an address in `sparseattn-lower-sm90`.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 16384 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %c0 = arith.constant 0 : i32
        %tile = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 128, box 64, bf16>
      }
    }
    ```

    **Constraints:**
    - (C1) rows are a multiple of 8 from 8 to 256
    - (C2) columns are a multiple of 64 from 64 to 256
    - (C3) rows of a box are a multiple of 8, at least the rows and at most
      256
    - (C4) element is bf16 or f16
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        "int64_t":$boxRows, "::mlir::Type":$element);
  let assemblyFormat = "`<` $rows `,` $columns `,` `box` $boxRows `,` $element `>`";
  let extraClassDeclaration = [{
    int64_t getBoxBytes() const { return getBoxRows() * 128; }
    int64_t getBytes() const { return getColumns() / 64 * getBoxBytes(); }
  }];
  let genVerifyDecl = 1;
}

def Sm90_RingType : Sm90_Type<"Ring", "ring"> {
  let summary = "Slots in shared memory that one thread fills and warps empty";
  let description = [{
    `stages` slots of one tile each, with a full and an empty barrier a slot.
    The producer is one thread; `consumers` warps each release a slot once.

    Life span: declared by `ring`; becomes the addresses of slots and barriers
    in `sparseattn-lower-sm90`.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 32800 {
      %ring = sa_sm90.ring at 0 barriers 32768 copies 1 stride 0
          : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 4>
    }
    ```

    **Constraints:**
    - (C1) stages lie between 1 and 64
    - (C2) consumers lie between 1 and 32
    - (C3) the rows of a box are the tile's rows
  }];
  let parameters = (ins "int64_t":$stages, "::mlir::sa_sm90::TileType":$tile,
                        "int64_t":$consumers);
  let assemblyFormat = "`<` $stages `,` $tile `,` `consumers` $consumers `>`";
  let genVerifyDecl = 1;
}

def Sm90_MailboxType : Sm90_Type<"Mailbox", "mailbox"> {
  let summary = "Slots of four integers that one thread fills and warps read";
  let description = [{
    `stages` slots of 16 bytes, with a full and an empty barrier a slot.
    `consumers` warps each fetch a post once.

    Life span: as a ring's.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 64 {
      %posts = sa_sm90.mailbox at 0 barriers 32 copies 1 stride 0
          : !sa_sm90.mailbox<2, consumers 4>
    }
    ```

    **Constraints:**
    - (C1) stages lie between 1 and 64
    - (C2) consumers lie between 1 and 32
  }];
  let parameters = (ins "int64_t":$stages, "int64_t":$consumers);
  let assemblyFormat = "`<` $stages `,` `consumers` $consumers `>`";
  let genVerifyDecl = 1;
}

def Sm90_CursorType : Sm90_Type<"Cursor", "cursor"> {
  let summary = "Position in a ring or mailbox: a slot and a barrier parity";
  let description = [{
    A side of a ring counts positions from its start; position p is slot `p %
    stages` in round `p / stages`, whose parity tells its barriers' phases
    apart.

    Life span: carried by loops; becomes two registers in `sparseattn-lower-
    sm90`.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %here = sa_sm90.cursor consumer : !sa_sm90.cursor<2>
      }
    }
    ```

    **Constraints:**
    - (C1) stages lie between 1 and 64
  }];
  let parameters = (ins "int64_t":$stages);
  let assemblyFormat = "`<` $stages `>`";
  let genVerifyDecl = 1;
}

#endif // SPARSEATTN_DIALECT_SM90_IR_SM90TYPES

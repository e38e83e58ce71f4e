//===- Sm90ProductOps.td - Tensor-core products ------------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SM90_IR_SM90PRODUCTOPS
#define SPARSEATTN_DIALECT_SM90_IR_SM90PRODUCTOPS

include "sparseattn/Dialect/Sm90/IR/Sm90Base.td"

def Sm90_AOperand : AnyTypeOf<[Sm90_OperandType, Sm90_TileType]>;

def Sm90_ScoresOp : Sm90_Op<"scores"> {
  let summary = "Issues A B^T, one group; part i gives columns of b[i]'s rows";
  let description = [{
    fence, k steps, commit. `a` is 64 x D, in registers or shared memory; each
    `b` is a tile of n x D (K-major). The result, of sum(n) columns, may be read
    only after a `wait` that covers the group.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 16384 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %c0 = arith.constant 0 : i32
        %tile = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 128, box 64, bf16>
        %a = sa_sm90.load_operand %tile : !sa_sm90.tile<64, 128, box 64, bf16>
            -> !sa_sm90.operand<128, bf16>
        %s = sa_sm90.scores %a, %tile
            : !sa_sm90.operand<128, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>
            -> !sa_sm90.accumulator<64>
        %t = sa_sm90.wait 0, %s : !sa_sm90.accumulator<64> -> !sa_sm90.accumulator<64>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warpgroups
    - (C2) a tile `a` has 64 rows
    - (C3) there is a `b`, and each has the columns and the element of `a`
    - (C4) the result has as many columns as all `b` have rows
  }];
  let arguments = (ins Sm90_AOperand:$a, /*C2, C3*/
                       Variadic<Sm90_TileType>:$b /*C3, C4*/);
  let results = (outs Sm90_AccumulatorType:$result /*C4*/);
  let assemblyFormat = [{
    $a `,` $b attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Sm90_AccumulateOp : Sm90_Op<"accumulate", [AllTypesMatch<["init", "result"]>]> {
  let summary = "Issues init + a B, one group; the parts of b lie along k";
  let description = [{
    fence, k steps, commit. `a` is 64 x K, in registers or shared memory; the
    tiles of `b` are k x D each, sum(k) = K, read transposed (MN-major). With
    `clear` the product starts from zero and `init` is ignored. The result may
    be read only after a `wait` that covers the group.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 16384 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %c0 = arith.constant 0 : i32
        %tile = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 128, box 64, bf16>
        %zero = sa_sm90.zero : !sa_sm90.accumulator<64>
        %p = sa_sm90.to_operand %zero
            : !sa_sm90.accumulator<64> -> !sa_sm90.operand<64, bf16>
        %from = sa_sm90.zero : !sa_sm90.accumulator<128>
        %o = sa_sm90.accumulate %from, %p, %tile
            : !sa_sm90.accumulator<128>, !sa_sm90.operand<64, bf16>,
              !sa_sm90.tile<64, 128, box 64, bf16>
        %u = sa_sm90.wait 0, %o : !sa_sm90.accumulator<128> -> !sa_sm90.accumulator<128>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warpgroups
    - (C2) a tile `a` has 64 rows
    - (C3) there is a `b`, and each has the element of `a` and the columns
      of the result
    - (C4) all `b` have as many rows as `a` has columns, each a multiple of
      16
  }];
  let arguments = (ins Sm90_AccumulatorType:$init, /*C3*/
                       Sm90_AOperand:$a, /*C2, C3, C4*/
                       Variadic<Sm90_TileType>:$b, /*C3, C4*/
                       UnitAttr:$clear);
  let results = (outs Sm90_AccumulatorType:$result);
  let assemblyFormat = [{
    $init `,` $a `,` $b (`clear` $clear^)? attr-dict
    `:` type($init) `,` type($a) `,` type($b)
  }];
  let hasVerifier = 1;
}

def Sm90_WaitOp : Sm90_Op<"wait"> {
  let summary = "Waits until at most `pending` groups are open";
  let description = [{
    Groups close in the order in which they were issued. Threads the
    accumulators that are complete afterwards, so that no use of them moves
    before the wait.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 16384 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %c0 = arith.constant 0 : i32
        %tile = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 128, box 64, bf16>
        %a = sa_sm90.load_operand %tile : !sa_sm90.tile<64, 128, box 64, bf16>
            -> !sa_sm90.operand<128, bf16>
        %s = sa_sm90.scores %a, %tile
            : !sa_sm90.operand<128, bf16>, !sa_sm90.tile<64, 128, box 64, bf16>
            -> !sa_sm90.accumulator<64>
        %t = sa_sm90.wait 0, %s : !sa_sm90.accumulator<64> -> !sa_sm90.accumulator<64>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warpgroups
    - (C2) `pending` lies between 0 and 7
    - (C3) the results have the types of the accumulators
  }];
  let arguments = (ins I64Attr:$pending, /*C2*/
                       Variadic<Sm90_AccumulatorType>:$accumulators /*C3*/);
  let results = (outs Variadic<Sm90_AccumulatorType>:$results /*C3*/);
  let assemblyFormat = [{
    $pending `,` $accumulators attr-dict
    `:` type($accumulators) `->` type($results)
  }];
  let hasVerifier = 1;
}

def Sm90_LoadOperandOp : Sm90_Op<"load_operand"> {
  let summary = "Reads 64 rows of a tile into registers (ldmatrix)";
  let description = [{
    The reads of the other lanes are not ordered before this lane's next
    instruction: the slot may be released once a product that consumes the
    registers is complete.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 16384 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %c0 = arith.constant 0 : i32
        %tile = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 128, box 64, bf16>
        %a = sa_sm90.load_operand %tile : !sa_sm90.tile<64, 128, box 64, bf16>
            -> !sa_sm90.operand<128, bf16>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warpgroups
    - (C2) the tile has 64 rows
    - (C3) the result has the tile's columns and element
  }];
  let arguments = (ins Sm90_TileType:$tile /*C2*/);
  let results = (outs Sm90_OperandType:$result /*C3*/);
  let assemblyFormat = [{
    $tile attr-dict `:` type($tile) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Sm90_StoreOperandOp : Sm90_Op<"store_operand"> {
  let summary = "Writes an operand to a tile (stmatrix) for a later product";
  let description = [{
    Ends with the proxy fence and a barrier of the warpgroup, named barrier
    `barrier`.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 8192 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %c0 = arith.constant 0 : i32
        %c1 = arith.constant 1 : i32
        %tile = sa_sm90.scratch at 0[%c0] : !sa_sm90.tile<64, 64, box 64, bf16>
        %zero = sa_sm90.zero : !sa_sm90.accumulator<64>
        %p = sa_sm90.to_operand %zero
            : !sa_sm90.accumulator<64> -> !sa_sm90.operand<64, bf16>
        sa_sm90.store_operand %p, %tile barrier %c1
            : !sa_sm90.operand<64, bf16>, !sa_sm90.tile<64, 64, box 64, bf16>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warpgroups
    - (C2) the tile has 64 rows
    - (C3) the tile has the operand's columns and element
    - (C4) a constant barrier lies between 1 and 15
  }];
  let arguments = (ins Sm90_OperandType:$operand,
                       Sm90_TileType:$tile, /*C2, C3*/
                       I32:$barrier /*C4*/);
  let assemblyFormat = [{
    $operand `,` $tile `barrier` $barrier attr-dict
    `:` type($operand) `,` type($tile)
  }];
  let hasVerifier = 1;
}

def Sm90_ScratchOp : Sm90_Op<"scratch", [Pure]> {
  let summary = "Tile `index` of an array of tiles at a fixed offset";
  let description = [{
    Shared memory of one role, such as the weights of a warpgroup between two
    products.

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
    - (C1) it stands in a kernel
    - (C2) offset is a multiple of 1024
    - (C3) the rows of a box are the tile's rows
    - (C4) a tile of constant index, else of index 0, ends within the shared
      memory of the kernel
  }];
  let arguments = (ins I64Attr:$offset, /*C2, C4*/
                       I32:$index /*C4*/);
  let results = (outs Sm90_TileType:$tile /*C3, C4*/);
  let assemblyFormat = [{
    `at` $offset `[` $index `]` attr-dict `:` type($tile)
  }];
  let hasVerifier = 1;
}

#endif // SPARSEATTN_DIALECT_SM90_IR_SM90PRODUCTOPS

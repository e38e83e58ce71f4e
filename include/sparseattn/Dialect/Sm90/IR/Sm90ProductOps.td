//===- Sm90ProductOps.td - Tensor-core products --------------*- tablegen -*-===//
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
  let summary = "Issues a B^T, one group; part i gives columns of b[i]'s rows";
  let description = [{
    fence, k steps, commit. `a` is 64 x D, in registers or shared memory; each
    `b` is a tile of n x D (K-major). The result, of sum(n) columns, may be read
    only after a `wait`.
  }];
  let arguments = (ins Sm90_AOperand:$a, Variadic<Sm90_TileType>:$b);
  let results = (outs Sm90_AccumulatorType:$result);
  let assemblyFormat = [{
    $a `,` $b attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
}

def Sm90_AccumulateOp : Sm90_Op<"accumulate",
    [AllTypesMatch<["init", "result"]>]> {
  let summary = "Issues init + a B, one group; the parts of b lie along k";
  let description = [{
    fence, k steps, commit. `a` is 64 x K, in registers or shared memory; the
    tiles of `b` are k x D each, sum(k) = K, transposed (MN-major). With `clear`
    the first k step ignores `init`. The result may be read only after a `wait`.
  }];
  let arguments = (ins Sm90_AccumulatorType:$init, Sm90_AOperand:$a,
                       Variadic<Sm90_TileType>:$b, UnitAttr:$clear);
  let results = (outs Sm90_AccumulatorType:$result);
  let assemblyFormat = [{
    $init `,` $a `,` $b (`clear` $clear^)? attr-dict
    `:` type($init) `,` type($a) `,` type($b)
  }];
}

def Sm90_WaitOp : Sm90_Op<"wait"> {
  let summary = "Waits until at most `pending` groups are open";
  let description = [{
    Threads the accumulators that are complete afterwards, so that no use of
    them moves before the wait.
  }];
  let arguments = (ins I64Attr:$pending,
                       Variadic<Sm90_AccumulatorType>:$accumulators);
  let results = (outs Variadic<Sm90_AccumulatorType>:$results);
  let assemblyFormat = [{
    $pending `,` $accumulators attr-dict
    `:` type($accumulators) `->` type($results)
  }];
}

def Sm90_LoadOperandOp : Sm90_Op<"load_operand"> {
  let summary = "Reads 64 rows of a tile into registers (ldmatrix)";
  let arguments = (ins Sm90_TileType:$tile);
  let results = (outs Sm90_OperandType:$result);
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($result)";
}

def Sm90_StoreOperandOp : Sm90_Op<"store_operand"> {
  let summary = "Writes an operand to a tile (stmatrix) for a later product";
  let description = [{
    Ends with the proxy fence and a barrier of the warpgroup, named barrier
    `barrier`.
  }];
  let arguments = (ins Sm90_OperandType:$operand, Sm90_TileType:$tile,
                       I32:$barrier);
  let assemblyFormat = [{
    $operand `,` $tile `barrier` $barrier attr-dict
    `:` type($operand) `,` type($tile)
  }];
}

def Sm90_ScratchOp : Sm90_Op<"scratch", [Pure]> {
  let summary = "Tile `index` of an array of tiles at a fixed offset";
  let arguments = (ins I64Attr:$offset, I32:$index);
  let results = (outs Sm90_TileType:$tile);
  let assemblyFormat = "`at` $offset `[` $index `]` attr-dict `:` type($tile)";
}

#endif // SPARSEATTN_DIALECT_SM90_IR_SM90PRODUCTOPS

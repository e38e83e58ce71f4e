//===- Sm90FragmentOps.td - Arithmetic on fragments ----------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SM90_IR_SM90FRAGMENTOPS
#define SPARSEATTN_DIALECT_SM90_IR_SM90FRAGMENTOPS

include "sparseattn/Dialect/Sm90/IR/Sm90Base.td"

class Sm90_FragmentOp<string mnemonic, list<Trait> traits = []>
    : Sm90_Op<mnemonic, !listconcat([Pure], traits)>;

def Sm90_ZeroOp : Sm90_FragmentOp<"zero"> {
  let summary = "An accumulator of zeros";
  let results = (outs Sm90_AccumulatorType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Sm90_RowMaxOp : Sm90_FragmentOp<"row_max"> {
  let summary = "Maximum of this thread's two rows, over the quad";
  let arguments = (ins Sm90_AccumulatorType:$source);
  let results = (outs F32:$low, F32:$high);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

def Sm90_RowSumOp : Sm90_FragmentOp<"row_sum"> {
  let summary = "Sums of this thread's part of its two rows";
  let description = "Not over the quad: see `quad_sum`.";
  let arguments = (ins Sm90_AccumulatorType:$source);
  let results = (outs F32:$low, F32:$high);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

def Sm90_QuadSumOp : Sm90_FragmentOp<"quad_sum"> {
  let summary = "Sum of a value over the four lanes that share a row";
  let arguments = (ins F32:$value);
  let results = (outs F32:$result);
  let assemblyFormat = "$value attr-dict";
}

def Sm90_Exp2Op : Sm90_FragmentOp<"exp2",
    [AllTypesMatch<["source", "result"]>]> {
  let summary = "2^(x * scale - shift), shift by row";
  let arguments = (ins Sm90_AccumulatorType:$source, F32:$scale, F32:$low,
                       F32:$high);
  let results = (outs Sm90_AccumulatorType:$result);
  let assemblyFormat = [{
    $source `,` $scale `,` $low `,` $high attr-dict `:` type($source)
  }];
}

def Sm90_ScaleRowsOp : Sm90_FragmentOp<"scale_rows",
    [AllTypesMatch<["source", "result"]>]> {
  let summary = "x * factor, factor by row";
  let arguments = (ins Sm90_AccumulatorType:$source, F32:$low, F32:$high);
  let results = (outs Sm90_AccumulatorType:$result);
  let assemblyFormat = [{
    $source `,` $low `,` $high attr-dict `:` type($source)
  }];
}

def Sm90_MaskColumnsOp : Sm90_FragmentOp<"mask_columns",
    [AllTypesMatch<["source", "result"]>]> {
  let summary = "Sets columns at or past the limit of their part to -inf";
  let description = [{
    The columns are divided into as many equal parts as there are limits;
    columns `limits[i]` and later of part i become -inf.
  }];
  let arguments = (ins Sm90_AccumulatorType:$source, Variadic<I32>:$limits);
  let results = (outs Sm90_AccumulatorType:$result);
  let assemblyFormat = [{
    $source `,` $limits attr-dict `:` type($source)
  }];
}

def Sm90_ToOperandOp : Sm90_FragmentOp<"to_operand"> {
  let summary = "Rounds an accumulator to 16 bits, as the A operand";
  let arguments = (ins Sm90_AccumulatorType:$source);
  let results = (outs Sm90_OperandType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Sm90_StoreRowsOp : Sm90_Op<"store_rows"> {
  let summary = "Stores 64 rows to global memory as `element`";
  let description = [{
    Row i goes to `base + i * stride` elements, where i < `valid`. 16-byte
    stores: base and stride are multiples of 16 bytes.
  }];
  let arguments = (ins Sm90_AccumulatorType:$source, Sm90_GlobalPtr:$base,
                       I64:$stride, I32:$valid, TypeAttr:$element);
  let assemblyFormat = [{
    $source `,` $base `stride` $stride `valid` $valid `as` $element attr-dict
    `:` type($source) `,` type($base)
  }];
}

def Sm90_StoreRowValuesOp : Sm90_Op<"store_row_values"> {
  let summary = "Stores one fp32 value a row: base[i], where i < `valid`";
  let arguments = (ins F32:$low, F32:$high, Sm90_GlobalPtr:$base, I32:$valid);
  let assemblyFormat = [{
    $low `,` $high `,` $base `valid` $valid attr-dict `:` type($base)
  }];
}

#endif // SPARSEATTN_DIALECT_SM90_IR_SM90FRAGMENTOPS

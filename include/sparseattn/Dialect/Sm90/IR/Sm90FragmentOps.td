//===- Sm90FragmentOps.td - Arithmetic on fragments --------*- tablegen -*-===//
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
  let description = [{
    As the first `init` of products.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %x = sa_sm90.zero : !sa_sm90.accumulator<64>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warpgroups
  }];
  let results = (outs Sm90_AccumulatorType:$result);
  let assemblyFormat = [{
    attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Sm90_RowMaxOp : Sm90_FragmentOp<"row_max"> {
  let summary = "Maximum of this thread's two rows, over the quad";
  let description = [{
    The four lanes that share a row all get its maximum; a NaN is passed over.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %x = sa_sm90.zero : !sa_sm90.accumulator<64>
        %m:2 = sa_sm90.row_max %x : !sa_sm90.accumulator<64>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warpgroups
  }];
  let arguments = (ins Sm90_AccumulatorType:$source);
  let results = (outs F32:$low, F32:$high);
  let assemblyFormat = [{
    $source attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

def Sm90_RowSumOp : Sm90_FragmentOp<"row_sum"> {
  let summary = "Sums of this thread's part of its two rows";
  let description = [{
    Not over the quad: see `quad_sum`.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %x = sa_sm90.zero : !sa_sm90.accumulator<64>
        %l:2 = sa_sm90.row_sum %x : !sa_sm90.accumulator<64>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warpgroups
  }];
  let arguments = (ins Sm90_AccumulatorType:$source);
  let results = (outs F32:$low, F32:$high);
  let assemblyFormat = [{
    $source attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

def Sm90_QuadSumOp : Sm90_FragmentOp<"quad_sum"> {
  let summary = "Sum of a value over the four lanes that share a row";
  let description = [{
    All four get it. Sums that grow over many steps are added up over the quad
    once, at their end.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %one = arith.constant 1.0 : f32
        %sum = sa_sm90.quad_sum %one
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warpgroups
  }];
  let arguments = (ins F32:$value);
  let results = (outs F32:$result);
  let assemblyFormat = [{
    $value attr-dict
  }];
  let hasVerifier = 1;
}

def Sm90_Exp2Op : Sm90_FragmentOp<"exp2", [AllTypesMatch<["source", "result"]>]> {
  let summary = "2^(x * scale - shift), shift by row";
  let description = [{
    `low` is the shift of the thread's first row, `high` of its second one. The
    argument is rounded once; the power is the approximate one of the device.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %x = sa_sm90.zero : !sa_sm90.accumulator<64>
        %one = arith.constant 1.0 : f32
        %p = sa_sm90.exp2 %x, %one, %one, %one : !sa_sm90.accumulator<64>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warpgroups
  }];
  let arguments = (ins Sm90_AccumulatorType:$source, F32:$scale, F32:$low,
                       F32:$high);
  let results = (outs Sm90_AccumulatorType:$result);
  let assemblyFormat = [{
    $source `,` $scale `,` $low `,` $high attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

def Sm90_ScaleRowsOp : Sm90_FragmentOp<"scale_rows", [AllTypesMatch<["source", "result"]>]> {
  let summary = "x * factor, factor by row";
  let description = [{
    `low` is the factor of the thread's first row, `high` of its second one.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %x = sa_sm90.zero : !sa_sm90.accumulator<64>
        %one = arith.constant 1.0 : f32
        %y = sa_sm90.scale_rows %x, %one, %one : !sa_sm90.accumulator<64>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warpgroups
  }];
  let arguments = (ins Sm90_AccumulatorType:$source, F32:$low, F32:$high);
  let results = (outs Sm90_AccumulatorType:$result);
  let assemblyFormat = [{
    $source `,` $low `,` $high attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

def Sm90_MaskColumnsOp : Sm90_FragmentOp<"mask_columns", [AllTypesMatch<["source", "result"]>]> {
  let summary = "Sets columns at or past the limit of their part to -inf";
  let description = [{
    The columns are divided into as many equal parts as there are limits;
    columns `limits[i]` and later of part i become -inf. A limit may be negative
    or past the end of its part.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %x = sa_sm90.zero : !sa_sm90.accumulator<64>
        %limit = arith.constant 40 : i32
        %y = sa_sm90.mask_columns %x, %limit : !sa_sm90.accumulator<64>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warpgroups
    - (C2) there is a limit, and the parts are equal multiples of 8 columns
  }];
  let arguments = (ins Sm90_AccumulatorType:$source, Variadic<I32>:$limits /*C2*/);
  let results = (outs Sm90_AccumulatorType:$result);
  let assemblyFormat = [{
    $source `,` $limits attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

def Sm90_ToOperandOp : Sm90_FragmentOp<"to_operand"> {
  let summary = "Rounds an accumulator to 16 bits, as the A operand";
  let description = [{
    To nearest, ties to even. No value leaves its thread.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %x = sa_sm90.zero : !sa_sm90.accumulator<64>
        %a = sa_sm90.to_operand %x : !sa_sm90.accumulator<64>
            -> !sa_sm90.operand<64, bf16>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warpgroups
    - (C2) the result has the source's columns
  }];
  let arguments = (ins Sm90_AccumulatorType:$source);
  let results = (outs Sm90_OperandType:$result /*C2*/);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Sm90_StoreRowsOp : Sm90_Op<"store_rows"> {
  let summary = "Stores 64 rows to global memory as `element`";
  let description = [{
    Row i goes to `base + i * stride` elements, where i < `valid`. 16-byte
    stores: base and stride are multiples of 16 bytes.

    ```mlir
    sa_sm90.kernel @example(%out: !llvm.ptr<1>) threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %x = sa_sm90.zero : !sa_sm90.accumulator<64>
        %stride = arith.constant 64 : i64
        %valid = arith.constant 64 : i32
        sa_sm90.store_rows %x, %out stride %stride valid %valid as bf16
            : !sa_sm90.accumulator<64>, !llvm.ptr<1>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warpgroups
    - (C2) element is f32, bf16 or f16
    - (C3) columns are a multiple of 32
  }];
  let arguments = (ins Sm90_AccumulatorType:$source, /*C3*/
                       Sm90_GlobalPtr:$base, I64:$stride, I32:$valid,
                       TypeAttr:$element /*C2*/);
  let assemblyFormat = [{
    $source `,` $base `stride` $stride `valid` $valid `as` $element attr-dict
    `:` type($source) `,` type($base)
  }];
  let hasVerifier = 1;
}

def Sm90_StoreRowValuesOp : Sm90_Op<"store_row_values"> {
  let summary = "Stores one fp32 value a row: base[i], where i < `valid`";
  let description = [{
    `low` and `high` are the values of the thread's two rows, the same in the
    four lanes that share them.

    ```mlir
    sa_sm90.kernel @example(%out: !llvm.ptr<1>) threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %one = arith.constant 1.0 : f32
        %valid = arith.constant 64 : i32
        sa_sm90.store_row_values %one, %one, %out valid %valid : !llvm.ptr<1>
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warpgroups
  }];
  let arguments = (ins F32:$low, F32:$high, Sm90_GlobalPtr:$base, I32:$valid);
  let assemblyFormat = [{
    $low `,` $high `,` $base `valid` $valid attr-dict `:` type($base)
  }];
  let hasVerifier = 1;
}

#endif // SPARSEATTN_DIALECT_SM90_IR_SM90FRAGMENTOPS

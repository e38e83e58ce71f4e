//===- SparseAttnComputeOps.td - Ops that compute outputs --*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNCOMPUTEOPS_TD
#define SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNCOMPUTEOPS_TD

include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "sparseattn/Dialect/SparseAttn/IR/SparseAttnTypes.td"

def SA_PermuteOp : SA_Op<"permute", [Pure]> {
  let summary = "Brings tokens into an order, or back";
  let description = [{
    `output[:, i] = input[:, perm[i]]`, where `perm[i]` is the raster token that
    stands at position `i` of the order; with `inverse`,
    `output[:, perm[i]] = input[:, i]`.

    Life span: written by users at a layer's entry and exit;
    `sparseattn-hoist-permutes` turns it into an attribute of the function.

    ```mlir
    #order = #sparseattn.order<hilbert, grid = [4, 8, 8]>
    func.func @permute(%x: tensor<2x256x64xf32>, %lse: tensor<2x256xf32>)
        -> (tensor<2x256x64xf32>, tensor<2x256xf32>) {
      %0 = sparseattn.permute %x by #order : tensor<2x256x64xf32>
      %1 = sparseattn.permute %lse by #order inverse : tensor<2x256xf32>
      return %0, %1 : tensor<2x256x64xf32>, tensor<2x256xf32>
    }
    ```

    **Constraints:**
    - (C1) the token count of the input equals that of the order
    - (C2) the type of the output equals that of the input
  }];
  let arguments = (ins /*(C1, C2)*/ SA_Tokens:$input,
                       /*(C1)*/ SA_OrderAttr:$order, UnitAttr:$inverse);
  let results = (outs /*(C2)*/ SA_Tokens:$output);
  let assemblyFormat = [{
    $input `by` $order (`inverse` $inverse^)? attr-dict
    `:` custom<SameTypes>(type($input), type($output))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$input,
                   "::mlir::sparseattn::OrderAttr":$order,
                   CArg<"bool", "false">:$inverse)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def SA_AttendOp : SA_Op<"attend", [Pure]> {
  let summary = "Attention over the tiles of a mask";
  let description = [{
    `o[h, i] = sum_j softmax_j(scale * (q[h, i] . k[kv(h), j])) v[kv(h), j]` over
    the keys `j` of the selected tiles (and, in a causal mask,
    `j <= i + Skv - Sq`); `lse[h, i]` is the natural logarithm of the sum of
    exponentials. Scores, softmax and accumulation are fp32. A query without a
    visible key gives output 0 and lse -inf.

    With a plan, q, k and v are spread as the plan says; the value is the same
    up to the order of summation.

    Life span: written by users; becomes attend and merge instructions.

    ```mlir
    !mask = !sparseattn.mask<12x110x110, block = 128x128, tokens = 14040x14040>
    func.func @attend(%q: tensor<12x14040x128xbf16>, %k: tensor<4x14040x128xbf16>,
                      %v: tensor<4x14040x128xbf16>, %mask: !mask)
        -> (tensor<12x14040x128xbf16>, tensor<12x14040xf32>) {
      %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.0883883461
        : tensor<12x14040x128xbf16>, tensor<4x14040x128xbf16>,
          tensor<4x14040x128xbf16>, !mask
        -> tensor<12x14040x128xbf16>, tensor<12x14040xf32>
      return %o, %lse : tensor<12x14040x128xbf16>, tensor<12x14040xf32>
    }
    ```

    **Constraints:**
    - (C1) element types of k and v equal that of q
    - (C2) head dimensions of k and v equal that of q
    - (C3) the head dimension is supported (32 to 256 in steps of 8)
    - (C4) heads of v equal heads of k
    - (C5) heads of k divide heads of q
    - (C6) tokens of v equal tokens of k
    - (C7) heads of the mask equal heads of q
    - (C8) query tokens of the mask equal tokens of q
    - (C9) key tokens of the mask equal tokens of k
    - (C10) both block sizes of the mask are supported (16 to 128 in steps of 8)
    - (C11) the type of o equals that of q
    - (C12) lse has heads and tokens of q
    - (C13) the scale is finite
  }];
  let arguments = (ins /*(C1-C3, C5, C7, C8)*/ SA_Tensor:$q,
                       /*(C1, C2, C4-C6, C9)*/ SA_Tensor:$k,
                       /*(C1, C2, C4, C6)*/ SA_Tensor:$v,
                       /*(C7-C10)*/ SA_MaskType:$mask,
                       Optional<SA_PlanType>:$plan,
                       /*(C13)*/ F32Attr:$scale);
  let results = (outs /*(C11)*/ SA_Tensor:$o, /*(C12)*/ SA_Lse:$lse);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $mask (`with` $plan^)? `scale` $scale attr-dict
    `:` type($q) `,` type($k) `,` type($v) `,` type($mask)
    `->` type($o) `,` type($lse)
  }];
  let hasVerifier = 1;
}

def SA_MergeOp : SA_Op<"merge", [Pure]> {
  let summary = "Joins two partial results over disjoint keys";
  let description = [{
    `lse = log(exp(lhs_lse) + exp(rhs_lse))`,
    `o = exp(lhs_lse - lse) lhs_o + exp(rhs_lse - lse) rhs_o`, in fp32. A partial
    without a visible key has output 0 and lse -inf; merging two of them gives
    the same.

    Life span: written by users who attend in parts, for the interpreter and the
    folders; the conversion to `sa_comm` makes its own merge instructions and
    does not take this op.

    ```mlir
    func.func @merge(%o0: tensor<2x100x64xf32>, %l0: tensor<2x100xf32>,
                     %o1: tensor<2x100x64xf32>, %l1: tensor<2x100xf32>)
        -> (tensor<2x100x64xf32>, tensor<2x100xf32>) {
      %o, %lse = sparseattn.merge (%o0, %l0), (%o1, %l1)
        : tensor<2x100x64xf32>, tensor<2x100xf32>
      return %o, %lse : tensor<2x100x64xf32>, tensor<2x100xf32>
    }
    ```

    **Constraints:**
    - (C1) types of rhs_o and o equal that of lhs_o
    - (C2) types of rhs_lse and lse equal that of lhs_lse
    - (C3) lhs_lse has heads and tokens of lhs_o
  }];
  let arguments = (ins /*(C1, C3)*/ SA_Tensor:$lhs_o, /*(C2, C3)*/ SA_Lse:$lhs_lse,
                       /*(C1)*/ SA_Tensor:$rhs_o, /*(C2)*/ SA_Lse:$rhs_lse);
  let results = (outs /*(C1)*/ SA_Tensor:$o, /*(C2)*/ SA_Lse:$lse);
  let assemblyFormat = [{
    ` ` `(` $lhs_o `,` $lhs_lse `)` `,` `(` $rhs_o `,` $rhs_lse `)` attr-dict
    `:` custom<SameTypes>(type($lhs_o), type($rhs_o), type($o))
    `,` custom<SameTypes>(type($lhs_lse), type($rhs_lse), type($lse))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNCOMPUTEOPS_TD

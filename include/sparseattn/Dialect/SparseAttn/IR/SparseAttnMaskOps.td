//===- SparseAttnMaskOps.td - Ops that make and combine masks --*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNMASKOPS_TD
#define SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNMASKOPS_TD

include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "sparseattn/Dialect/SparseAttn/IR/SparseAttnTypes.td"

def SA_MaskBits : SignlessIntElementsAttr<1>;

def SA_PoolOp : SA_Op<"pool", [Pure]> {
  let summary = "Mean of the tokens of every block";
  let description = [{
    `output[h, b, :]` is the mean in fp32 over the valid tokens of block `b`;
    the last block may have fewer tokens than the others.

    Life span: written by users or made with `sparseattn.route`; gone after the
    conversion to `sa_comm`.

    ```mlir
    func.func @pool(%q: tensor<12x14001x128xbf16>) -> tensor<12x110x128xf32> {
      %0 = sparseattn.pool %q block 128
        : tensor<12x14001x128xbf16> -> tensor<12x110x128xf32>
      return %0 : tensor<12x110x128xf32>
    }
    ```

    **Constraints:**
    - (C1) the block size is supported (16 to 128 in steps of 8)
    - (C2) blocks of the output equal ceil(tokens / block)
    - (C3) heads of the output equal those of the input
    - (C4) the head dimension of the output equals that of the input
  }];
  let arguments = (ins SA_Tensor:$input, /*(C1)*/ I64Attr:$block);
  let results = (outs /*(C2-C4)*/ SA_Pooled:$output);
  let assemblyFormat = [{
    $input `block` $block attr-dict `:` type($input) `->` type($output)
  }];
  let hasVerifier = 1;
}

def SA_RouteOp : SA_Op<"route", [Pure]> {
  let summary = "Selects kv-blocks from the scores of pooled queries and keys";
  let description = [{
    `score[h, i, j] = scale * (pooled_q[h, i] . pooled_k[kv(h), j])` in fp32;
    the policy selects kv-blocks of every (head, q-block) from the row of
    scores. The mask's type says block sizes, token counts, order and whether it
    is causal.

    Life span: written by users; carried to the device by the conversion to
    `sa_comm`. The mask is known at run time only.

    ```mlir
    !mask = !sparseattn.mask<12x110x110, block = 128x128, tokens = 14040x14040>
    func.func @route(%pq: tensor<12x110x128xf32>, %pk: tensor<2x110x128xf32>) -> !mask {
      %0 = sparseattn.route %pq, %pk
        policy #sparseattn.top_p<p = 0.9, min_blocks = 4> scale 0.0883883461
        : tensor<12x110x128xf32>, tensor<2x110x128xf32> -> !mask
      return %0 : !mask
    }
    ```

    **Constraints:**
    - (C1) heads of the mask equal heads of pooled q
    - (C2) heads of pooled k divide heads of pooled q
    - (C3) head dimensions of pooled q and pooled k are equal
    - (C4) the q-block count of the mask equals pooled q rows
    - (C5) the kv-block count of the mask equals pooled k rows
    - (C6) keep ranges of the policy end within the kv-blocks
    - (C7) the scale is finite
  }];
  let arguments = (ins /*(C1-C4)*/ SA_Pooled:$pooled_q,
                       /*(C2, C3, C5)*/ SA_Pooled:$pooled_k,
                       /*(C6)*/ SA_PolicyInterface:$policy,
                       /*(C7)*/ F32Attr:$scale);
  let results = (outs /*(C1, C4, C5)*/ SA_MaskType:$mask);
  let assemblyFormat = [{
    $pooled_q `,` $pooled_k `policy` $policy `scale` $scale attr-dict
    `:` type($pooled_q) `,` type($pooled_k) `->` type($mask)
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def SA_ExplicitMaskOp : SA_Op<"explicit_mask", [Pure, ConstantLike]> {
  let summary = "A mask whose tiles are written out";
  let description = [{
    `bits[h, i, j]` true selects kv-block `j` for q-block `i` of head `h`. The
    list is authoritative: no other part of the layer adds to it, except
    `sparseattn.augment` where it is written. In a causal mask, selected tiles
    without a visible key are allowed and contribute nothing;
    `sparseattn-fold-masks` drops them.

    Life span: written by users, by the mask-file import and by
    `sparseattn-fold-masks`; its plan is made by
    `sparseattn-plan-constant-masks`.

    ```mlir
    !mask = !sparseattn.mask<1x2x3, block = 64x64, tokens = 100x150>
    func.func @mask() -> !mask {
      %0 = sparseattn.explicit_mask
        dense<[[[true, false, true], [false, false, true]]]> : tensor<1x2x3xi1> -> !mask
      return %0 : !mask
    }
    ```

    **Constraints:**
    - (C1) the shape of the bits equals heads x q-blocks x kv-blocks of the mask
  }];
  let arguments = (ins /*(C1)*/ SA_MaskBits:$bits);
  let results = (outs /*(C1)*/ SA_MaskType:$mask);
  let assemblyFormat = "$bits attr-dict `->` type($mask)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def SA_PolicyMaskOp : SA_Op<"policy_mask", [Pure]> {
  let summary = "A mask that follows from a rule and the shape alone";
  let description = [{
    The tiles that a policy selects without scores: `#sparseattn.dense` or
    `#sparseattn.window`. In a causal mask, tiles without a visible key are left
    out.

    Life span: written by users; becomes `sparseattn.explicit_mask` in
    `sparseattn-fold-masks`. A dense mask that is not causal folds at once.

    ```mlir
    !mask = !sparseattn.mask<12x110x110, block = 128x128, tokens = 14040x14040, causal>
    func.func @mask() -> !mask {
      %0 = sparseattn.policy_mask #sparseattn.window<blocks = 3> -> !mask
      return %0 : !mask
    }
    ```

    **Constraints:**
    - (C1) the policy is static (dense or window)
  }];
  let arguments = (ins /*(C1)*/ SA_PolicyInterface:$policy);
  let results = (outs SA_MaskType:$mask);
  let assemblyFormat = "$policy attr-dict `->` type($mask)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

class SA_MaskSetOp<string mnemonic> : SA_Op<mnemonic, [Pure, Commutative]> {
  let arguments = (ins SA_MaskType:$lhs, /*(C1-C4)*/ SA_MaskType:$rhs);
  let results = (outs /*(C1-C4)*/ SA_MaskType:$mask);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict
    `:` custom<SameTypes>(type($lhs), type($rhs), type($mask))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def SA_UnionOp : SA_MaskSetOp<"union"> {
  let summary = "Tiles that either mask selects";
  let description = [{
    Masks of different orders, blocks or sizes do not mix.

    Life span: written by users; folded when both masks are constant.

    ```mlir
    !mask = !sparseattn.mask<2x8x8, block = 64x64, tokens = 512x512>
    func.func @union(%a: !mask) -> !mask {
      %window = sparseattn.policy_mask #sparseattn.window<blocks = 1> -> !mask
      %0 = sparseattn.union %a, %window : !mask
      return %0 : !mask
    }
    ```

    **Constraints:**
    - (C1) heads and token counts of rhs and of the result equal those of lhs
    - (C2) blocks of rhs and of the result equal those of lhs
    - (C3) orders of rhs and of the result equal that of lhs
    - (C4) rhs and the result are causal if and only if lhs is
  }];
}

def SA_IntersectOp : SA_MaskSetOp<"intersect"> {
  let summary = "Tiles that both masks select";
  let description = [{
    Masks of different orders, blocks or sizes do not mix.

    Life span: written by users; folded when both masks are constant.

    ```mlir
    !mask = !sparseattn.mask<2x8x8, block = 64x64, tokens = 512x512>
    func.func @intersect(%a: !mask, %b: !mask) -> !mask {
      %0 = sparseattn.intersect %a, %b : !mask
      return %0 : !mask
    }
    ```

    **Constraints:**
    - (C1) heads and token counts of rhs and of the result equal those of lhs
    - (C2) blocks of rhs and of the result equal those of lhs
    - (C3) orders of rhs and of the result equal that of lhs
    - (C4) rhs and the result are causal if and only if lhs is
  }];
}

#endif // SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNMASKOPS_TD

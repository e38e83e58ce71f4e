//===- SparseAttnTypes.td - Masks and plans as values ------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNTYPES_TD
#define SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "sparseattn/Dialect/SparseAttn/IR/SparseAttnAttrs.td"

class SA_Type<string name, string typeMnemonic>
    : TypeDef<SparseAttnDialect, name> {
  let mnemonic = typeMnemonic;
}

def SA_MaskType : SA_Type<"Mask", "mask"> {
  let summary = "Block mask M[head, q-block, kv-block]";
  let description = [{
    `heads x q-blocks x kv-blocks` bits over tokens that stand in `order`
    (absent: the order does not matter or is not known). `block` is query x key
    tokens of a tile, `tokens` is `Sq x Skv`; the last block of either side may
    be partial. With `causal`, query `i` sees key `j` if and only if
    `j <= i + Skv - Sq`, positions counted in the mask's order; a selected tile
    without a visible key contributes nothing.

    Life span: made by `sparseattn.route`, `sparseattn.explicit_mask` and
    `sparseattn.policy_mask`; gone after the conversion to `sa_comm`.

    ```mlir
    func.func private @attend(!sparseattn.mask<12x110x110, block = 128x128,
      tokens = 14040x14040, order = <hilbert, grid = [9, 30, 52]>>)
    func.func private @causal(!sparseattn.mask<8x4x7, block = 64x64,
      tokens = 250x400, causal>)
    ```

    **Constraints:**
    - (C1) there is at least 1 head
    - (C2) block sizes are at least 1
    - (C3) token counts are not negative and below 2^40
    - (C4) block counts equal ceil(tokens / block)
    - (C5) there are fewer than 2^40 tiles
    - (C6) the tokens of an order equal both token counts
  }];
  let parameters = (ins
    "int64_t":$heads,
    "int64_t":$qBlocks,
    "int64_t":$kvBlocks,
    "int64_t":$blockQ,
    "int64_t":$blockK,
    "int64_t":$sq,
    "int64_t":$skv,
    "::mlir::sparseattn::OrderAttr":$order,
    "bool":$causal);
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
  let builders = [
    TypeBuilder<(ins "int64_t":$heads, "int64_t":$sq, "int64_t":$skv,
                     "int64_t":$blockQ, "int64_t":$blockK,
                     CArg<"::mlir::sparseattn::OrderAttr", "{}">:$order,
                     CArg<"bool", "false">:$causal), [{
      return $_get($_ctxt, heads, ceilBlocks(sq, blockQ), ceilBlocks(skv, blockK),
                   blockQ, blockK, sq, skv, order, causal);
    }]>
  ];
  let extraClassDeclaration = [{
    /// ceil(tokens / block); 0 for malformed sizes.
    static int64_t ceilBlocks(int64_t tokens, int64_t block) {
      return tokens <= 0 || block <= 0 ? 0 : (tokens - 1) / block + 1;
    }
    /// heads * q-blocks * kv-blocks.
    int64_t getTiles() const {
      return getHeads() * getQBlocks() * getKvBlocks();
    }
    /// Whether some query of the q-block sees some key of the kv-block.
    bool isVisible(int64_t qBlock, int64_t kvBlock) const;
  }];
}

def SA_PlanType : SA_Type<"Plan", "plan"> {
  let summary = "A placement, later with the decisions for one mask";
  let description = [{
    Says who holds what. Made by `sparseattn.place`, refined by
    `sparseattn.balance` and `sparseattn.demand`, used by `sparseattn.reshard`,
    `sparseattn.augment` and `sparseattn.attend`. Gone after the conversion to
    `sa_comm`.

    ```mlir
    func.func private @reshard(!sparseattn.plan)
    ```
  }];
}

#endif // SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNTYPES_TD

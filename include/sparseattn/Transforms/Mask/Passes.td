//===- Passes.td - Canonical masks ----------------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TRANSFORMS_MASK_PASSES_TD
#define SPARSEATTN_TRANSFORMS_MASK_PASSES_TD

include "mlir/Pass/PassBase.td"

def FoldMasksPass : Pass<"sparseattn-fold-masks", "::mlir::ModuleOp"> {
  let summary = "Make every constant mask explicit";
  let description = [{
    `policy_mask`, and `route` with a policy that needs no scores, become
    `explicit_mask`; `union` and `intersect` of constant masks are evaluated;
    selected tiles of a causal mask without a visible key are dropped; ops of the
    dialect that nothing uses any more are erased.

    Before:

    ```mlir
    %0 = sparseattn.policy_mask #sparseattn.window<blocks = 0> -> !mask
    %1 = sparseattn.explicit_mask dense<[[[true, false], [true, false]]]>
      : tensor<1x2x2xi1> -> !mask
    %2 = sparseattn.union %0, %1 : !mask
    ```

    After:

    ```mlir
    %2 = sparseattn.explicit_mask dense<[[[true, false], [true, true]]]>
      : tensor<1x2x2xi1> -> !mask
    ```

    Requires: nothing.

    Guarantees: no `policy_mask`; no `union` or `intersect` of two constant
    masks; every explicit mask has visible tiles only.

    Does not handle: constant masks of more than `max-tiles` tiles: an error.
    `union` and `intersect` with a routed mask stay.
  }];
  let options = [
    Option<"maxTiles", "max-tiles", "int64_t", "134217728",
           "Most tiles (heads x q-blocks x kv-blocks) of a constant mask">,
  ];
  let statistics = [
    Statistic<"numPolicies", "policies-folded",
              "Policy masks and static routes made explicit">,
    Statistic<"numCombined", "combinations-folded",
              "Unions and intersections evaluated">,
    Statistic<"numRouted", "combinations-kept",
              "Unions and intersections kept: a side is routed">,
    Statistic<"numDropped", "tiles-dropped",
              "Selected tiles of causal masks without a visible key">,
  ];
}

def VerifyMaskPass : Pass<"sparseattn-verify-mask", "::mlir::ModuleOp"> {
  let summary = "Check what the mask phase guarantees";
  let description = [{
    Changes nothing. In every function with an `attend` op:

    1. the mask of `attend` is a `route` or an `explicit_mask`, perhaps through
       `augment`;
    2. pooled q and pooled k of `route` are `pool` results, with the block sizes
       of the mask, of the q and k that are attended;
    3. an explicit mask selects no tile without a visible key;
    4. the order of the mask, where it has one, is the one by which the layer's
       tokens are permuted, where they are.

    For example, this is refused with `'sparseattn.route' op block of pooled q
    must equal the query block of mask: got 64, expected 128`, although the
    counts agree:

    ```mlir
    %pq = sparseattn.pool %q block 64 : tensor<4x100x64xf32> -> tensor<4x2x64xf32>
    %mask = sparseattn.route %pq, %pk policy #p scale 0.125
      : tensor<4x2x64xf32>, tensor<4x2x64xf32>
      -> !sparseattn.mask<4x2x2, block = 80x80, tokens = 100x100>
    ```

    Requires: `sparseattn-fold-masks` has run.

    Guarantees: the plan phase finds one mask with a known source.

    Does not handle: masks that are arguments of the function: an error.
  }];
  let statistics = [
    Statistic<"numRouted", "routed-masks", "Masks known at run time">,
    Statistic<"numConstant", "constant-masks", "Masks known now">,
    Statistic<"numEmptyRows", "empty-rows",
              "(head, q-block) pairs of constant masks without a tile">,
  ];
}

#endif // SPARSEATTN_TRANSFORMS_MASK_PASSES_TD

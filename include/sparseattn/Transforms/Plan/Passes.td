//===- Passes.td - Who computes what --------------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TRANSFORMS_PLAN_PASSES_TD
#define SPARSEATTN_TRANSFORMS_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def InsertPlanPass : Pass<"sparseattn-insert-plan", "::mlir::ModuleOp"> {
  let summary = "Place a layer on a mesh and say when its work is balanced";
  let description = [{
    Adds to every function with an `attend` op: `place`; `reshard` of q, k and v
    to heads and of o and lse back to the sequence; `balance` after the mask;
    `augment` on request; `demand`. q and k are exchanged first, v just before
    `attend`, so that planning hides under the projection of v. Only `place`
    knows the mesh.

    Before:

    ```mlir
    %pq = sparseattn.pool %q block 128 : !q -> !pooled
    %pk = sparseattn.pool %k block 128 : !q -> !pooled
    %mask = sparseattn.route %pq, %pk policy #p scale 0.1 : !pooled, !pooled -> !mask
    %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1
      : !q, !q, !q, !mask -> !q, !lse
    return %o, %lse : !q, !lse
    ```

    After (`ulysses=4 ring=1 balance=swap augment=true`):

    ```mlir
    %p0 = sparseattn.place %q, %k on #placement : !q, !q
    %qh = sparseattn.reshard %q, %p0 to heads : !q
    %kh = sparseattn.reshard %k, %p0 to heads : !q
    %pq = sparseattn.pool %qh block 128 : !q -> !pooled
    %pk = sparseattn.pool %kh block 128 : !q -> !pooled
    %m0 = sparseattn.route %pq, %pk policy #p scale 0.1 : !pooled, !pooled -> !mask
    %p1 = sparseattn.balance %p0, %m0 using swap : !mask
    %m1 = sparseattn.augment %m0, %p1 : !mask
    %p2 = sparseattn.demand %m1, %p1 : !mask
    %vh = sparseattn.reshard %v, %p0 to heads : !q
    %oh, %lh = sparseattn.attend %qh, %kh, %vh, %m1 with %p2 scale 0.1
      : !q, !q, !q, !mask -> !q, !lse
    %o = sparseattn.reshard %oh, %p2 to sequence : !q
    %lse = sparseattn.reshard %lh, %p2 to sequence : !lse
    return %o, %lse : !q, !lse
    ```

    After (`ulysses=4 balance=pre repair=true`), where q and k are pooled as they
    come, `#placement` has `block_shards`, and the balanced plan says where the
    tensors go:

    ```mlir
    %p0 = sparseattn.place %q, %k on #placement : !q, !q
    %pq = sparseattn.pool %q block 128 : !q -> !pooled
    %pk = sparseattn.pool %k block 128 : !q -> !pooled
    %m0 = sparseattn.route %pq, %pk policy #p scale 0.1 : !pooled, !pooled -> !mask
    %p1 = sparseattn.balance %p0, %m0 using pre repair : !mask
    %p2 = sparseattn.demand %m0, %p1 : !mask
    %qh = sparseattn.reshard %q, %p2 to heads : !q
    %kh = sparseattn.reshard %k, %p2 to heads : !q
    %vh = sparseattn.reshard %v, %p2 to heads : !q
    ```

    Requires: the guarantees of `sparseattn-verify-mask`; q, k and v of `attend`
    are arguments of the function.

    Guarantees: what `sparseattn-verify-plan` checks, except the plans of
    constant masks. A layer that has a plan keeps it when the options agree with
    it or are left out; otherwise that is an error.

    Does not handle: several `attend` ops or blocks in a function; augmentation
    of a constant mask, which has no scores, and under `balance=pre`: errors.
  }];
  let options = [
    Option<"ulysses", "ulysses", "int64_t", "0",
           "Ranks that share a sequence segment and split the heads (0: as the "
           "layer's plan says, else 1)">,
    Option<"ring", "ring", "int64_t", "0",
           "Sequence segments (0: as the layer's plan says, else 1)">,
    Option<"balance", "balance", "std::string", "\"\"",
           "none, swap, split or pre (empty: as the layer's plan says, else "
           "swap where there are several Ulysses indices)">,
    Option<"augment", "augment", "bool", "false",
           "Spend the slack of ranks on next-best tiles">,
    Option<"repair", "repair", "bool", "false",
           "Even out with row moves what balance pre leaves">,
  ];
  let statistics = [
    Statistic<"numPlanned", "layers-planned", "Layers that received a plan">,
    Statistic<"numKept", "layers-kept", "Layers that had a plan">,
  ];
}

def PlanConstantMasksPass
    : Pass<"sparseattn-plan-constant-masks", "::mlir::ModuleOp"> {
  let summary = "Plan the masks that are known now";
  let description = [{
    Calls the planning library, the one that plans routed masks at run time, for
    every `balance` of an explicit mask and writes the plan on it.

    Before:

    ```mlir
    %p1 = sparseattn.balance %p0, %mask using swap : !mask
    ```

    After:

    ```mlir
    %p1 = sparseattn.balance %p0, %mask using swap plan #plan : !mask
    ```

    Requires: the guarantees of `sparseattn-insert-plan`.

    Guarantees: every `balance` of an explicit mask has a plan.

    Does not handle: routed masks (left alone); plans that are written already
    (left alone: what the text says is what runs).
  }];
  let statistics = [
    Statistic<"numPlanned", "masks-planned", "Constant masks planned">,
    Statistic<"numWritten", "plans-kept", "Plans that were written already">,
    Statistic<"numRouted", "masks-routed", "Masks planned at run time">,
    Statistic<"numMoves", "heads-moved", "Moves in the plans made">,
  ];
}

def VerifyPlanPass : Pass<"sparseattn-verify-plan", "::mlir::ModuleOp"> {
  let summary = "Check what the plan phase guarantees";
  let description = [{
    Changes nothing. In every function with an `attend` op:

    1. `attend` has a plan, made by `demand` from a `balance` from a `place`;
    2. heads, blocks and tokens of the placement equal those of the mask, and
       the planning library accepts the placement;
    3. `balance` and `demand` see the mask that is attended (`balance` before
       `augment`, which uses the balanced plan);
    4. q, k and v are brought to heads exactly once, by the plan of `place`, and
       pooled after that; with `pre`, by the plan of `attend`, and pooled before,
       on a placement with block shards; o and lse are used only by a reshard to the sequence,
       by the plan of `attend`;
    5. a fixed plan is one for the mesh and the placement, by the rules of the
       planning library;
    6. an explicit mask has a fixed plan without extra tiles, whose transfers
       hold every kv-block that the mask needs from another ring segment.

    For example, this is refused with `'sparseattn.balance' op plan: plan's mesh
    axis ulysses does not match the placement: got 2, expected 4`:

    ```mlir
    #placement = #sparseattn.placement<mesh = <ulysses = 4, ring = 1>, heads = 12,
                                       kv_heads = 12, q_blocks = 8, kv_blocks = 8>
    #plan = #sparseattn.plan<mesh = <ulysses = 2, ring = 1>, heads = 12, kv_heads = 12,
                             q_blocks = 8, kv_blocks = 8>
    ```

    Requires: `sparseattn-insert-plan` and `sparseattn-plan-constant-masks` have
    run, or a plan is written by hand.

    Guarantees: the conversion to `sa_comm` finds one plan that fits.

    Does not handle: whether a plan is a good one.
  }];
  let statistics = [
    Statistic<"numVerified", "layers-verified", "Layers with a plan that fits">,
  ];
}

#endif // SPARSEATTN_TRANSFORMS_PLAN_PASSES_TD

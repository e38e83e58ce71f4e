//===- SparseAttnPlanOps.td - Ops that say who computes what --*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNPLANOPS_TD
#define SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNPLANOPS_TD

include "mlir/IR/CommonAttrConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "sparseattn/Dialect/SparseAttn/IR/SparseAttnTypes.td"

def SA_PlaceOp : SA_Op<"place", [Pure]> {
  let summary = "Initial placement of a layer on a mesh";
  let description = [{
    The first plan of a layer: its heads and blocks in contiguous even parts
    over the mesh, nothing moved.

    Life span: made by `sparseattn-insert-plan` (or written by users); gone
    after the conversion to `sa_comm`.

    ```mlir
    #placement = #sparseattn.placement<mesh = <ulysses = 4, ring = 1>, heads = 12,
                                       kv_heads = 4, q_blocks = 110, kv_blocks = 110>
    func.func @place(%q: tensor<12x14040x128xf32>, %k: tensor<4x14040x128xf32>) {
      %0 = sparseattn.place %q, %k on #placement
        : tensor<12x14040x128xf32>, tensor<4x14040x128xf32>
      return
    }
    ```

    **Constraints:**
    - (C1) heads of the placement equal heads of q
    - (C2) kv heads of the placement equal heads of k
    - (C3) head dimensions of q and k are equal
    - (C4) element types of q and k are equal
  }];
  let arguments = (ins /*(C1, C3, C4)*/ SA_Tensor:$q,
                       /*(C2, C3, C4)*/ SA_Tensor:$k,
                       /*(C1, C2)*/ SA_PlacementAttr:$placement);
  let results = (outs SA_PlanType:$plan);
  let assemblyFormat = [{
    $q `,` $k `on` $placement attr-dict `:` type($q) `,` type($k)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    MeshAttr getMesh() { return getPlacement().getMesh(); }
  }];
}

def SA_BalanceOp : SA_Op<"balance", [Pure]> {
  let summary = "Evens out the work of the ranks for one mask";
  let description = [{
    `none` keeps the plan's owners. `swap` moves whole heads: at most one out of
    and one into each Ulysses index, so that the largest load becomes smallest,
    then the variance. `split` moves q-blocks of heads, at most `pieces` out of
    and into each rank. `pre` stands before the exchange: any head may go to any
    Ulysses index, for the price of none; with `repair` row moves even out the
    rest. Loads are tiles, weighted by the cost model. Thresholds are thousandths of rho = largest load / mean load: below `k1` nothing is
    done, from `k2` on heads move.

    A plan that is written here is what runs: for a constant mask the plan of
    `sparseattn-plan-constant-masks`, else the plan of one run.

    Life span: made by `sparseattn-insert-plan`; the conversion to `sa_comm`
    makes it the plan instruction of the template, or folds its fixed plan.

    ```mlir
    !mask = !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>
    #placement = #sparseattn.placement<mesh = <ulysses = 2, ring = 1>, heads = 4,
                                       kv_heads = 4, q_blocks = 8, kv_blocks = 8>
    #plan = #sparseattn.plan<mesh = <ulysses = 2, ring = 1>, heads = 4, kv_heads = 4,
                             q_blocks = 8, kv_blocks = 8, moves = [[1, 0, 1], [2, 1, 0]]>
    #cost = #sparseattn.cost_model<tile_ps = 14000>
    func.func @balance(%q: tensor<4x512x64xf32>, %mask: !mask) {
      %0 = sparseattn.place %q, %q on #placement : tensor<4x512x64xf32>, tensor<4x512x64xf32>
      %1 = sparseattn.balance %0, %mask using swap cost #cost thresholds 1020, 1040 : !mask
      %2 = sparseattn.balance %0, %mask using swap plan #plan : !mask
      return
    }
    ```

    **Constraints:**
    - (C1) thresholds are at least 1000 and k2 is not below k1
    - (C2) heads, q-blocks and kv-blocks of a fixed plan equal those of the mask
    - (C3) a fixed plan moves nothing under the algorithm `none`
    - (C4) max_pieces is from 0 to 1024
  }];
  let arguments = (ins SA_PlanType:$plan,
                       /*(C2)*/ SA_MaskType:$mask,
                       /*(C3)*/ SA_BalanceAlgorithm:$algorithm,
                       UnitAttr:$repair,
                       /*(C4)*/ DefaultValuedAttr<I64Attr, "6">:$max_pieces,
                       OptionalAttr<SA_CostModelAttr>:$cost,
                       /*(C1)*/ DefaultValuedAttr<I64Attr, "1050">:$k1_milli,
                       /*(C1)*/ DefaultValuedAttr<I64Attr, "1100">:$k2_milli,
                       /*(C2, C3)*/ OptionalAttr<SA_PlanAttr>:$fixed_plan);
  let results = (outs SA_PlanType:$result);
  let assemblyFormat = [{
    $plan `,` $mask `using` $algorithm (`repair` $repair^)?
    `` custom<MaxPieces>($max_pieces) (`plan` $fixed_plan^)?
    (`cost` $cost^)? `` custom<Thresholds>($k1_milli, $k2_milli)
    attr-dict `:` type($mask)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$plan, "::mlir::Value":$mask,
                   "::mlir::sparseattn::BalanceAlgorithm":$algorithm)>
  ];
  let hasVerifier = 1;
}

def SA_AugmentOp : SA_Op<"augment", [Pure]> {
  let summary = "Spends the slack of ranks on next-best tiles";
  let description = [{
    Ranks whose load is below the largest by at least `n2` thousandths of it
    spend `n1` thousandths of that slack on further tiles of the heads that
    stayed with them, next-best by routing score, kv-blocks of their own ring
    segment only. The result has every tile of the input.

    Life span: made by `sparseattn-insert-plan` on request; becomes the augment
    instruction.

    ```mlir
    !mask = !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>
    func.func @augment(%mask: !mask, %plan: !sparseattn.plan) -> !mask {
      %0 = sparseattn.augment %mask, %plan slack 800, 70 : !mask
      return %0 : !mask
    }
    ```

    **Constraints:**
    - (C1) n1 and n2 are from 0 to 1000
    - (C2) the type of the result equals that of the mask
  }];
  let arguments = (ins /*(C2)*/ SA_MaskType:$mask, SA_PlanType:$plan,
                       /*(C1)*/ DefaultValuedAttr<I64Attr, "800">:$n1_milli,
                       /*(C1)*/ DefaultValuedAttr<I64Attr, "70">:$n2_milli);
  let results = (outs /*(C2)*/ SA_MaskType:$result);
  let assemblyFormat = [{
    $mask `,` $plan `` custom<Slack>($n1_milli, $n2_milli) attr-dict
    `:` custom<SameTypes>(type($mask), type($result))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$mask, "::mlir::Value":$plan)>
  ];
  let hasVerifier = 1;
}

def SA_DemandOp : SA_Op<"demand", [Pure]> {
  let summary = "Which kv-blocks travel between ring segments";
  let description = [{
    For every rank, the kv-blocks of other ring segments that its tiles need:
    the union over its q-blocks and over the query heads of one kv head. Empty
    on a mesh with one ring segment.

    Life span: made by `sparseattn-insert-plan`; becomes the kv exchange.

    ```mlir
    !mask = !sparseattn.mask<4x8x8, block = 64x64, tokens = 512x512>
    func.func @demand(%mask: !mask, %plan: !sparseattn.plan) -> !sparseattn.plan {
      %0 = sparseattn.demand %mask, %plan : !mask
      return %0 : !sparseattn.plan
    }
    ```
  }];
  let arguments = (ins SA_MaskType:$mask, SA_PlanType:$plan);
  let results = (outs SA_PlanType:$result);
  let assemblyFormat = "$mask `,` $plan attr-dict `:` type($mask)";
}

def SA_ReshardOp : SA_Op<"reshard", [Pure]> {
  let summary = "Changes which rank holds which part of a tensor";
  let description = [{
    `heads`: from shards of the sequence with all heads to whole heads of a
    segment, as the plan owns them. `sequence`: back. The value of the tensor
    does not change.

    Life span: made by `sparseattn-insert-plan`; becomes the exchanges between
    shards and heads.

    ```mlir
    func.func @reshard(%q: tensor<12x14040x128xf32>, %plan: !sparseattn.plan)
        -> tensor<12x14040x128xf32> {
      %0 = sparseattn.reshard %q, %plan to heads : tensor<12x14040x128xf32>
      return %0 : tensor<12x14040x128xf32>
    }
    ```

    **Constraints:**
    - (C1) the type of the output equals that of the input
  }];
  let arguments = (ins /*(C1)*/ SA_Tokens:$input, SA_PlanType:$plan,
                       SA_Layout:$layout);
  let results = (outs /*(C1)*/ SA_Tokens:$output);
  let assemblyFormat = [{
    $input `,` $plan `to` $layout attr-dict
    `:` custom<SameTypes>(type($input), type($output))
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$plan,
                   "::mlir::sparseattn::Layout":$layout)>
  ];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNPLANOPS_TD

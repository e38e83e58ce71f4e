//===- Passes.td - From sparseattn to sa_comm --------------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SPARSEATTNTOCOMM_PASSES_TD
#define SPARSEATTN_CONVERSION_SPARSEATTNTOCOMM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertToCommPass : Pass<"sparseattn-convert-to-comm", "::mlir::ModuleOp"> {
  let summary = "Lower a planned layer to a schedule";
  let description = [{
    Replaces the module's layer function by the schedule that carries it out.
    Every op becomes the instructions that do its work, in the order of the
    function's body: `reshard` to heads an exchange, `pool` and `route` the
    routing, `balance` the plan instruction and later the moves, `augment` the
    extra tiles, `attend` the attention over own and received kv-blocks with
    its merges, `reshard` to sequence the way home.

    A routed mask gives an `sa_comm.template`. A constant mask
    (`explicit_mask`) whose plan is known (`balance ... plan`) gives the same
    schedule with the mask loaded instead of routed, bound on the spot by the
    same binder that binds templates at run time: an `sa_comm.program`.

    Before:

    ```mlir
    %plan = sparseattn.place %q, %k on #placement : ...
    %qh = sparseattn.reshard %q, %plan to heads : ...
    %m = sparseattn.route %pq, %pk policy #policy scale 0.1 : ...
    %b = sparseattn.balance %plan, %m using swap : ...
    %o, %lse = sparseattn.attend %qh, %kh, %vh, %m with %d scale 0.1 : ...
    ```

    After:

    ```mlir
    sa_comm.template @layer mesh <ulysses = 4, ring = 1> ... {
      sa_comm.window @q_shard : ... input
      sa_comm.spmd {
        sa_comm.phase 0 "exchange_qk"
        sa_comm.all_to_all ulysses @q_shard to @q send @xq_send ...
        ...
      }
    }
    ```

    Requires: one function with one `attend` op, after
    `sparseattn-insert-plan`; a constant mask also after
    `sparseattn-plan-constant-masks`.

    Guarantees: no `sparseattn` op of the layer is left; the schedule verifies.

    Does not handle: `permute` (hoisted before, by
    `sparseattn-hoist-permutes`), `merge` ops written by hand, masks that mix
    routing and constants.
  }];
  let dependentDialects = ["::mlir::sa_comm::CommDialect"];
  let statistics = [
    Statistic<"numTemplates", "templates", "Layers lowered to a template">,
    Statistic<"numPrograms", "programs", "Layers lowered to a bound program">,
  ];
}

#endif // SPARSEATTN_CONVERSION_SPARSEATTNTOCOMM_PASSES_TD

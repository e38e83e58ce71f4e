//===- Passes.td - A layer's entry and exit ----------------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TRANSFORMS_BOUNDARY_PASSES_TD
#define SPARSEATTN_TRANSFORMS_BOUNDARY_PASSES_TD

include "mlir/Pass/PassBase.td"

def HoistPermutesPass : Pass<"sparseattn-hoist-permutes", "::mlir::ModuleOp"> {
  let summary = "Turn permutes at a layer's entry and exit into an attribute";
  let description = [{
    Tokens are ordered once at the model's entry and restored at its exit. A
    layer that is a whole model says so with `permute` ops on its arguments and
    inverse ones on its results; they become the attribute
    `sparseattn.boundary_order` of the function, which whoever hands in the
    tensors carries out.

    Before:

    ```mlir
    func.func @layer(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse) {
      %qo = sparseattn.permute %q by #order : !q
      ...
      %o = sparseattn.permute %oo by #order inverse : !q
      return %o, %lse
    }
    ```

    After:

    ```mlir
    func.func @layer(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse)
        attributes {sparseattn.boundary_order = #order} {
      ...
      return %oo, %lseo
    }
    ```

    Requires: nothing.

    Guarantees: no `permute` op in a function with an `attend` op.

    Does not handle: a layer of which only some of q, k, v and the results are
    permuted, different orders, permutes between other ops: these are errors.
  }];
  let statistics = [
    Statistic<"numHoisted", "permutes-hoisted", "Permute ops turned into the attribute">,
  ];
}

#endif // SPARSEATTN_TRANSFORMS_BOUNDARY_PASSES_TD

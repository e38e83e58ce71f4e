//===- SparseAttnInterfaces.td - Interfaces of the dialect --*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNINTERFACES_TD
#define SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNINTERFACES_TD

include "mlir/IR/OpBase.td"

def SA_PolicyInterface : AttrInterface<"PolicyAttrInterface"> {
  let cppNamespace = "::mlir::sparseattn";
  let description = [{
    A rule that selects kv-blocks for every (head, q-block). Implemented by
    `#sparseattn.top_p`, `#sparseattn.top_k`, `#sparseattn.dense` and
    `#sparseattn.window`.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether the selection follows from the shape alone, without scores.
    }], "bool", "isStatic">,
    InterfaceMethod<[{
      Largest kv-block number (exclusive) that the rule names; 0 if it names
      none.
    }], "int64_t", "getKeepEnd">,
  ];
}

#endif // SPARSEATTN_DIALECT_SPARSEATTN_IR_SPARSEATTNINTERFACES_TD

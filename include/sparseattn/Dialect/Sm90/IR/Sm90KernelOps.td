//===- Sm90KernelOps.td - Kernels and the roles of warps -----*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SM90_IR_SM90KERNELOPS
#define SPARSEATTN_DIALECT_SM90_IR_SM90KERNELOPS

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "sparseattn/Dialect/Sm90/IR/Sm90Base.td"

def Sm90_KernelOp : Sm90_Op<"kernel",
    [AutomaticAllocationScope, IsolatedFromAbove, FunctionOpInterface,
     SingleBlock, NoTerminator]> {
  let summary = "A kernel of one CTA";
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       I64Attr:$threads, I64Attr:$entry_registers,
                       I64Attr:$shared_bytes,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::StringRef":$name,
                                 "::mlir::FunctionType":$type,
                                 "int64_t":$threads, "int64_t":$entryRegisters,
                                 "int64_t":$sharedBytes)>];
  let extraClassDeclaration = [{
    ArrayRef<Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ArrayRef<Type> getResultTypes() { return getFunctionType().getResults(); }
    Region *getCallableRegion() { return &getBody(); }
  }];
}

def Sm90_RoleOp : Sm90_Op<"role", [HasParent<"KernelOp">, SingleBlock,
                                   NoTerminator, RecursiveMemoryEffects]> {
  let summary = "What warps [first, first + count) of the CTA do";
  let description = [{
    The body's arguments are the warp within the role and the lane (i32). With
    `single_thread` one elected lane runs the body. Every warpgroup's roles
    carry the same `registers`, to which the warpgroup's threads are reallocated.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$first_warp, I64Attr:$warps,
                       I64Attr:$registers, UnitAttr:$single_thread);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `warps` $first_warp `count` $warps `registers` $registers
    (`single_thread` $single_thread^)? $body attr-dict
  }];
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::StringRef":$name,
                                 "int64_t":$firstWarp, "int64_t":$warps,
                                 "int64_t":$registers,
                                 CArg<"bool", "false">:$singleThread)>];
}

def Sm90_BarrierSyncOp : Sm90_Op<"barrier_sync"> {
  let summary = "Waits at named barrier `id` until `threads` threads have come";
  let arguments = (ins I32:$id, I64Attr:$threads);
  let assemblyFormat = "$id `,` $threads attr-dict";
}

def Sm90_BarrierArriveOp : Sm90_Op<"barrier_arrive"> {
  let summary = "Counts at named barrier `id` without waiting";
  let arguments = (ins I32:$id, I64Attr:$threads);
  let assemblyFormat = "$id `,` $threads attr-dict";
}

#endif // SPARSEATTN_DIALECT_SM90_IR_SM90KERNELOPS

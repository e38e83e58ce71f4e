//===- Sm90KernelOps.td - Kernels and the roles of warps ---*- tablegen -*-===//
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
  let description = [{
    `threads` threads that begin with `entry_registers` registers each and share
    `shared_bytes` bytes of dynamic shared memory. The body declares rings and
    mailboxes and says what the warps do, role by role. An argument passed by
    value (`llvm.byval`: tensor maps) becomes a grid constant.

    Life span: made by the conversion from kernel specs; checked by `sparseattn-
    verify-kernel`; gone after `sparseattn-lower-sm90`.

    ```mlir
    sa_sm90.kernel @example(
        %maps: !llvm.ptr {llvm.align = 64 : i64,
                          llvm.byval = !llvm.array<384 x i8>},
        %count: i32) threads 384 registers 168 shared 32800 {
      %ring = sa_sm90.ring at 0 barriers 32768 copies 1 stride 0
          : !sa_sm90.ring<2, <64, 128, box 64, bf16>, consumers 8>
      sa_sm90.role "load" warps 0 count 1 registers 40 single_thread {
      ^bb0(%warp: i32, %lane: i32):
      }
      sa_sm90.role "attend" warps 4 count 8 registers 232 {
      ^bb0(%warp: i32, %lane: i32):
      }
    }
    ```

    **Constraints:**
    - (C1) threads are a multiple of 128 from 128 to 1024
    - (C2) entry registers are a multiple of 8 from 24 to 256, and those of
      all threads at most 65,536
    - (C3) shared bytes lie between 0 and 232,448
    - (C4) an argument is an integer, a float or a pointer
    - (C5) there are no results
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type, /*C4, C5*/
                       I64Attr:$threads, /*C1*/
                       I64Attr:$entry_registers, /*C2*/
                       I64Attr:$shared_bytes, /*C3*/
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
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
    `single_thread` one elected lane of each warp runs the body. `registers` is
    what a thread of the warpgroup is given for its role.

    Life span: the kernel's; becomes a branch of it in `sparseattn-lower-sm90`.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %zero = sa_sm90.zero : !sa_sm90.accumulator<64>
      }
    }
    ```

    **Constraints:**
    - (C1) the warps are at least one and lie within the CTA
    - (C2) no warp has two roles
    - (C3) the warps lie in one warpgroup or are whole warpgroups
    - (C4) registers are a multiple of 8 from 24 to 256
    - (C5) roles in one warpgroup have the same registers
    - (C6) the body has two arguments, both i32
  }];
  let arguments = (ins StrAttr:$name,
                       I64Attr:$first_warp, /*C1, C2, C3*/
                       I64Attr:$warps, /*C1, C2, C3*/
                       I64Attr:$registers, /*C4, C5*/
                       UnitAttr:$single_thread);
  let regions = (region SizedRegion<1>:$body); /*C6*/
  let assemblyFormat = [{
    $name `warps` $first_warp `count` $warps `registers` $registers
    (`single_thread` $single_thread^)? $body attr-dict
  }];
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::StringRef":$name,
                                 "int64_t":$firstWarp, "int64_t":$warps,
                                 "int64_t":$registers,
                                 CArg<"bool", "false">:$singleThread)>];
}

def Sm90_BarrierSyncOp : Sm90_Op<"barrier_sync"> {
  let summary = "Waits at named barrier `id` until `threads` threads have come";
  let description = [{
    Both arrivals and waiting threads count. Barrier 0 is the kernel's own, used
    once at its entry. An id that is a constant costs one barrier, another one
    all sixteen.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %one = arith.constant 1 : i32
        sa_sm90.barrier_sync %one, 128
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warps
    - (C2) threads are a multiple of 32, from 32 to those of the CTA
    - (C3) a constant id lies between 1 and 15
  }];
  let arguments = (ins I32:$id, /*C3*/
                       I64Attr:$threads /*C2*/);
  let assemblyFormat = [{
    $id `,` $threads attr-dict
  }];
  let hasVerifier = 1;
}

def Sm90_BarrierArriveOp : Sm90_Op<"barrier_arrive"> {
  let summary = "Counts at named barrier `id` without waiting";
  let description = [{
    The other half of a `barrier_sync` with as many threads: who arrives lets
    the others go on.

    ```mlir
    sa_sm90.kernel @example() threads 128 registers 168 shared 0 {
      sa_sm90.role "attend" warps 0 count 4 registers 168 {
      ^bb0(%warp: i32, %lane: i32):
        %one = arith.constant 1 : i32
        sa_sm90.barrier_arrive %one, 128
      }
    }
    ```

    **Constraints:**
    - (C1) it stands in a role of whole warps
    - (C2) threads are a multiple of 32, from 32 to those of the CTA
    - (C3) a constant id lies between 1 and 15
  }];
  let arguments = (ins I32:$id, /*C3*/
                       I64Attr:$threads /*C2*/);
  let assemblyFormat = [{
    $id `,` $threads attr-dict
  }];
  let hasVerifier = 1;
}

#endif // SPARSEATTN_DIALECT_SM90_IR_SM90KERNELOPS

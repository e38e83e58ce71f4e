//===- Passes.td - From sa_sm90 to NVVM --------------------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_CONVERSION_SM90TONVVM_PASSES_TD
#define SPARSEATTN_CONVERSION_SM90TONVVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerSm90Pass : Pass<"sparseattn-lower-sm90", "::mlir::ModuleOp"> {
  let summary = "Lower Hopper kernels to functions of the LLVM and NVVM dialects";
  let description = [{
    Every `sa_sm90.kernel` becomes an `llvm.func` that is an NVVM kernel. A value
    of the dialect becomes the registers that hold it: an accumulator of C
    columns C/2 x f32, an operand C/4 x i32, a tile its shared-memory address, a
    cursor a slot and a parity, a ring or a mailbox the addresses of its slots
    and of its barriers. A product, with its fence, k steps and commit, is one
    inline assembly with tied operands. The roles become one flat chain of
    branches on the warp, which is made uniform by a shuffle; all of them leave
    through one block.

    Before:

    ```mlir
    sa_sm90.kernel @attend(%maps: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<768 x i8>})
        threads 384 registers 168 shared 163968 {
      %k = sa_sm90.ring at 0 barriers 163840 copies 1 stride 0 : !sa_sm90.ring<...>
      sa_sm90.role "producer" warps 0 count 1 registers 40 single_thread { ... }
      sa_sm90.role "consumer" warps 4 count 8 registers 232 { ... }
    }
    ```

    After:

    ```mlir
    llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
    llvm.func @attend(%maps: !llvm.ptr {..., nvvm.grid_constant})
        attributes {nvvm.kernel, nvvm.maxntid = array<i32: 384>, nvvm.minctasm = 1 : i32} {
      ... barriers, then nvvm.barrier0
      llvm.cond_br ...
    }
    ```

    Requires: kernels that verify.

    Guarantees: no operation or type of sa_sm90 is left. Every argument passed by
    value is a grid constant. Control flow inside roles stays `scf`, integer and
    float arithmetic `arith`.

    Does not handle: values of the dialect in operations of other dialects than
    `scf` and `arith.select`.
  }];
  let options = [
    Option<"guard", "guard", "bool", "false",
           "Count the tries of each wait on a barrier and trap when they are "
           "many, so that a deadlock becomes an error (for debugging)">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels lowered">,
  ];
}

#endif // SPARSEATTN_CONVERSION_SM90TONVVM_PASSES_TD

//===- Passes.td - Kernels of a schedule -------------------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TRANSFORMS_KERNEL_PASSES_TD
#define SPARSEATTN_TRANSFORMS_KERNEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmitCpuKernelsPass : Pass<"sparseattn-emit-cpu-kernels", "::mlir::ModuleOp"> {
  let summary = "Write the CPU kernels that the module's schedules call";
  let description = [{
    Adds a nested module `@kernels` with one function per kernel that an
    instruction of a schedule needs: attend, pool and route, specialised on
    element type, head size, block shape and causality, never on mask content.
    The functions are scf, vector and memref code for the CPU that is named (by
    default this one).

    Before:

    ```mlir
    sa_comm.template @layer ... {
      sa_comm.spmd { ... sa_comm.attend @q, @k, @v mask @mask ... }
    }
    ```

    After:

    ```mlir
    sa_comm.template @layer ...
    module @kernels {
      func.func @attend_f32_f32_d128_q128_k128(...) attributes {llvm.emit_c_interface} { ... }
    }
    ```

    Requires: no module `@kernels` yet.

    Guarantees: every kernel that `sart::requiredKernels` names for a schedule
    of the module is there once.

    Does not handle: kernels for other devices.
  }];
  let options = [
    Option<"cpu", "cpu", "std::string", "\"\"",
           "CPU as LLVM names it, such as znver4; empty: this machine">,
    Option<"features", "features", "std::string", "\"\"",
           "CPU features as LLVM names them, such as +avx2">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernel functions written">,
  ];
}

def EmitSm90KernelsPass : Pass<"sparseattn-emit-sm90-kernels", "::mlir::ModuleOp"> {
  let summary = "Write the Hopper attend kernels that are named";
  let description = [{
    Adds an `sa_sm90.kernel` for each name, built by the recipe of its shape.

    Before:

    ```mlir
    module {}
    ```

    After, with `kernels=attend_bf16_bf16_d128_q128_k128`:

    ```mlir
    module {
      sa_sm90.kernel @attend_bf16_bf16_d128_q128_k128(...) threads 384 registers 168 shared 229672 {
        ...
      }
    }
    ```

    With `recipe` the fields are changed in every kernel of the run; what the
    builder cannot do is refused, and each kernel is verified as by
    `sparseattn-verify-kernel`.

    Requires: no symbol of such a name yet.

    Guarantees: the kernels verify, and pass `sparseattn-verify-kernel`.

    Does not handle: kernels of other kinds than attend.
  }];
  let options = [
    ListOption<"kernels", "kernels", "std::string",
               "Names, such as attend_bf16_bf16_d128_q128_k128; empty: every "
               "recipe's, with bf16 in and out">,
    ListOption<"recipe", "recipe", "std::string",
               "Fields set over the recipes, separated by commas, such as "
               "stages=6,ping_pong=0">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::sa_sm90::Sm90Dialect"];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels written">,
  ];
}

def EmitRoutingKernelsPass
    : Pass<"sparseattn-emit-routing-kernels", "::mlir::ModuleOp"> {
  let summary = "Write GPU kernels that route";
  let description = [{
    Adds the named kernels to the module: llvm functions marked nvvm.kernel, with
    scf, arith and llvm operations, for a GPU of sm_90 or later. A name stands
    for what is compiled together: `pool_<dtype>_d<D>_b<block>` for one kernel,
    `route_d<D>` for two kernels that route and those that sum up and order
    tiles, `rows` for those that convert and merge. Arguments and launch shapes
    are documented in `sparseattn-rt/DeviceRouting.h`.

    Before (with `kernels=pool_bf16_d128_b128`):

    ```mlir
    module {}
    ```

    After:

    ```mlir
    module {
      llvm.func @pool_bf16_d128_b128(%records: !llvm.ptr<1>, %ctas: i32) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256>} { ... }
    }
    ```

    Requires: no kernel of that name in the module.

    Guarantees: `sparseattn-gpu-kernel-pipeline` lowers what was written.

    Does not handle: attend.
  }];
  let options = [
    ListOption<"kernels", "kernels", "std::string", "Names, as above">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"];
}

def VerifyKernelPass : Pass<"sparseattn-verify-kernel", "::mlir::ModuleOp"> {
  let summary = "Check Hopper kernels for races, deadlocks and budgets";
  let description = [{
    Checks every `sa_sm90.kernel` of the module for what no operation shows
    alone, and changes nothing.

    1. A slot is released after the wait for the last product that reads it, and
       where it was read into registers, for a product that used them.
    2. An operand in registers is not replaced while a product that reads it is
       open, and a tile is not stored to while one reads it.
    3. An accumulator is read as a wait for its product gives it back.
    4. Slots are released in the order in which they are loaded, once by each
       consumer, and as many as are loaded.
    5. Roles do not wait for one another for ever, at rings or named barriers;
       partners at a named barrier work on the same rings, so that their steps
       are equal.
    6. Branches and loops around such operations are uniform across a warp.
    7. The registers of all roles are at most those at entry.
    8. Slots, barriers and scratch tiles share no byte.

    Rules 1 to 6 are checked along runs: every role is followed with loops of
    zero to two rounds in all combinations, the roles then run against each
    other.

    Before:

    ```mlir
    %s = sa_sm90.scores %q, %k : ...
    sa_sm90.release %ring[%at] : ...
    %t = sa_sm90.wait 0, %s : ...
    ```

    After: `'sa_sm90.release' op slot that a product still reads: got a release
    before the wait for the product, expected it after`.

    Requires: kernels that verify, before `sparseattn-lower-sm90`.

    Guarantees: nothing is changed.

    Does not handle: races between threads of a role outside the dialect's
    operations; bounds of loops and conditions that roles read from memory, which
    are taken to agree.
  }];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels checked">,
  ];
}

#endif // SPARSEATTN_TRANSFORMS_KERNEL_PASSES_TD

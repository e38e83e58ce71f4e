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

#endif // SPARSEATTN_TRANSFORMS_KERNEL_PASSES_TD

//===- Sm90Dialect.td - The sa_sm90 dialect ------------------*- tablegen -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_DIALECT_SM90_IR_SM90DIALECT
#define SPARSEATTN_DIALECT_SM90_IR_SM90DIALECT

include "mlir/IR/OpBase.td"

def Sm90_Dialect : Dialect {
  let name = "sa_sm90";
  let cppNamespace = "::mlir::sa_sm90";
  let summary = "Hopper kernels: warp roles, rings, TMA loads, products";
  let description = [{
    How one CTA of a Hopper GPU (sm_90a) computes: which warps play which role,
    which rings of shared-memory slots tie the roles together, and in which
    order tensor-core products are issued, waited for and their operands
    released. A kernel is written at the level of *steps*; control flow is `scf`
    and integer arithmetic is `arith`, both uniform across a warp.

    An operation stands for the work of a whole warp or warpgroup; its values
    are spread over the registers of the threads as the types say.

    Internal: kernels are made by the conversion from specs, lowered by
    `sparseattn-lower-sm90`, and checked by `sparseattn-verify-kernel`. Legal
    inside `sa_sm90.kernel` and nowhere else.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let useDefaultTypePrinterParser = 1;
}

#endif // SPARSEATTN_DIALECT_SM90_IR_SM90DIALECT

//===- EmitSm90Kernels.cpp - Hopper kernels by name -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Transforms/Kernel/Passes.h"

#include "sparseattn/Conversion/SparseAttnToSm90/AttendKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sparseattn;

namespace mlir::sparseattn {
#define GEN_PASS_DEF_EMITSM90KERNELSPASS
#include "sparseattn/Transforms/Kernel/Passes.h.inc"
} // namespace mlir::sparseattn

namespace {
struct EmitSm90KernelsPass
    : mlir::sparseattn::impl::EmitSm90KernelsPassBase<EmitSm90KernelsPass> {
  using EmitSm90KernelsPassBase::EmitSm90KernelsPassBase;
  void runOnOperation() override;
  LogicalResult emit(OpBuilder &builder, const sart::KernelSpec &spec);
};
} // namespace

LogicalResult EmitSm90KernelsPass::emit(OpBuilder &builder,
                                        const sart::KernelSpec &spec) {
  ModuleOp module = getOperation();
  if (Operation *present = module.lookupSymbol(spec.name()))
    return present->emitOpError("name of a kernel to write: got it twice, "
                                "expected once");
  ++numKernels;
  const AttendRecipe *found = findAttendRecipe(spec);
  if (recipe.empty() || !found)
    return buildAttendKernel(builder, module.getLoc(), spec);
  AttendRecipe changed = *found;
  SmallVector<std::string> fields(recipe.begin(), recipe.end());
  sart::Status status = overrideRecipe(changed, fields);
  if (!status.ok())
    return module.emitError(status.message());
  FailureOr<sa_sm90::KernelOp> kernel =
      buildAttendKernel(builder, module.getLoc(), spec, changed);
  // The table's own kernels are checked by tests. One whose numbers come from
  // the command line could hang a device.
  return failed(kernel) ? failure() : verifyKernel(*kernel);
}

void EmitSm90KernelsPass::runOnOperation() {
  ModuleOp module = getOperation();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<sart::KernelSpec> specs;
  for (const std::string &name : kernels) {
    sart::Expected<sart::KernelSpec> spec = parseAttendName(name);
    if (!spec) {
      module.emitError(spec.status().message());
      return signalPassFailure();
    }
    specs.push_back(*spec);
  }
  if (kernels.empty())
    for (const AttendRecipe &known : attendRecipes()) {
      sart::KernelSpec spec;
      spec.dtype = spec.outDtype = sart::DType::BF16;
      spec.headDim = known.headDim;
      spec.blockQ = known.blockQ;
      spec.blockK = known.blockK;
      specs.push_back(spec);
    }
  for (const sart::KernelSpec &spec : specs)
    if (failed(emit(builder, spec)))
      return signalPassFailure();
}

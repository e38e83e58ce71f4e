//===- EmitCpuKernels.cpp - Write the kernels that schedules call ---------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which kernels a schedule needs is asked of its program form, so that a layer
// compiled here and a program read from a file get the same ones.
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Transforms/Kernel/Passes.h"

#include "sparseattn/Conversion/SparseAttnToVector/KernelBuilder.h"
#include "sparseattn/Dialect/Comm/IR/Comm.h"
#include "sparseattn/Target/Program/Program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::sparseattn;

namespace mlir::sparseattn {
#define GEN_PASS_DEF_EMITCPUKERNELSPASS
#include "sparseattn/Transforms/Kernel/Passes.h.inc"
} // namespace mlir::sparseattn

FailureOr<ModuleOp>
mlir::sparseattn::emitCpuKernels(OpBuilder &builder, Location loc,
                                 ArrayRef<sart::KernelSpec> specs,
                                 const CpuTarget &target) {
  ModuleOp kernels = ModuleOp::create(builder, loc, kKernelModuleName);
  OpBuilder::InsertionGuard guard(builder);
  for (const sart::KernelSpec &spec : specs) {
    builder.setInsertionPointToEnd(kernels.getBody());
    if (failed(buildKernel(builder, loc, spec, target))) {
      kernels.erase();
      return failure();
    }
  }
  return kernels;
}

namespace {
struct EmitCpuKernelsPass
    : mlir::sparseattn::impl::EmitCpuKernelsPassBase<EmitCpuKernelsPass> {
  using EmitCpuKernelsPassBase::EmitCpuKernelsPassBase;
  void runOnOperation() override;
};
} // namespace

/// Adds the kernels of `schedule` to `specs`, each once.
template <typename ScheduleOp>
static LogicalResult collectKernels(ScheduleOp schedule,
                                    SmallVector<sart::KernelSpec> &specs) {
  FailureOr<sart::Program> program = sa_comm::exportProgram(schedule);
  if (failed(program))
    return failure();
  for (const sart::KernelSpec &spec : sart::requiredKernels(*program))
    if (!llvm::is_contained(specs, spec))
      specs.push_back(spec);
  return success();
}

void EmitCpuKernelsPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (Operation *present = module.lookupSymbol(kKernelModuleName)) {
    present->emitOpError("'@kernels' in the module: got one, expected none "
                         "before sparseattn-emit-cpu-kernels");
    return signalPassFailure();
  }
  if (cpu.empty() && !features.empty()) {
    module.emitError("option features without cpu: got '")
        << features << "', expected none: this machine's are used";
    return signalPassFailure();
  }
  llvm::Expected<CpuTarget> target =
      cpu.empty() ? CpuTarget::host() : CpuTarget::get("", cpu, features);
  if (!target) {
    module.emitError(llvm::toString(target.takeError()));
    return signalPassFailure();
  }
  SmallVector<sart::KernelSpec> specs;
  for (Operation &op : *module.getBody()) {
    LogicalResult collected = success();
    if (auto templateOp = dyn_cast<sa_comm::TemplateOp>(op))
      collected = collectKernels(templateOp, specs);
    else if (auto program = dyn_cast<sa_comm::ProgramOp>(op))
      collected = collectKernels(program, specs);
    if (failed(collected))
      return signalPassFailure();
  }
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  if (failed(emitCpuKernels(builder, module.getLoc(), specs, *target)))
    return signalPassFailure();
  numKernels += specs.size();
}

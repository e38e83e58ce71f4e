//===- AttendKernel.cpp - Attend kernels in the sa_sm90 dialect -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AttendContext.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sparseattn;
using namespace mlir::sa_sm90;

void mlir::sparseattn::registerSm90KernelDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, LLVM::LLVMDialect, scf::SCFDialect,
                  Sm90Dialect>();
}

/// Names the first field of `spec` that no kernel of this target can have.
static LogicalResult checkSpec(Location loc, const sart::KernelSpec &spec) {
  auto spelling = [](sart::DType type) {
    std::string_view text = sart::toString(type);
    return StringRef(text.data(), text.size());
  };
  if (spec.kind != sart::KernelSpec::Kind::Attend)
    return emitError(loc) << "kernel kind is not attend: got " << spec.name();
  if (spec.dtype != sart::DType::BF16 && spec.dtype != sart::DType::F16)
    return emitError(loc) << "element type is not supported by sm_90a kernels: "
                          << "got " << spelling(spec.dtype)
                          << ", expected bf16 or f16";
  if (spec.outDtype != sart::DType::F32 && spec.outDtype != spec.dtype)
    return emitError(loc) << "output type is not supported by sm_90a kernels: "
                          << "got " << spelling(spec.outDtype)
                          << ", expected f32 or the input type "
                          << spelling(spec.dtype);
  if (spec.causal)
    return emitError(loc)
           << "causal masks are not supported by sm_90a kernels: "
              "got _causal, expected a kernel without";
  return success();
}

FailureOr<KernelOp>
mlir::sparseattn::buildAttendKernel(OpBuilder &builder, Location loc,
                                    const sart::KernelSpec &spec) {
  if (failed(checkSpec(loc, spec)))
    return failure();
  const AttendRecipe *recipe = findAttendRecipe(spec);
  if (!recipe)
    return emitError(loc) << "shape is not supported by sm_90a kernels: got "
                          << "head_dim " << spec.headDim << " with blocks of "
                          << spec.blockQ << " x " << spec.blockK
                          << ", expected head_dim 64, 128 or 256 with blocks "
                             "of 64 or 128";
  return buildAttendKernel(builder, loc, spec, *recipe);
}

FailureOr<KernelOp>
mlir::sparseattn::buildAttendKernel(OpBuilder &builder, Location loc,
                                    const sart::KernelSpec &spec,
                                    const AttendRecipe &recipe) {
  if (failed(checkSpec(loc, spec)))
    return failure();
  AttendContext context(builder, loc, spec, recipe);
  OpBuilder::InsertionGuard guard(context.b);
  KernelOp kernel = context.begin();
  auto role = [&](StringRef name, int64_t first, int64_t count,
                  int64_t registers, bool singleThread, auto body) {
    OpBuilder::InsertionGuard guard(context.b);
    auto op =
        RoleOp::create(context.b, name, first, count, registers, singleThread);
    Block &block = op.getBody().front();
    context.b.setInsertionPointToStart(&block);
    body(block.getArgument(0), block.getArgument(1));
  };
  role("load", 0, recipe.pairs, recipe.producerRegisters, true,
       [&](Value warp, Value) { buildProducer(context, warp); });
  role("empty_tiles", recipe.pairs, 1, recipe.producerRegisters, false,
       [&](Value, Value lane) { buildEmptyTileWriter(context, lane); });
  role("attend", 4, 8, recipe.consumerRegisters, false,
       [&](Value warp, Value) { buildConsumer(context, warp); });
  return kernel;
}

//===- KernelBuilder.cpp - CPU kernels as vector-dialect functions --------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Conversion/SparseAttnToVector/KernelBuilder.h"

#include "KernelEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::sparseattn;

static bool isFloat(sart::DType type) {
  return type == sart::DType::F32 || type == sart::DType::BF16 ||
         type == sart::DType::F16;
}

static LogicalResult checkExtent(Location loc, StringRef what, int64_t value,
                                 int64_t least, int64_t most) {
  if (value >= least && value <= most && value % 8 == 0)
    return success();
  return emitError(loc) << what << " is not supported by cpu kernels: got "
                        << value << ", expected a multiple of 8 in [" << least
                        << ", " << most << "]";
}

static LogicalResult checkSpec(Location loc, const sart::KernelSpec &spec) {
  using Kind = sart::KernelSpec::Kind;
  auto spelling = [](sart::DType type) {
    std::string_view text = sart::toString(type);
    return StringRef(text.data(), text.size());
  };
  if (failed(checkExtent(loc, "head_dim", spec.headDim, 32, 256)))
    return failure();
  if (spec.kind == Kind::Route)
    return success();
  if (!isFloat(spec.dtype))
    return emitError(loc) << "element type is not supported by cpu kernels: "
                          << "got " << spelling(spec.dtype)
                          << ", expected f32, bf16 or f16";
  if (failed(checkExtent(loc, "block size", spec.blockQ, 16, 128)))
    return failure();
  if (spec.kind == Kind::Pool)
    return success();
  if (failed(checkExtent(loc, "kv block size", spec.blockK, 16, 128)))
    return failure();
  if (spec.outDtype != sart::DType::F32 && spec.outDtype != spec.dtype)
    return emitError(loc) << "output type is not supported by cpu kernels: "
                          << "got " << spelling(spec.outDtype)
                          << ", expected f32 or the input type "
                          << spelling(spec.dtype);
  return success();
}

void mlir::sparseattn::registerKernelDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, memref::MemRefDialect,
                  scf::SCFDialect, vector::VectorDialect>();
}

FailureOr<func::FuncOp>
mlir::sparseattn::buildKernel(OpBuilder &builder, Location loc,
                              const sart::KernelSpec &spec,
                              const CpuTarget &target) {
  if (failed(checkSpec(loc, spec)))
    return failure();
  // Dialects cannot be loaded while passes run, so this is the caller's task.
  DialectRegistry registry;
  registerKernelDialects(registry);
  for (StringRef name : registry.getDialectNames())
    if (!builder.getContext()->getLoadedDialect(name))
      return emitError(loc) << "dialect is not loaded: expected '" << name
                            << "' for a cpu kernel";

  KernelEmitter emitter(builder, loc, target);
  switch (spec.kind) {
  case sart::KernelSpec::Kind::Attend:
    return buildAttendKernel(emitter, spec);
  case sart::KernelSpec::Kind::Pool:
    return buildPoolKernel(emitter, spec);
  case sart::KernelSpec::Kind::Route:
    return buildRouteKernel(emitter, spec);
  case sart::KernelSpec::Kind::OrderTiles:
  case sart::KernelSpec::Kind::Merge:
  case sart::KernelSpec::Kind::Convert:
    break;
  }
  return emitError(loc) << "kernel kind is not known to cpus: got "
                        << static_cast<int>(spec.kind)
                        << ", expected 0, 1 or 2";
}

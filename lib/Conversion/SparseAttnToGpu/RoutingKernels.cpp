//===- RoutingKernels.cpp - Which kernels a spec needs on a GPU -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Conversion/SparseAttnToGpu/RoutingKernels.h"

#include "DeviceEmitter.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sparseattn;
using sart::KernelSpec;

void mlir::sparseattn::registerDeviceKernelDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                  scf::SCFDialect>();
}

static Type elementType(MLIRContext *context, sart::DType type) {
  switch (type) {
  case sart::DType::F32:
    return Float32Type::get(context);
  case sart::DType::BF16:
    return BFloat16Type::get(context);
  case sart::DType::F16:
    return Float16Type::get(context);
  default:
    return {};
  }
}

LogicalResult
mlir::sparseattn::buildDeviceRoutingKernels(ModuleOp module,
                                            const KernelSpec &spec) {
  auto fail = [&](const char *field, auto got, const char *expected) {
    return module.emitError()
           << "routing kernel " << spec.name() << " for a GPU: " << field
           << " not supported: got " << got << ", expected " << expected;
  };
  if (spec.headDim != 64 && spec.headDim != 128 && spec.headDim != 256)
    return fail("head_dim", spec.headDim, "64, 128 or 256");
  switch (spec.kind) {
  case KernelSpec::Kind::Pool: {
    Type element = elementType(module.getContext(), spec.dtype);
    if (!element)
      return fail("dtype", sart::toString(spec.dtype), "f32, bf16 or f16");
    if (spec.blockQ < 8 || spec.blockQ > 256 || spec.blockQ % 8 != 0)
      return fail("block", spec.blockQ, "8 to 256 in steps of 8");
    buildDevicePoolKernel(module, spec.name(), element, spec.headDim,
                          spec.blockQ);
    return success();
  }
  case KernelSpec::Kind::Route:
    if (spec.headDim <= 128)
      buildDeviceRouteKernel(module, spec.headDim, 16);
    buildDeviceRouteKernel(module, spec.headDim, 8);
    buildDeviceTotalsKernel(module);
    buildDeviceOrderKernel(module);
    return success();
  default:
    return fail("kind", "attend", "pool or route");
  }
}

void mlir::sparseattn::buildDeviceRowKernels(ModuleOp module) {
  using sart::DType;
  constexpr std::pair<DType, DType> conversions[] = {{DType::F32, DType::BF16},
                                                     {DType::F32, DType::F16},
                                                     {DType::BF16, DType::F32},
                                                     {DType::F16, DType::F32}};
  for (auto [from, to] : conversions)
    buildDeviceConvertKernel(
        module,
        sart::concat("convert_", sart::toString(from), '_', sart::toString(to)),
        elementType(module.getContext(), from),
        elementType(module.getContext(), to));
  buildDeviceMergeKernel(module);
}

//===- RoutingEmitter.cpp - Kernels around attention ----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "StandardEmitters.h"

#include "sparseattn/Conversion/SparseAttnToGpu/RoutingKernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::sparseattn;
using sart::Expected;
using sart::KernelSpec;

namespace {

class RoutingEmitter : public GpuKernelEmitter {
public:
  void registerDialects(DialectRegistry &registry) const override {
    registerDeviceKernelDialects(registry);
  }
  bool emits(const KernelSpec &spec) const override {
    return spec.kind != KernelSpec::Kind::Attend;
  }
  Expected<std::string> recipe(const KernelSpec &,
                               const GpuTarget &) const override {
    return std::string("only"); // there is one way to write each
  }
  Expected<EmittedGpuKernels> emit(const KernelSpec &spec,
                                   const GpuTarget &target,
                                   MLIRContext &context) const override;
};

} // namespace

/// Whether launches of `spec` call the function, see DeviceRouting.h.
static bool isOf(const KernelSpec &spec, StringRef function) {
  if (spec.kind != KernelSpec::Kind::Route)
    return function == spec.name();
  return function == "route_totals" || function.starts_with(spec.name() + "_r");
}

/// Writes the module that has the kernels of `spec` among others.
static LogicalResult write(ModuleOp module, const KernelSpec &spec) {
  switch (spec.kind) {
  case KernelSpec::Kind::Merge:
  case KernelSpec::Kind::Convert:
    buildDeviceRowKernels(module);
    return success();
  case KernelSpec::Kind::OrderTiles: {
    // It comes with the kernels of every head dimension.
    KernelSpec route;
    route.kind = KernelSpec::Kind::Route;
    return buildDeviceRoutingKernels(module, route);
  }
  default:
    return buildDeviceRoutingKernels(module, spec);
  }
}

Expected<EmittedGpuKernels> RoutingEmitter::emit(const KernelSpec &spec,
                                                 const GpuTarget &,
                                                 MLIRContext &context) const {
  EmittedGpuKernels result;
  result.module = ModuleOp::create(UnknownLoc::get(&context));
  if (failed(write(*result.module, spec)))
    return sart::makeError("kernel: got ", spec.name(),
                           ", expected one that is written for GPUs");
  for (auto function :
       llvm::make_early_inc_range(result.module->getOps<LLVM::LLVMFuncOp>())) {
    std::string name = function.getSymName().str();
    auto threads = function->getAttrOfType<DenseI32ArrayAttr>("nvvm.maxntid");
    if (!threads)
      continue; // called by kernels
    if (!isOf(spec, name)) {
      function.erase();
      continue;
    }
    sart::DeviceLaunch launch;
    launch.entry = name;
    launch.threads = threads[0];
    // Shared memory and grid depend on the call.
    result.kernels.push_back({name, /*scratchBytes=*/0,
                              /*scratchBytesPerKvBlock=*/0, std::move(launch)});
  }
  return result;
}

std::shared_ptr<const GpuKernelEmitter>
mlir::sparseattn::createRoutingEmitter() {
  return std::make_shared<RoutingEmitter>();
}

//===- EmitRoutingKernels.cpp - GPU kernels by name -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Transforms/Kernel/Passes.h"

#include "sparseattn/Conversion/SparseAttnToGpu/RoutingKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sparseattn;
using sart::KernelSpec;

namespace mlir::sparseattn {
#define GEN_PASS_DEF_EMITROUTINGKERNELSPASS
#include "sparseattn/Transforms/Kernel/Passes.h.inc"
} // namespace mlir::sparseattn

namespace {
struct EmitRoutingKernelsPass
    : mlir::sparseattn::impl::EmitRoutingKernelsPassBase<
          EmitRoutingKernelsPass> {
  using EmitRoutingKernelsPassBase::EmitRoutingKernelsPassBase;
  void runOnOperation() override;
};
} // namespace

/// Reads pool_<dtype>_d<D>_b<block> or route_d<D>.
static std::optional<KernelSpec> parseSpec(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '_');
  KernelSpec spec;
  bool pool = parts.size() == 4 && parts[0] == "pool";
  if (pool) {
    spec.kind = KernelSpec::Kind::Pool;
    auto type = sart::parseDType(parts[1].str());
    if (!type)
      return std::nullopt;
    spec.dtype = *type;
    if (!parts[3].consume_front("b") || parts[3].getAsInteger(10, spec.blockQ))
      return std::nullopt;
  } else if (parts.size() == 2 && parts[0] == "route") {
    spec.kind = KernelSpec::Kind::Route;
  } else {
    return std::nullopt;
  }
  StringRef headDim = parts[pool ? 2 : 1];
  if (!headDim.consume_front("d") || headDim.getAsInteger(10, spec.headDim))
    return std::nullopt;
  return spec;
}

void EmitRoutingKernelsPass::runOnOperation() {
  ModuleOp module = getOperation();
  for (const std::string &name : kernels) {
    if (name == "rows") {
      buildDeviceRowKernels(module);
      continue;
    }
    std::optional<KernelSpec> spec = parseSpec(name);
    if (!spec) {
      module.emitError("name of a routing kernel not known: got '")
          << name
          << "', expected pool_<dtype>_d<D>_b<block>, route_d<D> or rows";
      return signalPassFailure();
    }
    if (failed(buildDeviceRoutingKernels(module, *spec)))
      return signalPassFailure();
  }
}

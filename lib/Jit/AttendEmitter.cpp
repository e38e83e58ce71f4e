//===- AttendEmitter.cpp - Attend kernels of the recipe table -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "StandardEmitters.h"

#include "sparseattn/Conversion/SparseAttnToSm90/AttendKernel.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sparseattn;
using sart::Expected;

namespace {

class AttendEmitter : public GpuKernelEmitter {
public:
  void registerDialects(DialectRegistry &registry) const override {
    registerSm90KernelDialects(registry);
  }
  bool emits(const sart::KernelSpec &spec) const override {
    return spec.kind == sart::KernelSpec::Kind::Attend;
  }
  Expected<std::string> recipe(const sart::KernelSpec &spec,
                               const GpuTarget &) const override;
  Expected<EmittedGpuKernels> emit(const sart::KernelSpec &spec,
                                   const GpuTarget &target,
                                   MLIRContext &context) const override;
};

} // namespace

Expected<std::string> AttendEmitter::recipe(const sart::KernelSpec &spec,
                                            const GpuTarget &) const {
  if (!findAttendRecipe(spec))
    return sart::makeError("recipe of a GPU kernel: got none for ", spec.name(),
                           ", expected head_dim 64, 128 or 256 and blocks "
                           "128x128, 128x64, 64x128 or 64x64");
  // The table is part of this build, which is a part of every key.
  return std::string("table");
}

Expected<EmittedGpuKernels> AttendEmitter::emit(const sart::KernelSpec &spec,
                                                const GpuTarget &,
                                                MLIRContext &context) const {
  EmittedGpuKernels result;
  result.module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder = OpBuilder::atBlockEnd(result.module->getBody());
  const AttendRecipe *found = findAttendRecipe(spec);
  if (!found ||
      failed(buildAttendKernel(builder, result.module->getLoc(), spec, *found)))
    return sart::makeError("attend kernel: got ", spec.name(),
                           ", expected one that the recipe table has");
  result.kernels.push_back({spec.name(), /*scratchBytes=*/0,
                            /*scratchBytesPerKvBlock=*/0,
                            attendLaunch(spec, *found)});
  return result;
}

std::shared_ptr<const GpuKernelEmitter>
mlir::sparseattn::createAttendEmitter() {
  return std::make_shared<AttendEmitter>();
}

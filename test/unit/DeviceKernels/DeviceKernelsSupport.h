//===- DeviceKernelsSupport.h - Kernels run by the interpreter --*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_DEVICEKERNELS_DEVICEKERNELSSUPPORT_H
#define SPARSEATTN_TEST_UNIT_DEVICEKERNELS_DEVICEKERNELSSUPPORT_H

#include "DeviceInterpreter.h"

#include "sparseattn-rt/DeviceRouting.h"
#include "sparseattn/Conversion/SparseAttnToGpu/RoutingKernels.h"

#include "gtest/gtest.h"

#include <random>

namespace mlir {
namespace sparseattn {

/// A context, and a module for kernels.
struct DeviceModule {
  DeviceModule() {
    DialectRegistry registry;
    registerDeviceKernelDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = ModuleOp::create(UnknownLoc::get(&context));
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

inline sart::KernelSpec poolSpec(sart::DType type, int64_t headDim,
                                 int64_t block) {
  sart::KernelSpec spec;
  spec.kind = sart::KernelSpec::Kind::Pool;
  spec.dtype = type;
  spec.headDim = headDim;
  spec.blockQ = block;
  return spec;
}

inline sart::KernelSpec routeSpec(int64_t headDim) {
  sart::KernelSpec spec;
  spec.kind = sart::KernelSpec::Kind::Route;
  spec.headDim = headDim;
  return spec;
}

/// Values of a distribution, the same for the same seed.
template <typename Distribution>
std::vector<float> randomFloats(int64_t count, unsigned seed,
                                Distribution distribution) {
  std::mt19937 generator(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = static_cast<float>(distribution(generator));
  return values;
}

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_TEST_UNIT_DEVICEKERNELS_DEVICEKERNELSSUPPORT_H

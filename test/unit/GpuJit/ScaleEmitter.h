//===- ScaleEmitter.h - A small kernel for tests of the library  -*- C++
//-*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_GPUJIT_SCALEEMITTER_H
#define SPARSEATTN_TEST_UNIT_GPUJIT_SCALEEMITTER_H

#include "sparseattn/Jit/GpuKernelEmitter.h"
#include "sparseattn/Jit/GpuKernelPipeline.h"
#include "sparseattn/Support/ModuleText.h"

#include <atomic>
#include <functional>
#include <optional>

namespace mlir {
namespace sparseattn {

/// Writes every merge and convert spec as a kernel that scales a row.
class ScaleEmitter : public GpuKernelEmitter {
public:
  std::string variant = "plain"; ///< what recipe() says
  bool slow = false;             ///< ptxas has something to say
  /// The only kind that is slow, where one is named.
  std::optional<sart::KernelSpec::Kind> slowKind;
  /// Called before a kernel is written.
  std::function<void(const sart::KernelSpec &)> whenEmitting;
  int32_t sharedBytes = 0;
  std::string entry = "scale"; ///< what the launch says
  mutable std::atomic<int> emitted{0};

  void registerDialects(DialectRegistry &registry) const override {
    registerGpuKernelDialects(registry);
  }
  bool emits(const sart::KernelSpec &spec) const override {
    return spec.kind == sart::KernelSpec::Kind::Merge ||
           spec.kind == sart::KernelSpec::Kind::Convert;
  }
  sart::Expected<std::string> recipe(const sart::KernelSpec &spec,
                                     const GpuTarget &) const override {
    if (spec.kind == sart::KernelSpec::Kind::Convert &&
        spec.outDtype == sart::DType::F32)
      return sart::makeError("conversion: got f32, expected a 16-bit type");
    return variant;
  }
  sart::Expected<EmittedGpuKernels> emit(const sart::KernelSpec &spec,
                                         const GpuTarget &,
                                         MLIRContext &context) const override {
    ++emitted;
    if (whenEmitting)
      whenEmitting(spec);
    bool slowly = slow || spec.kind == slowKind;
    std::string text = R"(
llvm.func @scale(%x: !llvm.ptr<1>, %n: i32, %s: f32)
    attributes {nvvm.kernel}
{
  )" + std::string(slowly ? "nvvm.setmaxregister increase 240" : "") +
                       R"(
  %thread = nvvm.read.ptx.sreg.tid.x : i32
  %step = arith.constant 128 : i32
  scf.for %i = %thread to %n step %step : i32 {
    %place = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %value = llvm.load %place : !llvm.ptr<1> -> f32
    %scaled = arith.mulf %value, %s : f32
    llvm.store %scaled, %place : f32, !llvm.ptr<1>
  }
  llvm.return
})";
    EmittedGpuKernels result;
    result.module = parseModule(text, context, "scale");
    sart::DeviceLaunch launch;
    launch.entry = entry;
    launch.threads = 128;
    launch.sharedBytes = sharedBytes;
    result.kernels.push_back({"scale", 0, 0, launch});
    return result;
  }
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_TEST_UNIT_GPUJIT_SCALEEMITTER_H

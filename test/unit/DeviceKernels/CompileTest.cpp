//===- CompileTest.cpp - Routing kernels through ptxas --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceKernelsSupport.h"

#include "sparseattn/Jit/GpuKernelCompiler.h"
#include "sparseattn/Jit/GpuKernelPipeline.h"
#include "sparseattn/Support/DiagnosticText.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace mlir::sparseattn;
using sart::DType;
using sart::KernelSpec;

namespace {

class DeviceKernels : public ::testing::Test {
protected:
  DeviceKernels() {
    DialectRegistry registry;
    registerGpuKernelDialects(registry);
    registerDeviceKernelDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = ModuleOp::create(UnknownLoc::get(&context));
  }

  /// Compiles what `module` holds; the compiler refuses spills and stacks.
  void compile(const std::vector<std::string> &kernels, int64_t mostRegisters) {
    ASSERT_TRUE(succeeded(verify(*module)));
    auto target = GpuTarget::get();
    ASSERT_TRUE(bool(target)) << llvm::toString(target.takeError());
    ASSERT_TRUE(target->ptxas.has_value()) << Ptxas::notFound();
    auto compiled = GpuKernelCompiler(*target).compile(*module);
    ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
    EXPECT_EQ(compiled->kernels, kernels);
    EXPECT_LE(compiled->report.registers, mostRegisters);
    EXPECT_EQ(compiled->report.functions, static_cast<int64_t>(kernels.size()));
    ptx = compiled->ptx;
  }

  size_t count(const std::string &text) const {
    size_t found = 0;
    for (size_t at = ptx.find(text); at != std::string::npos;
         at = ptx.find(text, at + 1))
      ++found;
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string ptx;
};

} // namespace

TEST_F(DeviceKernels, PoolPassesTheGate) {
  std::vector<std::string> names;
  for (DType type : {DType::BF16, DType::F16, DType::F32})
    for (int64_t headDim : {64, 128, 256})
      for (int64_t block : {8, 24, 64, 128, 256}) {
        KernelSpec spec = poolSpec(type, headDim, block);
        ASSERT_TRUE(succeeded(buildDeviceRoutingKernels(*module, spec)));
        names.push_back(spec.name());
      }
  // Half of the threads an SM holds, at least.
  compile(names, 64);
}

TEST_F(DeviceKernels, RoutePassesTheGate) {
  ASSERT_TRUE(succeeded(buildDeviceRoutingKernels(*module, routeSpec(128))));
  compile({"route_d128_r16", "route_d128_r8", "route_totals", "order_tiles"},
          128);
  // Eight steps of 16 elements, for two groups of rows and for one.
  EXPECT_EQ(count("mma.sync.aligned.m16n8k16.row.col.f64"), 16u + 8u);
}

TEST_F(DeviceKernels, RouteOfOtherHeadsPassesTheGate) {
  ASSERT_TRUE(succeeded(buildDeviceRoutingKernels(*module, routeSpec(64))));
  compile({"route_d64_r16", "route_d64_r8", "route_totals", "order_tiles"},
          128);
  EXPECT_EQ(count("mma.sync.aligned.m16n8k16.row.col.f64"), 8u + 4u);
}

TEST_F(DeviceKernels, RouteOfWideHeadsPassesTheGate) {
  ASSERT_TRUE(succeeded(buildDeviceRoutingKernels(*module, routeSpec(256))));
  compile({"route_d256_r8", "route_totals", "order_tiles"}, 255);
  EXPECT_EQ(count("mma.sync.aligned.m16n8k16.row.col.f64"), 16u);
}

TEST_F(DeviceKernels, RowsPassTheGate) {
  buildDeviceRowKernels(*module);
  compile({"convert_f32_bf16", "convert_f32_f16", "convert_bf16_f32",
           "convert_f16_f32", "merge_f32"},
          40);
}

TEST_F(DeviceKernels, UnsupportedSpecsNameTheField) {
  struct {
    KernelSpec spec;
    const char *message;
  } cases[] = {
      {poolSpec(DType::BF16, 96, 128),
       "routing kernel pool_bf16_d96_b128 for a GPU: head_dim not supported: "
       "got 96, expected 64, 128 or 256"},
      {poolSpec(DType::BF16, 128, 12),
       "routing kernel pool_bf16_d128_b12 for a GPU: block not supported: got "
       "12, expected 8 to 256 in steps of 8"},
      {poolSpec(DType::I32, 128, 128),
       "routing kernel pool_i32_d128_b128 for a GPU: dtype not supported: got "
       "i32, expected f32, bf16 or f16"},
      {KernelSpec(),
       "routing kernel attend_f32_f32_d128_q128_k128 for a GPU: kind not "
       "supported: got attend, expected pool or route"},
  };
  for (const auto &c : cases) {
    DiagnosticText diagnostics(context);
    EXPECT_TRUE(failed(buildDeviceRoutingKernels(*module, c.spec)));
    EXPECT_NE(diagnostics.failure("").message().find(c.message),
              std::string::npos)
        << diagnostics.failure("").message();
  }
}

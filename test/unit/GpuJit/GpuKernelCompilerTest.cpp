//===- GpuKernelCompilerTest.cpp - Kernel modules to cubins ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Jit/GpuKernelCompiler.h"
#include "sparseattn/Jit/GpuKernelPipeline.h"
#include "sparseattn/Support/DiagnosticText.h"
#include "sparseattn/Support/ModuleText.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::sparseattn;

namespace {

class GpuKernelCompilerTest : public ::testing::Test {
protected:
  GpuKernelCompilerTest() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerGpuKernelDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  llvm::Expected<CompiledCubin> compile(const std::string &text,
                                        const char *ptxas = "") {
    diagnostics = std::make_unique<DiagnosticText>(context);
    auto target = GpuTarget::get(ptxas);
    if (!target)
      return target.takeError();
    OwningOpRef<ModuleOp> module = parseModule(text, context, "input");
    if (!module)
      return llvm::createStringError(diagnostics->failure("text").message());
    return GpuKernelCompiler(*target).compile(*module);
  }

  std::string failureOf(const std::string &text, const char *ptxas = "") {
    auto compiled = compile(text, ptxas);
    return compiled ? "none" : llvm::toString(compiled.takeError());
  }

  MLIRContext context;
  std::unique_ptr<DiagnosticText> diagnostics;
};

/// Scales a row: scf, arith and math in a kernel.
constexpr const char *kScale = R"(
llvm.func @scale(%x: !llvm.ptr<1>, %n: i32, %s: f32)
    attributes {nvvm.kernel, nvvm.maxntid = array<i32: 128>} {
  %thread = nvvm.read.ptx.sreg.tid.x : i32
  %step = arith.constant 128 : i32
  scf.for %i = %thread to %n step %step : i32 {
    %place = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %value = llvm.load %place : !llvm.ptr<1> -> f32
    %scaled = math.fma %value, %s, %value : f32
    llvm.store %scaled, %place : f32, !llvm.ptr<1>
  }
  llvm.return
}
)";

} // namespace

TEST_F(GpuKernelCompilerTest, CompilesUpperDialectsToACubin) {
  auto compiled = compile(kScale);
  ASSERT_TRUE(static_cast<bool>(compiled))
      << llvm::toString(compiled.takeError());
  EXPECT_EQ(compiled->kernels, std::vector<std::string>{"scale"});
  EXPECT_NE(compiled->ptx.find(".visible .entry scale("), std::string::npos);
  EXPECT_NE(compiled->ptx.find(".target sm_90a"), std::string::npos);
  EXPECT_NE(compiled->ptx.find("fma.rn.f32"), std::string::npos);
  EXPECT_EQ(compiled->cubin.substr(1, 3), "ELF");
  EXPECT_EQ(compiled->report.functions, 1);
  EXPECT_EQ(compiled->report.stack, 0);
  EXPECT_GT(compiled->report.registers, 0);
  const GpuCompileTimes &times = compiled->times;
  for (double stage : {times.passes, times.translate, times.optimize,
                       times.codegen, times.ptxas})
    EXPECT_GT(stage, 0);
}

TEST_F(GpuKernelCompilerTest, SameTextSameBytes) {
  auto one = compile(kScale), two = compile(kScale);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->ptx, two->ptx);
  EXPECT_EQ(one->cubin, two->cubin);
}

TEST_F(GpuKernelCompilerTest, WithoutPtxasKeepsPtx) {
  auto compiled = compile(kScale, "none");
  ASSERT_TRUE(static_cast<bool>(compiled))
      << llvm::toString(compiled.takeError());
  EXPECT_NE(compiled->ptx.find(".version 8.0"), std::string::npos);
  EXPECT_EQ(compiled->cubin, "");
  EXPECT_EQ(compiled->log, "");
}

TEST_F(GpuKernelCompilerTest, RefusesModulesWithoutKernels) {
  EXPECT_EQ(failureOf("func.func @f() { return }"),
            "kernels of the module: got none, expected functions with "
            "nvvm.kernel");
}

TEST_F(GpuKernelCompilerTest, RefusesWhatCannotBeLaunched) {
  EXPECT_EQ(failureOf("llvm.func @k(!llvm.ptr) attributes {nvvm.kernel}"),
            "kernel 'k': got a declaration, expected a body");
  EXPECT_EQ(failureOf(R"(
    llvm.func @k(%x: i32) -> i32 attributes {nvvm.kernel} {
      llvm.return %x : i32
    })"),
            "kernel 'k': got a result, expected none");
}

TEST_F(GpuKernelCompilerTest, RefusesNamesThatPtxDoesNotHave) {
  auto kernel = [](const std::string &name) {
    return "llvm.func @\"" + name +
           "\"() attributes {nvvm.kernel} { llvm.return }";
  };
  for (const char *name :
       {"a b", "a.b", "a-b", "1", "9a", "_", "$", "a@b", "k\\0A", "\\C3\\A4"})
    EXPECT_EQ(failureOf(kernel(name), "none"),
              std::string("name of a function or variable: got '") + name +
                  "', expected letters, digits, _ and $, the first no digit, "
                  "and not _ or $ alone");
  std::string taken;
  for (const char *name : {"a", "A9", "_a", "$1", "a$b_c"})
    taken += kernel(name) + "\n";
  EXPECT_EQ(failureOf(taken), "none");
  // Functions that kernels call, and variables. Those of the module alone get
  // other names.
  const char *withOthers = R"(
    llvm.mlir.global VISIBILITY @"x.y"(1 : i32) {addr_space = 1 : i32} : i32
    llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel} {
      %x = llvm.mlir.addressof @"x.y" : !llvm.ptr<1>
      %0 = llvm.load volatile %x : !llvm.ptr<1> -> i32
      llvm.store %0, %p : i32, !llvm.ptr<1>
      llvm.return
    })";
  for (const char *visibility : {"external", "internal"}) {
    std::string text = withOthers;
    text.replace(text.find("VISIBILITY"), 10, visibility);
    std::string message = failureOf(text, "none");
    EXPECT_EQ(message.find("name of a function or variable: got 'x.y'") == 0,
              std::string(visibility) == "external")
        << message;
  }
}

TEST_F(GpuKernelCompilerTest, RefusesCallsOfOtherCode) {
  EXPECT_EQ(failureOf(R"(
    llvm.func @__nv_exp2f(f32) -> f32
    llvm.func @other(f32) -> f32
    llvm.func @unused(f32) -> f32
    llvm.func @k(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
      %0 = llvm.call @__nv_exp2f(%x) : (f32) -> f32
      %1 = llvm.call @other(%0) : (f32) -> f32
      llvm.store %1, %p : f32, !llvm.ptr<1>
      llvm.return
    })"),
            "functions that kernels call: got '__nv_exp2f', 'other', expected "
            "none from outside: no device library is linked");
}

TEST_F(GpuKernelCompilerTest, RefusesMathThatNeedsADeviceLibrary) {
  EXPECT_EQ(failureOf(R"(
    llvm.func @k(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
      %0 = math.exp %x : f32
      llvm.store %0, %p : f32, !llvm.ptr<1>
      llvm.return
    })"),
            "functions that kernels call: got 'llvm.exp.f32', expected none "
            "from outside: no device library is linked");
}

TEST_F(GpuKernelCompilerTest, RefusesWhatDoesNotLower) {
  context.allowUnregisteredDialects();
  EXPECT_EQ(failureOf(R"(module @kernels {
    llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel} {
      %0 = "test.unknown"() : () -> i32
      llvm.return
    }
    })"),
            "kernel module does not translate to LLVM IR: got 'kernels'");
  EXPECT_FALSE(diagnostics->empty());
}

TEST_F(GpuKernelCompilerTest, RefusesSlowKernelsWithTheLogsLine) {
  std::string message = failureOf(R"(
    llvm.func @k(%p: !llvm.ptr<1>) attributes {nvvm.kernel} {
      nvvm.setmaxregister increase 240
      %0 = nvvm.read.ptx.sreg.tid.x : i32
      llvm.store %0, %p : i32, !llvm.ptr<1>
      llvm.return
    })");
  EXPECT_EQ(message.find("kernel 'k' by ptxas "), 0u) << message;
  EXPECT_NE(message.find(": register reallocation: got '(C7508) "),
            std::string::npos)
      << message;
}

//===- KernelCompilerTest.cpp - Errors, objects and symbols ---------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Jit/KernelCompiler.h"
#include "sparseattn/Conversion/SparseAttnToVector/KernelBuilder.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <thread>

using namespace mlir;
using namespace mlir::sparseattn;
using sart::DType;
using sart::KernelSpec;

namespace {

class KernelCompilerTest : public testing::Test {
protected:
  KernelCompilerTest() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerKernelDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      message += diagnostic.str();
      return success();
    });
    if (auto host = CpuTarget::host())
      target = *host;
    else
      ADD_FAILURE() << llvm::toString(host.takeError());
  }

  /// The message of building `spec`, empty if it succeeds.
  std::string errorOf(const KernelSpec &spec) {
    message.clear();
    build({spec});
    return message;
  }

  OwningOpRef<ModuleOp> build(std::initializer_list<KernelSpec> specs) {
    Location loc = UnknownLoc::get(&context);
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    OpBuilder builder(&context);
    for (const KernelSpec &spec : specs) {
      builder.setInsertionPointToEnd(module->getBody());
      if (succeeded(buildKernel(builder, loc, spec, target)))
        EXPECT_TRUE(succeeded(verify(*module)));
    }
    return module;
  }

  std::unique_ptr<KernelCompiler> createCompiler() {
    auto compiler = KernelCompiler::create(target);
    if (compiler)
      return std::move(*compiler);
    ADD_FAILURE() << llvm::toString(compiler.takeError());
    return nullptr;
  }

  MLIRContext context;
  CpuTarget target;
  std::string message;
};

KernelSpec pool() {
  KernelSpec spec;
  spec.kind = KernelSpec::Kind::Pool;
  spec.headDim = 32;
  spec.blockQ = 16;
  return spec;
}

/// Runs a pool kernel of pool() on rows of ones.
float poolOfOnes(void *entry) {
  std::vector<float> x(16 * 32, 1), y(32, -1);
  auto view = [](std::vector<float> &values, int64_t rows) {
    sart::MemRef<float, 2> view;
    view.allocated = view.aligned = values.data();
    view.sizes[0] = rows;
    view.sizes[1] = view.strides[0] = 32;
    view.strides[1] = 1;
    return view;
  };
  auto from = view(x, 16), to = view(y, 1);
  reinterpret_cast<void (*)(sart::MemRef<float, 2> *, sart::MemRef<float, 2> *,
                            intptr_t, intptr_t)>(entry)(&from, &to, 0, 1);
  return y[31];
}

TEST_F(KernelCompilerTest, UnsupportedSpecsAreNamed) {
  KernelSpec spec;
  spec.headDim = 100;
  EXPECT_EQ(errorOf(spec), "head_dim is not supported by cpu kernels: got 100, "
                           "expected a multiple of 8 in [32, 256]");
  for (int64_t headDim : {-8, 0, 24, 264}) {
    spec.headDim = headDim;
    EXPECT_NE(errorOf(spec), "");
  }
  spec = KernelSpec();
  spec.blockQ = 136;
  EXPECT_EQ(errorOf(spec),
            "block size is not supported by cpu kernels: got 136, expected a "
            "multiple of 8 in [16, 128]");
  spec = KernelSpec();
  spec.blockK = 8;
  EXPECT_EQ(errorOf(spec),
            "kv block size is not supported by cpu kernels: got 8, expected a "
            "multiple of 8 in [16, 128]");
  spec = KernelSpec();
  spec.dtype = DType::I32;
  EXPECT_EQ(errorOf(spec), "element type is not supported by cpu kernels: got "
                           "i32, expected f32, bf16 or f16");
  spec = KernelSpec();
  spec.outDtype = DType::BF16;
  EXPECT_EQ(errorOf(spec), "output type is not supported by cpu kernels: got "
                           "bf16, expected f32 or the input type f32");
  spec = KernelSpec();
  uint8_t unknown = 7; // a kind read from a file
  std::memcpy(&spec.kind, &unknown, 1);
  EXPECT_EQ(errorOf(spec),
            "kernel kind is not known to cpus: got 7, expected 0, 1 or 2");
  spec.kind = KernelSpec::Kind::Merge; // of devices alone
  EXPECT_EQ(errorOf(spec),
            "kernel kind is not known to cpus: got 4, expected 0, 1 or 2");
  EXPECT_EQ(errorOf(KernelSpec()), "");
}

TEST_F(KernelCompilerTest, DialectsMustBeLoaded) {
  MLIRContext empty(MLIRContext::Threading::DISABLED);
  std::string text;
  empty.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    text += diagnostic.str();
    return success();
  });
  Location loc = UnknownLoc::get(&empty);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder(module->getBodyRegion());
  EXPECT_TRUE(failed(buildKernel(builder, loc, KernelSpec(), target)));
  EXPECT_EQ(text, "dialect is not loaded: expected 'arith' for a cpu kernel");
}

TEST_F(KernelCompilerTest, FunctionsCarryNameAndScratch) {
  KernelSpec attend, route;
  route.kind = KernelSpec::Kind::Route;
  auto compiler = createCompiler();
  ASSERT_TRUE(compiler);
  auto result = compiler->compile(*build({attend, pool(), route}));
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  ASSERT_EQ(result->kernels.size(), 3u);
  EXPECT_EQ(result->kernels[0].name, "attend_f32_f32_d128_q128_k128");
  EXPECT_EQ(result->kernels[0].scratchBytes,
            attendScratchBytes(attend, target));
  EXPECT_EQ(result->kernels[0].scratchBytesPerBlock, 0);
  EXPECT_EQ(result->kernels[1].name, "pool_f32_d32_b16");
  EXPECT_EQ(result->kernels[1].scratchBytes, 0);
  EXPECT_EQ(result->kernels[2].name, "route_d128");
  EXPECT_EQ(result->kernels[2].scratchBytes, routeScratchBytes(route, target));
  EXPECT_EQ(result->kernels[2].scratchBytesPerBlock,
            routeScratchBytesPerBlock());
  for (const CompiledKernel &kernel : result->kernels)
    EXPECT_NE(kernel.entry, nullptr);
  EXPECT_GT(result->times.total(), 0);
  EXPECT_EQ(poolOfOnes(result->kernels[1].entry), 1);
}

TEST_F(KernelCompilerTest, ObjectsLoadAgain) {
  auto compiler = createCompiler(), other = createCompiler();
  ASSERT_TRUE(compiler && other);
  auto result = compiler->compile(*build({pool()}));
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  std::vector<CompiledKernel> kernels(1);
  kernels[0].name = result->kernels[0].name;
  ASSERT_FALSE(bool(other->load(result->object, kernels)));
  EXPECT_EQ(poolOfOnes(kernels[0].entry), 1);
}

TEST_F(KernelCompilerTest, BrokenObjectsAreRefused) {
  auto compiler = createCompiler();
  ASSERT_TRUE(compiler);
  auto result = compiler->compile(*build({pool()}));
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  std::vector<CompiledKernel> kernels(1);
  kernels[0].name = "absent";
  llvm::Error absent = compiler->load(result->object, kernels);
  EXPECT_NE(llvm::toString(std::move(absent)).find("absent"),
            std::string::npos);
  kernels[0].name = result->kernels[0].name;
  llvm::Error noObject = compiler->load("no object", kernels);
  EXPECT_TRUE(bool(noObject));
  llvm::consumeError(std::move(noObject));
  // The compiler still works.
  ASSERT_FALSE(bool(compiler->load(result->object, kernels)));
  EXPECT_EQ(poolOfOnes(kernels[0].entry), 1);
}

TEST_F(KernelCompilerTest, ModulesDoNotShareSymbols) {
  auto compiler = createCompiler();
  ASSERT_TRUE(compiler);
  auto first = compiler->compile(*build({pool()}));
  auto second = compiler->compile(*build({pool()}));
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->kernels[0].entry, second->kernels[0].entry);
  EXPECT_EQ(first->object, second->object);
  EXPECT_EQ(poolOfOnes(first->kernels[0].entry), 1);
  EXPECT_EQ(poolOfOnes(second->kernels[0].entry), 1);
}

TEST_F(KernelCompilerTest, SeveralThreads) {
  auto compiler = createCompiler();
  ASSERT_TRUE(compiler);
  std::vector<std::thread> threads;
  std::vector<float> results(4, 0);
  threads.reserve(results.size());
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      MLIRContext own(MLIRContext::Threading::DISABLED);
      DialectRegistry registry;
      registerKernelDialects(registry);
      own.appendDialectRegistry(registry);
      own.loadAllAvailableDialects();
      Location loc = UnknownLoc::get(&own);
      OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
      OpBuilder builder(module->getBodyRegion());
      if (failed(buildKernel(builder, loc, pool(), target)))
        return;
      auto result = compiler->compile(*module);
      if (result)
        results[i] = poolOfOnes(result->kernels[0].entry);
      else
        llvm::consumeError(result.takeError());
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(results, std::vector<float>(4, 1));
}

TEST_F(KernelCompilerTest, ModuleThatDoesNotLowerIsAnError) {
  auto compiler = createCompiler();
  ASSERT_TRUE(compiler);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      "module @strange { func.func @f(%x: tensor<4xf32>) attributes "
      "{llvm.emit_c_interface} { return } }",
      &context);
  ASSERT_TRUE(module);
  auto result = compiler->compile(*module);
  ASSERT_FALSE(bool(result));
  EXPECT_NE(llvm::toString(result.takeError()).find("got 'strange'"),
            std::string::npos);
}

TEST_F(KernelCompilerTest, UnknownCpuIsAnError) {
  auto unknown = CpuTarget::get("", "no-such-cpu", "");
  ASSERT_FALSE(bool(unknown));
  EXPECT_NE(llvm::toString(unknown.takeError()).find("got 'no-such-cpu'"),
            std::string::npos);
  auto triple = CpuTarget::get("no-such-triple", "", "");
  ASSERT_FALSE(bool(triple));
  llvm::consumeError(triple.takeError());
}

TEST_F(KernelCompilerTest, TilesFollowTheTarget) {
  if (target.triple.rfind("x86_64", 0) != 0)
    GTEST_SKIP() << "not an x86-64 machine";
  auto lanes = [](const char *cpu) {
    auto found = CpuTarget::get("", cpu, "");
    return found ? std::optional(*found) : std::nullopt;
  };
  auto wide = lanes("skylake-avx512"), middle = lanes("haswell"),
       narrow = lanes("x86-64");
  ASSERT_TRUE(wide && middle && narrow);
  EXPECT_EQ(wide->lanes, 16);
  EXPECT_TRUE(wide->hasFma && wide->hasHalf);
  EXPECT_EQ(middle->lanes, 8);
  EXPECT_TRUE(middle->hasFma && middle->hasHalf);
  EXPECT_EQ(narrow->lanes, 4);
  EXPECT_FALSE(narrow->hasFma || narrow->hasHalf);
}

} // namespace

//===- StandardEmittersTest.cpp - Kernels of programs and their launches --===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "GpuKernelLibrary.h"

#include "sparseattn/Conversion/SparseAttnToSm90/AttendRecipe.h"

#include "sparseattn-rt/DeviceRouting.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace mlir::sparseattn;
using sart::DType;
using sart::KernelSpec;

namespace {

KernelSpec specOf(KernelSpec::Kind kind, int64_t headDim = 128) {
  KernelSpec spec;
  spec.kind = kind;
  spec.dtype = spec.outDtype = DType::BF16;
  spec.headDim = headDim;
  return spec;
}

class StandardEmitters : public ::testing::Test {
protected:
  StandardEmitters() : context(mlir::MLIRContext::Threading::DISABLED) {
    auto created =
        GpuKernelLibrary::create(nullptr, "", standardGpuKernelEmitters());
    EXPECT_TRUE(created) << created.message();
    library = std::move(*created);
    mlir::DialectRegistry registry;
    library->registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  std::shared_ptr<sart::KernelTable>
  kernels(const std::vector<KernelSpec> &specs) {
    std::vector<KernelSource> sources;
    auto table = library->kernelsOf(specs, context, sources);
    EXPECT_TRUE(table) << table.message();
    return table ? *table : std::make_shared<sart::KernelTable>();
  }
  std::string failure(const KernelSpec &spec) {
    std::vector<KernelSource> sources;
    auto table = library->kernelsOf({spec}, context, sources);
    return table ? "none" : table.message();
  }

  mlir::MLIRContext context;
  std::unique_ptr<GpuKernelLibrary> library;
};

} // namespace

TEST_F(StandardEmitters, EveryKindHasItsFunctionsAndLaunches) {
  KernelSpec attend = specOf(KernelSpec::Kind::Attend);
  KernelSpec pool = specOf(KernelSpec::Kind::Pool);
  std::vector<KernelSpec> specs = {
      attend,
      pool,
      specOf(KernelSpec::Kind::Route),
      specOf(KernelSpec::Kind::OrderTiles),
      specOf(KernelSpec::Kind::Merge),
      sart::convertKernel(DType::F32, DType::BF16)};
  auto table = kernels(specs);
  EXPECT_EQ(table->size(), 8u);
  const sart::LoadedKernel *kernel = table->find(attend);
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(*kernel->launch, attendLaunch(attend, *findAttendRecipe(attend)));
  // The launches that the host computes call these functions.
  auto poolLaunch = sart::devicePoolLaunch(pool.name(), 1, 10);
  auto routeLaunch = sart::deviceRouteLaunch(128, 1, 10, 100);
  auto wideLaunch = sart::deviceRouteLaunch(128, 1, 10, 1000);
  auto totals = sart::deviceTotalsLaunch(1);
  auto order = sart::deviceOrderLaunch(1, 10);
  auto convert = sart::deviceConvertLaunch("convert_f32_bf16", 1, 10, 128);
  auto merge = sart::deviceMergeLaunch(1, 10);
  for (const auto *launch : {&poolLaunch, &routeLaunch, &wideLaunch, &totals,
                             &order, &convert, &merge}) {
    ASSERT_TRUE(*launch) << launch->message();
    const sart::LoadedKernel *found = table->findEntry((*launch)->kernel);
    ASSERT_NE(found, nullptr) << (*launch)->kernel;
    // Few rows are ordered by few threads; what stands here is the most.
    EXPECT_GE(found->launch->threads, (*launch)->threads) << (*launch)->kernel;
    EXPECT_EQ(found->binary->substr(1, 3), "ELF");
  }
}

TEST_F(StandardEmitters, WideHeadsRouteWithFewerRows) {
  auto table = kernels({specOf(KernelSpec::Kind::Route, 256)});
  auto launch = sart::deviceRouteLaunch(256, 1, 10, 100);
  ASSERT_TRUE(launch) << launch.message();
  EXPECT_NE(table->findEntry(launch->kernel), nullptr) << launch->kernel;
}

TEST_F(StandardEmitters, RefuseWhatTheyCannotWrite) {
  KernelSpec spec = specOf(KernelSpec::Kind::Attend, 96);
  EXPECT_EQ(failure(spec),
            "recipe of a GPU kernel: got none for "
            "attend_bf16_bf16_d96_q128_k128, expected head_dim 64, 128 or 256 "
            "and blocks 128x128, 128x64, 64x128 or 64x64");
  std::string message = failure(specOf(KernelSpec::Kind::Pool, 96));
  EXPECT_EQ(message.find("gpu kernel pool_bf16_d96_b128: "), 0u) << message;
  EXPECT_NE(message.find("got 96, expected 64, 128 or 256"), std::string::npos)
      << message;
}

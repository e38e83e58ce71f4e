//===- KernelKeyTest.cpp - What the keys of cached kernels say ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BuildId.h"
#include "KernelLibrary.h"

#include "sparseattn/Conversion/SparseAttnToVector/KernelBuilder.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <set>

using namespace mlir::sparseattn;

namespace {

CpuTarget host() {
  llvm::Expected<CpuTarget> target = CpuTarget::host();
  if (!target) {
    ADD_FAILURE() << llvm::toString(target.takeError());
    return {};
  }
  return *target;
}

} // namespace

TEST(KernelKey, ChangesWithTheMachine) {
  CpuTarget target = host();
  std::set<std::string> keys = {kernelPlatform(target)};
  EXPECT_EQ(kernelPlatform(target), *keys.begin());
  CpuTarget other = target;
  other.cpu = "another-cpu";
  EXPECT_TRUE(keys.insert(kernelPlatform(other)).second);
  other = target;
  other.features += ",-some-feature";
  EXPECT_TRUE(keys.insert(kernelPlatform(other)).second);
  other = target;
  other.triple = "x86_64-other-linux";
  EXPECT_TRUE(keys.insert(kernelPlatform(other)).second);
}

TEST(KernelKey, DoesNotDependOnTheOrderOfFeatures) {
  CpuTarget one = host(), two = one;
  one.features = "+avx2,+fma,-avx512f";
  two.features = "-avx512f,+avx2,+fma";
  EXPECT_EQ(kernelPlatform(one), kernelPlatform(two));
}

TEST(KernelKey, NamesEveryBuild) {
  // This program, libMLIR and libLLVM, or one of them for all three.
  std::string own = buildIdOf(reinterpret_cast<const void *>(&kernelPlatform));
  EXPECT_GE(own.size(), 16u);
  EXPECT_EQ(own.find_first_not_of("0123456789abcdef"), std::string::npos);
  std::string platform = kernelPlatform(host());
  EXPECT_NE(platform.find("compiler " + own + "\n"), std::string::npos)
      << platform;
  for (const char *line : {"\nmlir ", "\nllvm ", "\ntriple ", "\ncpu "})
    EXPECT_NE(platform.find(line), std::string::npos) << platform;
}

TEST(KernelKey, LibrariesHaveBuildIdsOfTheirOwn) {
  std::string own = buildIdOf(reinterpret_cast<const void *>(&kernelPlatform));
  std::string libc = buildIdOf(reinterpret_cast<const void *>(&std::fclose));
  EXPECT_NE(libc, "");
  EXPECT_NE(libc, own);
  int onTheStack = 0;
  EXPECT_EQ(buildIdOf(&onTheStack), "");
}

TEST(KernelKey, DisabledCachesHaveNone) {
  mlir::DialectRegistry registry;
  registerKernelDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  sart::Program program;
  program.placement.shape.headDim = 32;
  program.policy.kind = sart::RoutingPolicy::Kind::TopK;
  program.ranks.resize(1);
  program.ranks[0].resize(1);
  program.ranks[0][0].opcode = sart::Opcode::Route;
  std::string folder = ::testing::TempDir() + "sparseattn-no-such-cache";
  for (bool enabled : {true, false}) {
    auto cache = std::make_shared<sart::DiskCache>(folder);
    auto library = KernelLibrary::create(cache);
    ASSERT_TRUE(library) << library.message();
    if (!enabled)
      cache->disable("a reason");
    std::vector<KernelSource> sources;
    auto kernels = (*library)->kernelsOf(program, context, sources);
    ASSERT_TRUE(kernels) << kernels.message();
    ASSERT_EQ(sources.size(), 1u);
    EXPECT_EQ(sources[0].name, "route_d32");
    EXPECT_EQ(sources[0].kind, KernelSource::Kind::Compiled);
    EXPECT_EQ(sources[0].key.empty(), !enabled) << sources[0].key;
    std::filesystem::remove_all(folder);
  }
}

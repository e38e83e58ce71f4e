//===- SupportMatrixTest.cpp - The matrix follows the verifiers -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "SupportMatrix.h"

#include "sparseattn/Dialect/SparseAttn/IR/SparseAttn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <map>

using namespace mlir;
using namespace mlir::sparseattn;

namespace {

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registry.insert<func::FuncDialect>();
  registerSparseAttnDialect(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

using Matrix = std::map<std::string, SupportRow>;

Matrix build(MLIRContext &context) {
  Matrix matrix;
  for (const SupportRow &row : buildSupportMatrix(context))
    matrix[row.axis + " = " + row.value] = row;
  return matrix;
}

TEST(SupportMatrix, HoldsWhatTheContractPromises) {
  auto context = makeContext();
  Matrix matrix = build(*context);
  const char *promised[] = {"element type = f32",
                            "element type = bf16",
                            "element type = f16",
                            "head dimension = 32",
                            "head dimension = 40",
                            "head dimension = 64",
                            "head dimension = 128",
                            "head dimension = 256",
                            "tokens (query x key) = 1x1",
                            "tokens (query x key) = 0x0",
                            "tokens (query x key) = 1000x1000",
                            "tokens (query x key) = 300x700",
                            "heads (query / key) = 12/4",
                            "heads (query / key) = 12/1",
                            "causal = yes",
                            "source of the mask = explicit",
                            "source of the mask = window",
                            "source of the mask = dense",
                            "source of the mask = route, top_p",
                            "source of the mask = route, top_k",
                            "blocks (query x key tokens) = 128x64",
                            "blocks (query x key tokens) = 64x128",
                            "blocks (query x key tokens) = 16x16"};
  for (const char *name : promised) {
    ASSERT_TRUE(matrix.count(name)) << name;
    EXPECT_EQ(matrix[name].accepted, matrix[name].total)
        << name << ": " << matrix[name].reason;
    EXPECT_GT(matrix[name].total, 0) << name;
  }
}

TEST(SupportMatrix, SaysWhatWouldHaveToChange) {
  auto context = makeContext();
  Matrix matrix = build(*context);
  std::pair<const char *, const char *> refused[] = {
      {"head dimension = 264",
       "'sparseattn.attend' op head dimension is not supported: got 264, "
       "expected 32 to 256 in steps of 8"},
      {"heads (query / key) = 12/5", "heads of k"},
      {"blocks (query x key tokens) = 256x256",
       "got 256, expected 16 to 128 in steps of 8"},
      {"element type = f64", "f32, bf16 or f16"}};
  for (auto [name, reason] : refused) {
    EXPECT_EQ(matrix[name].accepted, 0) << name;
    EXPECT_GT(matrix[name].total, 0) << name;
  }
  EXPECT_EQ(matrix["head dimension = 264"].reason, refused[0].second);
  EXPECT_NE(matrix["blocks (query x key tokens) = 256x256"].reason.find(
                refused[2].second),
            std::string::npos)
      << matrix["blocks (query x key tokens) = 256x256"].reason;
  EXPECT_NE(matrix["element type = f64"].reason.find(refused[3].second),
            std::string::npos)
      << matrix["element type = f64"].reason;
}

// The rows come from the verifiers: relax one rule and exactly its rows change.
TEST(SupportMatrix, FollowsTheVerifiers) {
  auto context = makeContext();
  Matrix strict = build(*context);
  SupportLimits limits;
  limits.maxHeadDim = 512;
  context->getLoadedDialect<SparseAttnDialect>()->setLimits(limits);
  Matrix relaxed = build(*context);
  ASSERT_EQ(strict.size(), relaxed.size());
  for (auto &[name, row] : strict) {
    if (name == "head dimension = 264") {
      EXPECT_EQ(row.accepted, 0);
      EXPECT_EQ(relaxed[name].accepted, relaxed[name].total);
      continue;
    }
    EXPECT_EQ(row.accepted, relaxed[name].accepted) << name;
    // The rule itself is printed in its refusals.
    if (row.axis != "head dimension")
      EXPECT_EQ(row.reason, relaxed[name].reason) << name;
  }
}

TEST(SupportMatrix, PrintsATable) {
  std::string text = printSupportMatrix(
      {{"causal", "yes", 3, 3, ""}, {"element type", "f64", 0, 3, "no f64"}});
  EXPECT_EQ(text, "| axis | value | supported | in combinations | otherwise |\n"
                  "|---|---|---|---|---|\n"
                  "| causal | yes | yes | 3 of 3 |  |\n"
                  "| element type | f64 | no | 0 of 3 | `no f64` |\n");
}

} // namespace

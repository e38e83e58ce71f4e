//===- AttendRecipeTest.cpp - The table of Hopper attend recipes ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Conversion/SparseAttnToSm90/AttendRecipe.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

using namespace mlir::sparseattn;

namespace {

/// Shared memory that one CTA of an sm_90 may have.
constexpr int64_t kSharedLimit = 232448;

TEST(AttendRecipeTest, EveryShapeClassHasOneRecipe) {
  for (int64_t dim : {64, 128, 256})
    for (int64_t q : {64, 128})
      for (int64_t k : {64, 128}) {
        sart::KernelSpec spec;
        spec.headDim = dim;
        spec.blockQ = q;
        spec.blockK = k;
        const AttendRecipe *recipe = findAttendRecipe(spec);
        ASSERT_NE(recipe, nullptr) << spec.name();
        EXPECT_EQ(recipe->tileRows(), q);
        EXPECT_EQ(k % recipe->partKeys, 0);
      }
  EXPECT_EQ(attendRecipes().size(), 12u);
  sart::KernelSpec other;
  other.headDim = 96;
  EXPECT_EQ(findAttendRecipe(other), nullptr);
}

TEST(AttendRecipeTest, RegistersComeFromWhatTheCtaHasAtEntry) {
  // setmaxnreg draws from the CTA's own registers: a sum above them compiles,
  // and the second consumer waits for ever.
  for (const AttendRecipe &recipe : attendRecipes()) {
    EXPECT_LE(recipe.producerRegisters * 128 + recipe.consumerRegisters * 256,
              kAttendEntryRegisters * kAttendThreads);
    EXPECT_EQ(recipe.producerRegisters % 8, 0);
    EXPECT_EQ(recipe.consumerRegisters % 8, 0);
  }
  EXPECT_LE(kAttendEntryRegisters * kAttendThreads, 65536);
}

TEST(AttendRecipeTest, LayoutsFitAndDoNotOverlap) {
  std::vector<AttendRecipe> recipes(attendRecipes().begin(),
                                    attendRecipes().end());
  AttendRecipe throughMemory = *attendRecipes().begin();
  for (const AttendRecipe &recipe : attendRecipes())
    if (recipe.headDim == 128 && recipe.blockQ == 128 && recipe.blockK == 128)
      throughMemory = recipe;
  throughMemory.probabilitiesInRegisters = false;
  throughMemory.stages = 5;
  recipes.push_back(throughMemory);
  for (const AttendRecipe &recipe : recipes) {
    AttendLayout layout(recipe);
    EXPECT_LE(layout.bytes, kSharedLimit);
    // Tiles of wgmma and TMA with a 128-byte swizzle repeat every 1024 bytes.
    EXPECT_EQ(recipe.slotBytes() % 1024, 0);
    EXPECT_EQ(layout.copyStride % 1024, 0);
    std::vector<std::pair<int64_t, int64_t>> ranges = {
        {layout.ring, recipe.stages * recipe.slotBytes()},
        {layout.ringBarriers, recipe.stages * 16},
        {layout.mailbox, 32},
        {layout.mailboxBarriers, 32}};
    if (!recipe.queryInRing) {
      ranges.push_back({layout.query, recipe.queryBytes()});
      ranges.push_back({layout.queryBarriers, 16});
      EXPECT_EQ(layout.query % 1024, 0);
    }
    if (!recipe.probabilitiesInRegisters) {
      ranges.push_back({layout.probabilities, 2 * 64 * recipe.stepKeys() * 2});
      EXPECT_EQ(layout.probabilities % 1024, 0);
    }
    for (size_t i = 0; i < ranges.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        EXPECT_TRUE(ranges[i].first + ranges[i].second <= ranges[j].first ||
                    ranges[j].first + ranges[j].second <= ranges[i].first)
            << i << " and " << j;
    if (recipe.pairs == 2)
      EXPECT_GE(layout.copyStride, layout.mailbox + 32);
  }
}

TEST(AttendRecipeTest, EveryRecipeHoldsAStepAndAQuery) {
  for (const AttendRecipe &recipe : attendRecipes()) {
    // Keys and values of a step lie in the ring at once, beside Q where it
    // travels there.
    int64_t query = recipe.queryInRing ? recipe.querySlots() : 0;
    EXPECT_GE(recipe.stages, 2 * recipe.parts + query);
    if (recipe.queryInRing) {
      EXPECT_TRUE(recipe.queryInRegisters);
      EXPECT_EQ(recipe.queryBytes() % recipe.slotBytes(), 0);
    }
    // Tiles of 64 rows have no partner to take turns with.
    EXPECT_FALSE(recipe.pairs == 2 && recipe.pingPong);
  }
}

TEST(AttendRecipeTest, TheTableKeepsItsRules) {
  for (const AttendRecipe &recipe : attendRecipes())
    EXPECT_EQ(checkRecipe(recipe).message(), "")
        << recipe.headDim << " " << recipe.blockQ << " " << recipe.blockK;
}

TEST(AttendRecipeTest, OverridesAreCheckedTogether) {
  AttendRecipe recipe;
  EXPECT_EQ(overrideRecipe(
                recipe, {"query_in_registers=0", "query_in_ring=0", "stages=5"})
                .message(),
            "");
  recipe = {};
  EXPECT_EQ(overrideRecipe(recipe, {"stages=9000000000000000000"}).message(),
            "recipe: got stages=9000000000000000000, expected at most 64");
  recipe = {};
  EXPECT_EQ(overrideRecipe(recipe, {"producer_registers=20"}).message(),
            "recipe: got producer_registers=20, expected a multiple of 8 from "
            "24 to 256");
  recipe = {};
  EXPECT_EQ(overrideRecipe(recipe, {"consumer_registers=260"}).message(),
            "recipe: got consumer_registers=260, expected a multiple of 8 from "
            "24 to 256");
  recipe = {};
  EXPECT_EQ(overrideRecipe(recipe, {"part_keys=-16"}).message(),
            "recipe: got part_keys=-16, expected a multiple of 64 that divides "
            "blocks of 128");
}

TEST(AttendRecipeTest, NamesRoundTrip) {
  for (const char *name :
       {"attend_bf16_bf16_d128_q128_k64", "attend_f16_f32_d64_q64_k128",
        "attend_bf16_f32_d256_q128_k128_causal"}) {
    sart::Expected<sart::KernelSpec> spec = parseAttendName(name);
    ASSERT_TRUE(spec) << spec.status().message();
    EXPECT_EQ(spec->name(), name);
  }
  for (const char *name :
       {"", "attend", "attend_bf16_bf16_d128_q128",
        "attend_bf16_bf16_d128_q128_k64_", "pool_bf16_d64_b64",
        "attend_bf17_bf16_d128_q128_k64"}) {
    sart::Expected<sart::KernelSpec> spec = parseAttendName(name);
    ASSERT_FALSE(spec) << name;
    EXPECT_EQ(spec.status().message(),
              std::string("name of an attend kernel: got '") + name +
                  "', expected one such as attend_bf16_bf16_d128_q128_k64");
  }
}

TEST(AttendRecipeTest, OverridesNameTheirField) {
  AttendRecipe recipe;
  EXPECT_TRUE(overrideRecipe(recipe, {"stages=5", "ping_pong=0"}).ok());
  EXPECT_EQ(recipe.stages, 5);
  EXPECT_FALSE(recipe.pingPong);
  EXPECT_EQ(overrideRecipe(recipe, {"stages"}).message(),
            "field of a recipe: got 'stages', expected NAME=NUMBER");
  for (const char *field : {"ping_pong=2", "query_in_ring=-1"})
    EXPECT_EQ(overrideRecipe(recipe, {field}).message(),
              std::string("field of a recipe: got '") + field +
                  "', expected 0 or 1");
  EXPECT_EQ(overrideRecipe(recipe, {"warps=1"}).message(),
            "field of a recipe: got 'warps', expected stages, part_keys, "
            "parts, query_in_registers, query_in_ring, ping_pong, "
            "probabilities_in_registers, rescale_bits, producer_registers or "
            "consumer_registers");
}

} // namespace

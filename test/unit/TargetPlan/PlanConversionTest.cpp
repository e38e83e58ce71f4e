//===- PlanConversionTest.cpp - Attributes to the planner and back --------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Target/Plan/Plan.h"

#include "sparseattn/Dialect/SparseAttn/IR/MaskBits.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace mlir::sparseattn;

namespace {

class PlanConversion : public ::testing::Test {
protected:
  PlanConversion() { context.loadDialect<SparseAttnDialect>(); }

  static std::string print(Attribute attribute) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    attribute.print(stream);
    return text;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
};

sart::BlockMask randomMask(std::mt19937 &random, int64_t heads, int64_t qBlocks,
                           int64_t kvBlocks, double density) {
  std::bernoulli_distribution selected(density);
  std::vector<uint8_t> bits(static_cast<size_t>(heads * qBlocks * kvBlocks));
  for (uint8_t &bit : bits)
    bit = selected(random);
  return sart::BlockMask::fromBits(bits.data(), heads, qBlocks, kvBlocks);
}

// Plans of random masks on several meshes go to text and back unchanged.
TEST_F(PlanConversion, RoundTripsPlansOfRandomMasks) {
  std::mt19937 random(5);
  int64_t moves = 0, transfers = 0, extras = 0;
  for (sart::Mesh mesh : {sart::Mesh{1, 1}, sart::Mesh{4, 1}, sart::Mesh{1, 3},
                          sart::Mesh{2, 2}, sart::Mesh{5, 2}})
    for (int64_t kvHeads : {12, 4, 1}) {
      sart::Placement placement;
      placement.mesh = mesh;
      placement.shape.heads = 12;
      placement.shape.kvHeads = kvHeads;
      placement.shape.sq = placement.shape.skv = 1000;
      placement.shape.headDim = 64;
      placement.shape.blockQ = placement.shape.blockK = 64;
      sart::PlannerOptions options;
      options.augment = true;
      options.k1Milli = options.k2Milli = 1000;
      options.n2Milli = 0;
      sart::BlockMask mask = randomMask(random, 12, 16, 16, 0.2);
      sart::Expected<sart::Plan> plan =
          sart::makePlan(sart::summarize(mask, placement), placement, options);
      ASSERT_TRUE(plan.ok()) << plan.message();
      moves += plan->moves.size();
      transfers += plan->transfers.size();
      extras += plan->extras.size();

      PlanAttr attribute = fromPlan(&context, *plan);
      ASSERT_TRUE(attribute);
      EXPECT_TRUE(toPlan(attribute) == *plan);
      EXPECT_EQ(toPlan(attribute).hash(), plan->hash());
      Attribute parsed = parseAttribute(print(attribute), &context);
      EXPECT_EQ(parsed, attribute) << print(attribute);
    }
  // The masks are hard enough to exercise every list.
  EXPECT_GT(moves, 0);
  EXPECT_GT(transfers, 0);
  EXPECT_GT(extras, 0);
}

TEST_F(PlanConversion, ReadsAbsentLoadsAsZeros) {
  auto attribute = cast<PlanAttr>(
      parseAttribute("#sparseattn.plan<mesh = <ulysses = 2, ring = 2>, heads = "
                     "4, kv_heads = 2, q_blocks = 8, kv_blocks = 8>",
                     &context));
  sart::Plan plan = toPlan(attribute);
  EXPECT_EQ(plan.loadsBefore, std::vector<int64_t>(4, 0));
  EXPECT_EQ(plan.loadsAfter, std::vector<int64_t>(4, 0));
  EXPECT_TRUE(plan.moves.empty() && plan.transfers.empty() &&
              plan.extras.empty());
}

TEST_F(PlanConversion, RefusesPlansThatBreakTheAttribute) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  sart::Plan plan;
  plan.mesh = {2, 1};
  plan.heads = 4;
  plan.kvHeads = 4;
  plan.moves = {{4, 0, 1}};
  EXPECT_FALSE(fromPlan(&context, plan));
  EXPECT_EQ(message, "head of a move: got 4, expected from 0 to 3");
  plan.mesh = {0, 1};
  EXPECT_FALSE(fromPlan(&context, plan));
  EXPECT_EQ(message, "ulysses and ring of a mesh: got 0 and 1, expected at "
                     "least 1");
}

// The kinds have the same numbers on both sides.
TEST_F(PlanConversion, ConvertsEveryKindOfOrder) {
  std::pair<const char *, sart::OrderKind> kinds[] = {
      {"raster", sart::OrderKind::Raster},
      {"cubes", sart::OrderKind::Cubes},
      {"hilbert", sart::OrderKind::Hilbert},
      {"stripes", sart::OrderKind::Stripes},
      {"tiles", sart::OrderKind::Tiles}};
  for (auto [name, kind] : kinds) {
    std::string text = std::string("#sparseattn.order<") + name +
                       ", grid = [2, 3, 5], prefix = 7, suffix = 1>";
    auto attribute = cast<OrderAttr>(parseAttribute(text, &context));
    sart::Order order = toOrder(attribute);
    EXPECT_EQ(order.kind, kind) << name;
    EXPECT_TRUE(order.verify().ok());
    EXPECT_EQ(order.tokens(), 38);
    EXPECT_EQ(attribute.getTokens(), 38);
    EXPECT_EQ(order.prefix, 7);
    EXPECT_EQ(order.suffix, 1);
    EXPECT_EQ(order.cube, (std::array<int64_t, 3>{4, 4, 4}));
    EXPECT_EQ(order.tiles, (std::array<int64_t, 2>{1, 1}));
    // Identity for the dialect is identity for the runtime.
    std::vector<int64_t> raster(38);
    for (int64_t i = 0; i < 38; ++i)
      raster[static_cast<size_t>(i)] = i;
    EXPECT_EQ(order.permutation() == raster, attribute.isIdentity()) << name;
  }
  sart::Order tiles = toOrder(cast<OrderAttr>(parseAttribute(
      "#sparseattn.order<tiles, grid = [2, 3, 5], tiles = [2, 4]>", &context)));
  EXPECT_EQ(tiles.tiles, (std::array<int64_t, 2>{2, 4}));
  static_assert(static_cast<int>(BalanceAlgorithm::None) ==
                static_cast<int>(sart::Balance::None));
  static_assert(static_cast<int>(BalanceAlgorithm::Swap) ==
                static_cast<int>(sart::Balance::Swap));
}

TEST_F(PlanConversion, RoundTripsMasks) {
  std::mt19937 random(9);
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  // 1.0 and 0.0 are splats; 1 x 1 x 1 is one bit.
  for (double density : {0.3, 1.0, 0.0})
    for (auto [heads, sq, skv] :
         {std::tuple<int64_t, int64_t, int64_t>{3, 1000, 500},
          {1, 1, 1},
          {2, 0, 0}}) {
      auto type = MaskType::get(&context, heads, sq, skv, 64, 32);
      sart::BlockMask mask = randomMask(random, heads, type.getQBlocks(),
                                        type.getKvBlocks(), density);
      auto op = ExplicitMaskOp::create(builder, builder.getUnknownLoc(), type,
                                       fromBlockMask(&context, mask));
      EXPECT_TRUE(succeeded(op.verify()));
      EXPECT_TRUE(toBlockMask(op) == mask)
          << heads << " heads, density " << density;
    }
}

// The rule of visibility is the runtime's, tile by tile.
TEST_F(PlanConversion, AgreesOnVisibleTiles) {
  for (auto [sq, skv] : {std::pair<int64_t, int64_t>{100, 100},
                         {100, 300},
                         {300, 100},
                         {65, 64},
                         {1, 1}}) {
    auto type = MaskType::get(&context, 1, sq, skv, 64, 48, OrderAttr(),
                              /*causal=*/true);
    sart::LayerShape shape;
    shape.sq = sq;
    shape.skv = skv;
    shape.headDim = 64;
    shape.blockQ = 64;
    shape.blockK = 48;
    shape.causal = true;
    for (int64_t i = 0; i < type.getQBlocks(); ++i)
      for (int64_t j = 0; j < type.getKvBlocks(); ++j)
        EXPECT_EQ(type.isVisible(i, j), j < shape.visibleKvBlocks(i))
            << sq << "x" << skv << " q-block " << i << " kv-block " << j;
  }
}

} // namespace

//===- EquivalenceTest.cpp - All meshes give what the oracle gives --------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ExecutorTestSupport.h"

#include <cmath>

using namespace sart;
using namespace sart::test;

namespace {

struct Case {
  int64_t ulysses, ring, heads, kvHeads, sq, skv;
  bool causal = false;
  DType dtype = DType::F32;
};

std::ostream &operator<<(std::ostream &stream, const Case &c) {
  return stream << c.ulysses << "x" << c.ring << " heads " << c.heads << "/"
                << c.kvHeads << " tokens " << c.sq << "/" << c.skv
                << (c.causal ? " causal " : " ") << toString(c.dtype);
}

Placement placementOf(const Case &c) {
  Placement placement = test::placementOf(c.ulysses, c.ring, c.heads, c.kvHeads,
                                          c.sq, c.skv, c.causal);
  placement.shape.dtype = c.dtype;
  return placement;
}

class Equivalence : public ::testing::TestWithParam<Case> {};

} // namespace

TEST_P(Equivalence, RoutedLayer) {
  Placement placement = placementOf(GetParam());
  LayerData data(placement.shape, 11);
  auto executor = executorOf(templateOf(placement, topP(0.8f, 1)));
  ASSERT_NE(executor, nullptr);
  runAll(*executor, data);
  BlockMask mask = maskOf(*executor);
  expectOracle(data, mask, executor->program().scale);

  // One rank routes alike.
  Placement single = placement;
  single.mesh = {1, 1};
  LayerData again(placement.shape, 11);
  auto alone = executorOf(templateOf(single, topP(0.8f, 1)));
  runAll(*alone, again);
  EXPECT_EQ(maskOf(*alone), mask);
}

TEST_P(Equivalence, ConstantMaskWithEmptyRows) {
  Placement placement = placementOf(GetParam());
  const LayerShape &shape = placement.shape;
  BlockMask mask =
      randomMask(shape.heads, shape.qBlocks(), shape.kvBlocks(), 0.4, 5);
  LayerData data(shape, 12);
  Program bound = boundOf(placement, mask);
  auto executor = executorOf(bound);
  ASSERT_NE(executor, nullptr);
  runAll(*executor, data);
  expectOracle(data, mask, bound.scale);
}

INSTANTIATE_TEST_SUITE_P(
    Meshes, Equivalence,
    ::testing::Values(
        // Heads 12, 7, 2 and 40 on 1, 2, 3, 4, 5 and 8 ranks.
        Case{1, 1, 12, 12, 63, 63}, Case{2, 1, 12, 12, 63, 63},
        Case{3, 1, 12, 12, 300, 300}, Case{4, 1, 12, 12, 63, 63},
        Case{5, 1, 12, 12, 63, 63}, Case{8, 1, 12, 12, 63, 63},
        Case{1, 1, 7, 7, 300, 300}, Case{2, 1, 7, 7, 63, 63},
        Case{3, 1, 7, 7, 63, 63}, Case{4, 1, 7, 7, 300, 300},
        Case{5, 1, 7, 7, 63, 63}, Case{8, 1, 7, 7, 63, 63},
        Case{2, 1, 2, 2, 300, 300}, Case{3, 1, 2, 2, 63, 63},
        Case{5, 1, 2, 2, 63, 63}, Case{8, 1, 2, 2, 63, 63},
        Case{4, 1, 40, 40, 63, 63}, Case{8, 1, 40, 40, 63, 63},
        // Rings, alone and with Ulysses groups.
        Case{1, 2, 2, 2, 300, 300}, Case{1, 3, 7, 7, 300, 300},
        Case{1, 4, 12, 12, 63, 63}, Case{1, 5, 2, 2, 300, 300},
        Case{1, 8, 2, 2, 300, 300}, Case{2, 2, 12, 12, 300, 300},
        Case{4, 2, 7, 7, 300, 300}, Case{2, 4, 12, 12, 300, 300},
        Case{2, 3, 7, 7, 300, 300}, Case{3, 2, 2, 2, 63, 63},
        // Hardly any tokens: ranks without any.
        Case{1, 1, 2, 2, 1, 1}, Case{4, 1, 7, 7, 1, 1},
        Case{8, 1, 12, 12, 3, 3}, Case{2, 2, 7, 7, 3, 3},
        Case{2, 4, 12, 12, 1, 1}, Case{1, 8, 2, 2, 3, 300},
        Case{4, 2, 12, 12, 300, 3}, Case{2, 2, 2, 2, 0, 63},
        Case{2, 2, 2, 2, 63, 0}));

INSTANTIATE_TEST_SUITE_P(
    SharedKeysAndCausal, Equivalence,
    ::testing::Values(
        // Grouped queries, also where one kv head belongs to several ranks.
        Case{1, 1, 12, 3, 63, 100}, Case{2, 1, 12, 3, 63, 100},
        Case{4, 1, 12, 3, 63, 100}, Case{8, 1, 12, 1, 63, 100},
        Case{4, 2, 12, 3, 300, 100}, Case{3, 2, 12, 4, 100, 300},
        Case{5, 1, 40, 8, 63, 63}, Case{2, 4, 40, 8, 63, 300},
        // Causal: equal, shorter and longer keys.
        Case{1, 1, 7, 7, 100, 100, true}, Case{4, 1, 7, 7, 100, 100, true},
        Case{2, 2, 12, 3, 100, 300, true}, Case{1, 4, 2, 2, 300, 300, true},
        Case{2, 2, 12, 12, 300, 100, true}, Case{4, 2, 7, 7, 300, 63, true}));

INSTANTIATE_TEST_SUITE_P(
    Dtypes, Equivalence,
    ::testing::Values(Case{1, 1, 3, 3, 63, 63, false, DType::BF16},
                      Case{2, 1, 7, 7, 63, 100, false, DType::BF16},
                      Case{2, 2, 12, 3, 100, 63, true, DType::BF16},
                      Case{1, 3, 2, 2, 100, 100, false, DType::F16},
                      Case{4, 1, 12, 12, 63, 63, true, DType::F16}));

TEST(Policies, RoutingIsTheRuleOfTheContract) {
  // Pooling and selection by hand, for one rank.
  Placement placement = test::placementOf(1, 1, 3, 3, 100, 150);
  const LayerShape &shape = placement.shape;
  LayerData data(shape, 3);
  Program layer = templateOf(placement, topP(0.7f, 2));
  auto executor = executorOf(layer);
  runAll(*executor, data);
  BlockMask mask = maskOf(*executor);
  auto pooled = [&](const std::vector<uint8_t> &bytes, int64_t head,
                    int64_t tokens, int64_t block, int64_t size, int64_t d) {
    double sum = 0;
    int64_t end = std::min((block + 1) * size, tokens);
    for (int64_t row = block * size; row < end; ++row)
      sum += static_cast<double>(loadAsFloat(bytes.data(), DType::F32,
                                             (head * tokens + row) * 32 + d));
    return static_cast<float>(sum / static_cast<double>(end - block * size));
  };
  for (int64_t head = 0; head < 3; ++head) {
    for (int64_t i = 0; i < shape.qBlocks(); ++i) {
      std::vector<std::pair<double, int32_t>> blocks;
      double total = 0;
      for (int64_t j = 0; j < shape.kvBlocks(); ++j) {
        double dot = 0;
        for (int64_t d = 0; d < 32; ++d)
          dot += static_cast<double>(pooled(data.q, head, 100, i, 16, d)) *
                 static_cast<double>(pooled(data.k, head, 150, j, 24, d));
        double mass = std::exp(dot * static_cast<double>(layer.scale));
        blocks.emplace_back(-mass, static_cast<int32_t>(j));
        total += mass;
      }
      std::sort(blocks.begin(), blocks.end());
      std::vector<int32_t> expected;
      double kept = 0;
      for (auto &[mass, block] : blocks) {
        if (kept >= 0.7 * total && expected.size() >= 2)
          break;
        expected.push_back(block);
        kept -= mass;
      }
      std::sort(expected.begin(), expected.end());
      const int32_t *row = mask.row(head, i);
      std::vector<int32_t> got(row, row + mask.count(head, i));
      EXPECT_EQ(got, expected) << "head " << head << " q-block " << i;
    }
  }
}

TEST(Policies, TopKDenseAndWindow) {
  for (bool causal : {false, true}) {
    Placement placement = test::placementOf(2, 2, 4, 2, 100, 150, causal);
    const LayerShape &shape = placement.shape;
    TemplateOptions options;
    options.policy.kind = RoutingPolicy::Kind::TopK;
    options.policy.k = 2;
    options.policy.keep = {{0, 1}};
    LayerData data(shape, 4);
    auto executor = executorOf(templateOf(placement, options));
    runAll(*executor, data);
    expectOracle(data, maskOf(*executor), executor->program().scale);
    for (int64_t head = 0; head < 4; ++head)
      for (int64_t i = 0; i < shape.qBlocks(); ++i) {
        EXPECT_TRUE(maskOf(*executor).contains(head, i, 0));
        int64_t count = maskOf(*executor).count(head, i);
        EXPECT_GE(count, std::min<int64_t>(2, shape.visibleKvBlocks(i)));
        EXPECT_LE(count, 3);
      }

    options.policy.kind = RoutingPolicy::Kind::Dense;
    executor = executorOf(templateOf(placement, options));
    RunStats stats = runAll(*executor, data);
    BlockMask dense = BlockMask::dense(4, shape.qBlocks(), shape.kvBlocks());
    expectOracle(data, dense, executor->program().scale);
    EXPECT_EQ(stats.routing.keptPooledMass, 4 * shape.qBlocks());
    EXPECT_EQ(stats.routing.nearThreshold, 0);

    options.policy.kind = RoutingPolicy::Kind::Window;
    options.policy.windowBlocks = 1;
    executor = executorOf(templateOf(placement, options));
    runAll(*executor, data);
    expectOracle(data, maskOf(*executor), executor->program().scale);
    for (int64_t i = 0; i < shape.qBlocks(); ++i)
      for (int64_t j = 0; j < shape.kvBlocks(); ++j) {
        int64_t center = i * shape.kvBlocks() / shape.qBlocks();
        EXPECT_EQ(maskOf(*executor).contains(0, i, j),
                  std::abs(center - j) <= 1 && j < shape.visibleKvBlocks(i));
      }
  }
}

TEST(Policies, DenseOnRequestIsNotSparse) {
  Placement placement = test::placementOf(3, 1, 7, 7, 100, 150);
  LayerData sparse(placement.shape, 6), dense(placement.shape, 6);
  auto executor = executorOf(templateOf(placement, topP(0.6f)));
  RunStats stats = runAll(*executor, sparse);
  EXPECT_LT(stats.density, 1);
  RunOptions options;
  options.dense = true;
  stats = runAll(*executor, dense, options);
  EXPECT_EQ(stats.density, 1);
  EXPECT_EQ(maskOf(*executor), BlockMask::dense(7, placement.shape.qBlocks(),
                                                placement.shape.kvBlocks()));
  expectOracle(dense, maskOf(*executor), executor->program().scale);
  EXPECT_NE(sparse.o, dense.o) << "sparse must differ from dense";
  // And back.
  LayerData again(placement.shape, 6);
  runAll(*executor, again);
  EXPECT_EQ(again.o, sparse.o) << "the same bits";
}

TEST(Policies, AugmentationAddsTilesThatAreComputed) {
  bool added = false;
  for (bool causal : {false, true}) {
    for (Mesh mesh : {Mesh{4, 1}, Mesh{2, 2}}) {
      Placement placement =
          test::placementOf(mesh.ulysses, mesh.ring, 7, 7, 300, 300, causal);
      TemplateOptions options = topP(0.6f);
      LayerData data(placement.shape, 8);
      auto plain = executorOf(templateOf(placement, options));
      RunStats before = runAll(*plain, data);
      BlockMask routed = maskOf(*plain);
      options.planner.augment = true;
      auto executor = executorOf(templateOf(placement, options));
      data.forget();
      RunStats stats = runAll(*executor, data);
      expectOracle(data, maskOf(*executor), executor->program().scale);
      int64_t extra = 0;
      for (const ExtraTiles &tiles : stats.plan.extras)
        extra += tiles.tiles;
      EXPECT_EQ(stats.tiles, before.tiles + extra);
      EXPECT_EQ(maskOf(*executor).tiles(), routed.tiles() + extra);
      EXPECT_EQ(*BlockMask::unite(routed, maskOf(*executor)), maskOf(*executor))
          << "no routed tile may be lost";
      EXPECT_EQ(stats.plan.loadsAfter, stats.loadsAfter);
      added |= extra > 0;
    }
  }
  EXPECT_TRUE(added) << "the test must see extra tiles";
}

//===- ReferenceBackendTest.cpp - Tasks of the reference backend ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BackendTestSupport.h"

using namespace sart;
using namespace sart::test;

namespace {

/// One head: queries [firstQuery, firstQuery + segment) of a layer.
struct Head {
  Head(const LayerShape &shape, int64_t firstQuery, int64_t segment)
      : shape(shape), program(programOf(shape)),
        wholeQ(normal(static_cast<size_t>(shape.sq * 32), 2, 1)),
        k(normal(static_cast<size_t>(shape.skv * 32), 2, 2)),
        v(normal(static_cast<size_t>(shape.skv * 32), 1, 3)),
        o(static_cast<size_t>(segment * 32), poison),
        lse(static_cast<size_t>(segment), poison), firstQuery(firstQuery) {
    q.assign(wholeQ.begin() + firstQuery * 32,
             wholeQ.begin() + (firstQuery + segment) * 32);
  }

  AttendTask task(MaskRows &mask) {
    AttendTask result;
    result.q = viewOf(q, 32);
    result.k = viewOf(k, 32);
    result.v = viewOf(v, 32);
    result.o = viewOf(o, 32);
    result.lse = viewOf(lse, 1);
    result.mask = mask.view();
    result.qEnd = mask.view().rows;
    result.kvBlocks = {0, shape.kvBlocks()};
    result.diag = firstQuery + shape.skv - shape.sq;
    return result;
  }

  /// Compares row `row` of the segment with the oracle.
  void expectRow(int64_t row, const MaskRows &mask, Range kvBlocks) {
    std::vector<double> expected(32), expectedLse(1);
    std::vector<int32_t> list = mask.list(row / shape.blockQ);
    referenceAttend(
        shape, viewOf(wholeQ, 32), viewOf(k, 32), viewOf(v, 32),
        {firstQuery + row}, program.scale,
        [&](int64_t, int64_t block) {
          return block >= kvBlocks.begin && block < kvBlocks.end &&
                 std::count(list.begin(), list.end(), block) > 0;
        },
        expected.data(), expectedLse.data());
    auto index = static_cast<size_t>(row);
    EXPECT_EQ(lse[index], static_cast<float>(expectedLse[0])) << "row " << row;
    for (size_t d = 0; d < 32; ++d)
      ASSERT_EQ(o[index * 32 + d], static_cast<float>(expected[d]))
          << "row " << row;
  }

  LayerShape shape;
  Program program;
  std::vector<float> wholeQ, q, k, v, o, lse;
  int64_t firstQuery;
};

std::unique_ptr<Backend> backend() {
  return createReferenceBackend(std::make_shared<ThreadPool>(2));
}

} // namespace

TEST(ReferenceBackend, AttendsRowsOfASegment) {
  // Segment of 37 queries from query 16 on: two whole blocks and a tail.
  for (bool causal : {false, true}) {
    Head head(shapeOf(53, 60, causal), 16, 37);
    MaskRows mask({{0, 2}, {}, {1, 2}}, 3);
    ASSERT_TRUE(backend()->attend(head.program, {head.task(mask)}).ok());
    for (int64_t row = 0; row < 37; ++row)
      head.expectRow(row, mask, {0, 3});
    EXPECT_EQ(head.lse[20], -infinity);
    EXPECT_EQ(head.o[20 * 32], 0);
  }
}

TEST(ReferenceBackend, WritesOnlyTheTasksRowsAndReadsOnlyItsBlocks) {
  Head head(shapeOf(48, 60), 0, 48);
  MaskRows mask({{0, 1, 2}, {0, 1, 2}, {0, 1, 2}}, 3);
  AttendTask task = head.task(mask);
  task.qBegin = 1;
  task.qEnd = 2;
  task.kvBlocks = {1, 2};
  std::fill(head.k.begin(), head.k.begin() + 24 * 32, poison);
  std::fill(head.v.begin() + 48 * 32, head.v.end(), poison);
  ASSERT_TRUE(backend()->attend(head.program, {task}).ok());
  for (int64_t row = 16; row < 32; ++row)
    EXPECT_FALSE(std::isnan(head.o[static_cast<size_t>(row * 32)]));
  EXPECT_TRUE(std::isnan(head.lse[15]));
  EXPECT_TRUE(std::isnan(head.o[32 * 32]));
}

TEST(ReferenceBackend, NarrowOutput) {
  Head head(shapeOf(16, 24), 0, 16);
  MaskRows mask({{0}}, 1);
  std::vector<uint16_t> narrow(16 * 32, 0xFFFF);
  AttendTask task = head.task(mask);
  ASSERT_TRUE(backend()->attend(head.program, {task}).ok());
  task.o.data = narrow.data();
  task.o.dtype = DType::BF16;
  ASSERT_TRUE(backend()->attend(head.program, {task}).ok());
  for (size_t i = 0; i < narrow.size(); ++i)
    ASSERT_EQ(narrow[i], floatToBf16(head.o[i]));
}

TEST(ReferenceBackend, RefusesMaskRowsThatAreNotLists) {
  Head head(shapeOf(16, 72), 0, 16);
  for (const std::vector<int32_t> &list :
       {std::vector<int32_t>{1, 1}, {2, 0}, {0, 3}, {-1, 0}}) {
    MaskRows mask({list}, 3);
    EXPECT_NE(backend()->attend(head.program, {head.task(mask)}).message(), "");
  }
  MaskRows mask({{2, 0}}, 3);
  EXPECT_EQ(backend()->attend(head.program, {head.task(mask)}).message(),
            "kv-blocks of a mask row not ascending within the mask: got 0 "
            "after 2, expected more and below 3");
}

TEST(ReferenceBackend, PoolsMeansOfValidRows) {
  LayerShape shape = shapeOf(0, 53);
  Program program = programOf(shape);
  std::vector<float> x = normal(53 * 32, 1, 4), y(3 * 32, poison);
  PoolTask task{viewOf(x, 32), viewOf(y, 32), 1, 3};
  ASSERT_TRUE(backend()->pool(program, /*keySide=*/true, {task}).ok());
  EXPECT_TRUE(std::isnan(y[0])) << "block 0 was not asked for";
  for (size_t block : {1, 2}) {
    size_t end = std::min<size_t>(53, (block + 1) * 24);
    for (size_t d = 0; d < 32; ++d) {
      double sum = 0;
      for (size_t row = block * 24; row < end; ++row)
        sum += static_cast<double>(x[row * 32 + d]);
      // 5 rows in the tail, not 24.
      EXPECT_NEAR(y[block * 32 + d],
                  sum / static_cast<double>(end - block * 24), 1e-6);
    }
  }
}

TEST(ReferenceBackend, RoutesByThePolicy) {
  LayerShape shape = shapeOf(48, 120);
  Program program = programOf(shape);
  std::vector<float> pooledQ = normal(3 * 32, 3, 5),
                     pooledK = normal(5 * 32, 3, 6);
  MaskRows mask({{}, {}, {}}, 5);
  RouteTask task;
  task.pooledQ = viewOf(pooledQ, 32);
  task.pooledK = viewOf(pooledK, 32);
  task.mask = mask.view();
  task.qBegin = 1;
  task.qEnd = 3;
  task.visible = {5, 2};
  RouteStats stats;
  program.policy.p = 1;
  ASSERT_TRUE(backend()->route(program, {task}, stats).ok());
  EXPECT_EQ(mask.list(0), std::vector<int32_t>());
  EXPECT_EQ(mask.list(1), (std::vector<int32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(mask.list(2), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(stats.rows, 2);
  EXPECT_NEAR(stats.keptPooledMass, 2, 1e-12);

  program.policy.kind = RoutingPolicy::Kind::TopK;
  program.policy.k = 2;
  ASSERT_TRUE(backend()->route(program, {task}, stats).ok());
  ASSERT_EQ(mask.list(1).size(), 2u);
  // The two largest dot products, found another way.
  std::vector<std::pair<double, int32_t>> scores;
  for (size_t block = 0; block < 5; ++block) {
    double dot = 0;
    for (size_t d = 0; d < 32; ++d)
      dot += static_cast<double>(pooledQ[32 + d] * pooledK[block * 32 + d]);
    scores.emplace_back(-dot, static_cast<int32_t>(block));
  }
  std::sort(scores.begin(), scores.end());
  std::vector<int32_t> best = {scores[0].second, scores[1].second};
  std::sort(best.begin(), best.end());
  EXPECT_EQ(mask.list(1), best);
}

//===- PlacementTest.cpp - Ownership of heads, blocks and tokens ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "PlanningTestSupport.h"

#include <gtest/gtest.h>

using namespace sart;
using namespace sart::test;

namespace {

TEST(Placement, EverythingIsOwnedOnce) {
  for (int64_t heads : {1, 2, 7, 12, 40})
    for (int64_t ulysses = 1; ulysses <= 8; ++ulysses)
      for (int64_t ring = 1; ring <= 8; ++ring)
        for (int64_t tokens : {0, 1, 3, 63, 128, 8423, 14040, 56700}) {
          Placement p =
              makePlacement(ulysses, ring, heads, 1, tokens, tokens / 2);
          ASSERT_TRUE(p.verify().ok());
          int64_t nextHead = 0;
          for (int64_t u = 0; u < ulysses; ++u) {
            EXPECT_EQ(p.headsOf(u).begin, nextHead);
            nextHead = p.headsOf(u).end;
            for (int64_t h = p.headsOf(u).begin; h < nextHead; ++h) {
              EXPECT_EQ(p.ownerOfHead(h), u);
              EXPECT_EQ(p.ownerOfHead(h), h * ulysses / heads);
            }
          }
          EXPECT_EQ(nextHead, heads);
          // Segments and, inside them, shards follow each other without gaps.
          int64_t q = 0, kv = 0, qBlock = 0, kvBlock = 0;
          for (int64_t r = 0; r < ring; ++r) {
            EXPECT_EQ(p.qBlocksOf(r).begin, qBlock);
            EXPECT_EQ(p.kvBlocksOf(r).begin, kvBlock);
            qBlock = p.qBlocksOf(r).end;
            for (; kvBlock < p.kvBlocksOf(r).end; ++kvBlock)
              EXPECT_EQ(p.ownerOfKvBlock(kvBlock), r);
            EXPECT_EQ(p.qTokensOf(r).begin, q);
            for (int64_t u = 0; u < ulysses; ++u) {
              Range shard = p.qShardOf(p.mesh.rankOf(u, r));
              EXPECT_EQ(shard.begin, q);
              q = shard.end;
              Range kvShard = p.kvShardOf(p.mesh.rankOf(u, r));
              EXPECT_EQ(kvShard.begin, kv);
              kv = kvShard.end;
            }
            EXPECT_EQ(p.qTokensOf(r).end, q);
            EXPECT_EQ(p.kvTokensOf(r).end, kv);
          }
          EXPECT_EQ(qBlock, p.shape.qBlocks());
          EXPECT_EQ(q, tokens);
          EXPECT_EQ(kv, tokens / 2);
        }
}

TEST(Placement, SegmentsBeginAtBlockBorders) {
  Placement p = makePlacement(2, 4, 12, 12, 1000, 500, 64);
  for (int64_t r = 0; r < 4; ++r) {
    EXPECT_EQ(p.qTokensOf(r).begin, p.qBlocksOf(r).begin * 64);
    EXPECT_EQ(p.kvTokensOf(r).begin, p.kvBlocksOf(r).begin * 64);
  }
  EXPECT_EQ(p.qTokensOf(3).end, 1000);
  EXPECT_EQ(p.kvTokensOf(3).end, 500);
}

TEST(Placement, KvHeadsFollowTheirQueryHeads) {
  // Heads 0-2, 3-4, 5-7, 8-9, 10-11, three to a kv head: some are shared.
  Placement p = makePlacement(5, 1, 12, 4, 64, 64);
  std::vector<int64_t> copies(4, 0);
  for (int64_t u = 0; u < 5; ++u) {
    Range kv = p.kvHeadsOf(u);
    for (int64_t h = p.headsOf(u).begin; h < p.headsOf(u).end; ++h) {
      EXPECT_GE(h / 3, kv.begin);
      EXPECT_LT(h / 3, kv.end);
    }
    for (int64_t g = kv.begin; g < kv.end; ++g)
      ++copies[g];
  }
  EXPECT_EQ(copies, (std::vector<int64_t>{1, 2, 2, 2}));
  // More indices than heads: some own nothing.
  Placement few = makePlacement(8, 1, 2, 2, 64, 64);
  int64_t empty = 0;
  for (int64_t u = 0; u < 8; ++u) {
    empty += few.headsOf(u).empty();
    EXPECT_EQ(few.headsOf(u).empty(), few.kvHeadsOf(u).empty());
  }
  EXPECT_EQ(empty, 6);
}

TEST(Placement, CausalVisibility) {
  LayerShape shape = makePlacement(1, 1, 1, 1, 300, 300, 64).shape;
  EXPECT_EQ(shape.visibleKvBlocks(0), 5);
  shape.causal = true;
  for (int64_t sq : {1, 63, 64, 65, 300})
    for (int64_t skv : {0, 1, 64, 130, 300, 700}) {
      shape.sq = sq;
      shape.skv = skv;
      for (int64_t block = 0; block < shape.qBlocks(); ++block) {
        int64_t visible = 0;
        for (int64_t i = block * 64; i < std::min(block * 64 + 64, sq); ++i)
          for (int64_t j = 0; j < skv; ++j)
            if (j <= i + skv - sq)
              visible = std::max(visible, j / 64 + 1);
        EXPECT_EQ(shape.visibleKvBlocks(block), visible)
            << sq << " " << skv << " " << block;
      }
    }
}

TEST(Placement, RefusesWhatCannotBe) {
  auto message = [](auto change) {
    Placement p = makePlacement(2, 2, 12, 4, 64, 64);
    change(p);
    return p.verify().message();
  };
  EXPECT_EQ(message([](Placement &) {}), "");
  EXPECT_EQ(message([](Placement &p) { p.mesh.ulysses = 0; }),
            "mesh axis ulysses out of range: got 0, expected 1 to 1024");
  EXPECT_EQ(message([](Placement &p) { p.mesh.ring = -3; }),
            "mesh axis ring out of range: got -3, expected 1 to 1024");
  EXPECT_EQ(message([](Placement &p) { p.mesh = {1000, 1000}; }),
            "number of ranks out of range: got 1000000, expected 1 to 1024");
  EXPECT_EQ(message([](Placement &p) { p.shape.heads = 0; }),
            "number of heads out of range: got 0, expected 1 to 4096");
  EXPECT_EQ(message([](Placement &p) { p.shape.kvHeads = 5; }),
            "number of kv heads does not divide the heads: got 5, expected a "
            "divisor of 12");
  EXPECT_EQ(message([](Placement &p) { p.shape.kvHeads = 0; }),
            "number of kv heads out of range: got 0, expected 1 to 4096");
  EXPECT_EQ(message([](Placement &p) { p.shape.sq = -1; }),
            "number of query tokens out of range: got -1, expected 0 to "
            "268435456");
  EXPECT_EQ(message([](Placement &p) { p.shape.skv = int64_t(1) << 40; }),
            "number of key tokens out of range: got 1099511627776, expected 0 "
            "to 268435456");
  EXPECT_EQ(message([](Placement &p) { p.shape.headDim = 36; }),
            "head dimension not supported: got 36, expected a multiple of 8 "
            "from 32 to 256");
  EXPECT_EQ(message([](Placement &p) { p.shape.blockQ = 8; }),
            "query block size not supported: got 8, expected a multiple of 8 "
            "from 16 to 128");
  EXPECT_EQ(message([](Placement &p) { p.shape.blockK = 256; }),
            "key block size not supported: got 256, expected a multiple of 8 "
            "from 16 to 128");
  EXPECT_EQ(message([](Placement &p) { p.shape.dtype = DType::I32; }),
            "element type of the layer not supported: got i32, expected f32, "
            "bf16 or f16");
}

} // namespace

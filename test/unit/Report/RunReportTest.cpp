//===- RunReportTest.cpp - Masks as JSON of bounded size ------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Report/RunReport.h"

#include "llvm/Support/Base64.h"

#include "gtest/gtest.h"

using namespace mlir::sparseattn;
using llvm::json::Array;
using llvm::json::Object;

namespace {

std::vector<uint8_t> bytesOf(const llvm::json::Value &text) {
  std::vector<char> decoded;
  EXPECT_FALSE(bool(llvm::decodeBase64(*text.getAsString(), decoded)));
  return {decoded.begin(), decoded.end()};
}

} // namespace

TEST(MaskReport, SmallMasksAreExact) {
  // Head 1, q-block 0: kv-blocks 0 and 9; q-block 1: kv-block 3.
  auto mask = sart::BlockMask::fromLists(2, 2, 10, {{}, {}, {0, 9}, {3}});
  ASSERT_TRUE(mask.ok());
  Object report = makeMaskReport(*mask);
  EXPECT_EQ(*report.getArray("tiles"), (Array{0, 3}));
  EXPECT_EQ(*report.getArray("heads"), (Array{0, 1}));
  EXPECT_EQ(*report.getArray("cell"), (Array{1, 1}));
  EXPECT_EQ(*report.getInteger("levels"), 1);
  const Array &cells = *report.getArray("cells");
  EXPECT_EQ(bytesOf(cells[0]), (std::vector<uint8_t>{0, 0, 0, 0}));
  EXPECT_EQ(bytesOf(cells[1]), (std::vector<uint8_t>{0x80, 0x40, 0x10, 0}));
  const Array &rows = *report.getArray("rows");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(*rows[1].getAsObject()->getInteger("q_block"), 1);
  EXPECT_EQ(bytesOf((*rows[1].getAsObject()->getArray("kv"))[1]),
            (std::vector<uint8_t>{0x10, 0}));
}

TEST(MaskReport, LargeMasksAreReduced) {
  // 300 x 300 blocks in points of 2 x 2: 150 x 150 of 4 bits.
  std::vector<std::vector<int32_t>> lists(600);
  lists[0] = {0};                   // one tile of four
  lists[2] = {298, 299};            // half of a point
  for (int32_t k = 0; k < 300; ++k) // head 1 is dense
    for (int32_t q = 0; q < 300; ++q)
      lists[static_cast<size_t>(300 + q)].push_back(k);
  auto mask = sart::BlockMask::fromLists(2, 300, 300, lists);
  ASSERT_TRUE(mask.ok());
  Object report = makeMaskReport(*mask);
  EXPECT_EQ(*report.getArray("cell"), (Array{2, 2}));
  EXPECT_EQ(*report.getInteger("levels"), 15);
  EXPECT_EQ(*report.getArray("tiles"), (Array{3, 90000}));
  std::vector<uint8_t> first = bytesOf((*report.getArray("cells"))[0]);
  ASSERT_EQ(first.size(), 150u * 75u);
  EXPECT_EQ(first[0], 0x40);       // 15 / 4, rounded
  EXPECT_EQ(first[75 + 74], 0x08); // 15 / 2, rounded
  for (uint8_t byte : bytesOf((*report.getArray("cells"))[1]))
    ASSERT_EQ(byte, 0xff);
  // Rows are exact whatever the size.
  for (const llvm::json::Value &row : *report.getArray("rows"))
    EXPECT_EQ(bytesOf((*row.getAsObject()->getArray("kv"))[1]).size(), 38u);
}

TEST(MaskReport, OneTileIsNeverInvisible) {
  std::vector<std::vector<int32_t>> lists(2000);
  lists[1234] = {777};
  auto mask = sart::BlockMask::fromLists(1, 2000, 2000, lists);
  ASSERT_TRUE(mask.ok());
  Object report = makeMaskReport(*mask);
  EXPECT_EQ(*report.getArray("cell"), (Array{10, 10}));
  std::vector<uint8_t> cells = bytesOf((*report.getArray("cells"))[0]);
  // Point (123, 77): the low half of byte 38 of its row.
  EXPECT_EQ(cells[123 * 100 + 38], 0x01);
}

TEST(MaskReport, ManyHeadsAreSpread) {
  Object report = makeMaskReport(sart::BlockMask(200, 1, 1));
  const Array &heads = *report.getArray("heads");
  ASSERT_EQ(heads.size(), 64u);
  EXPECT_EQ(*heads.front().getAsInteger(), 1);
  EXPECT_EQ(*heads.back().getAsInteger(), 198);
  EXPECT_EQ(report.getArray("tiles")->size(), 200u);
}

TEST(MaskReport, EmptyShapes) {
  for (auto [heads, q, k] :
       {std::array<int64_t, 3>{0, 0, 0}, {0, 3, 3}, {3, 0, 0}, {3, 0, 4}}) {
    Object report = makeMaskReport(sart::BlockMask(heads, q, k));
    EXPECT_EQ(report.getArray("tiles")->size(), static_cast<size_t>(heads));
    EXPECT_EQ(report.getArray("rows")->size(), 0u + (q > 0 ? 3 : 0));
  }
}

TEST(RunReport, NamesThatAreNoTextAndLongTraces) {
  sart::Program program;
  program.name = "layer \xff";
  program.placement.shape.heads = 0;
  sart::RunStats stats;
  stats.rhoAfter = std::numeric_limits<double>::quiet_NaN();
  for (int64_t i = 0; i < 20005; ++i)
    stats.events.push_back({"attend", 0, 0, i, i * 10, i * 10 + i, 0, 0});
  Object report = makeRunReport(RunFacts{program, stats});
  EXPECT_EQ(*report.getString("name"), "layer \xef\xbf\xbd");
  const Object &run =
      *(*(*report.getArray("steps"))[0].getAsObject()->getArray("layers"))[0]
           .getAsObject();
  EXPECT_TRUE(run.getNull("rho_after").has_value());
  const Object &timeline = *run.getObject("timeline");
  const Array &events = *timeline.getArray("events");
  EXPECT_EQ(events.size(), 20000u);
  EXPECT_EQ(*timeline.getInteger("left_out"), 5);
  // The five shortest ones are gone, the rest is in order.
  EXPECT_EQ(*(*events[0].getAsArray())[4].getAsInteger(), 5);
  EXPECT_EQ(*(*events.back().getAsArray())[4].getAsInteger(), 20004);
}

//===- TraceFileTest.cpp - Reader of recorded masks -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/TraceFile.h"
#include "PlanningTestSupport.h"

#include <gtest/gtest.h>

using namespace sart;
using namespace sart::test;

namespace {

void put32(std::vector<uint8_t> &bytes, size_t at, uint32_t value) {
  for (int i = 0; i < 4; ++i)
    bytes[at + i] = static_cast<uint8_t>(value >> (8 * i));
}

/// One head, 20 tokens, query tiles of 16, key tiles of 8: 2 x 3 tiles.
std::vector<uint8_t> smallTrace() {
  std::vector<uint8_t> bytes = {'B', 'M', 'T', '1'};
  bytes.resize(60);
  uint32_t header[14] = {1, 4, 5, 0, 20, 1, 2, 3, 16, 8, 1, 3, 900, 1};
  for (size_t i = 0; i < 14; ++i)
    put32(bytes, 4 + 4 * i, header[i]);
  for (uint8_t byte : {7, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 1, 0})
    bytes.push_back(byte);
  bytes.push_back(0b101);
  bytes.push_back(0b010);
  return bytes;
}

std::string messageOf(const std::vector<uint8_t> &bytes) {
  return TraceFile::parse(bytes.data(), bytes.size()).message();
}

TEST(TraceFile, ReadsASmallOne) {
  std::vector<uint8_t> bytes = smallTrace();
  Expected<TraceFile> trace = TraceFile::parse(bytes.data(), bytes.size());
  ASSERT_TRUE(trace.ok()) << trace.message();
  EXPECT_EQ(trace->order.kind, OrderKind::Raster);
  EXPECT_EQ(trace->tokens, 20);
  EXPECT_EQ(trace->topPMilli, 900);
  ASSERT_EQ(trace->instances.size(), 1u);
  EXPECT_EQ(trace->instances[0].layer, 7);
  EXPECT_EQ(trace->instances[0].step, 2);
  EXPECT_EQ(trace->instances[0].loads, (std::vector<int64_t>{3}));
  EXPECT_EQ(trace->instances[0].rows, (std::vector<uint16_t>{2, 1}));
  EXPECT_EQ(*trace->mask(0), *BlockMask::fromLists(1, 2, 3, {{0, 2}, {1}}));
  EXPECT_EQ(*trace->mask(0, 2), *BlockMask::fromLists(1, 2, 2, {{0, 1}, {0}}));
  EXPECT_EQ(*trace->mask(0, INT64_MAX),
            *BlockMask::fromLists(1, 2, 1, {{0}, {0}}));
  EXPECT_EQ(trace->mask(1).message(), "instance of the trace out of range: got "
                                      "1, expected 0 to 0");
  EXPECT_EQ(trace->mask(0, 0).message(),
            "number of merged kv-tiles out of range: got 0, expected at least "
            "1");
}

TEST(TraceFile, ReadsTheRecordedMasks) {
  Expected<TraceFile> trace =
      TraceFile::read(tracePath("small_mask_hilbert_p90.bmt"));
  ASSERT_TRUE(trace.ok()) << trace.message();
  EXPECT_EQ(trace->order.kind, OrderKind::Hilbert);
  EXPECT_EQ(trace->tokens, 14040);
  ASSERT_EQ(trace->instances.size(), 12u);
  int64_t tiles = 0;
  double rho = 0;
  Placement placement = makePlacement(4, 1, 12, 12, 14040, 14040);
  placement.shape.blockK = 64;
  for (int64_t i = 0; i < 12; ++i) {
    Expected<BlockMask> mask = trace->mask(i);
    ASSERT_TRUE(mask.ok()) << mask.message();
    tiles += mask->tiles();
    rho += imbalance(rankLoads(countLoads(*mask, placement),
                               initialOwners(placement), placement.mesh));
    for (int64_t h = 0; h < 12; ++h)
      EXPECT_EQ(mask->load(h), trace->instances[i].loads[h]);
  }
  EXPECT_EQ(tiles, 1346392);
  EXPECT_NEAR(rho / 12, 1.2936, 1e-4);
  // 128 x 128 blocks.
  BlockMask merged = *trace->mask(0, 2);
  EXPECT_EQ(merged.kvBlocks(), 110);
  BlockMask fine = *trace->mask(0);
  for (int64_t i = 0; i < 110; ++i)
    for (int64_t j = 0; j < 220; ++j)
      if (fine.contains(3, i, j))
        EXPECT_TRUE(merged.contains(3, i, j / 2));
}

TEST(TraceFile, RefusesDamage) {
  std::vector<uint8_t> good = smallTrace();
  // Every truncation, and one byte too many.
  for (size_t size = 0; size < good.size(); ++size) {
    std::vector<uint8_t> cut(good.begin(), good.begin() + size);
    EXPECT_NE(messageOf(cut), "") << size;
  }
  std::vector<uint8_t> longer = good;
  longer.push_back(0);
  EXPECT_EQ(messageOf(longer), "trace has a wrong size: got 79 bytes, expected "
                               "1 instances of 18 bytes after 60");
  auto changed = [&](size_t at, uint32_t value) {
    std::vector<uint8_t> bytes = good;
    put32(bytes, at, value);
    return messageOf(bytes);
  };
  EXPECT_EQ(changed(0, 0), "not a block-mask trace: got 78 bytes, expected at "
                           "least 60 that begin with BMT1");
  EXPECT_EQ(changed(4, 0),
            "grid axis T out of range: got 0, expected 1 to 1048576");
  EXPECT_EQ(changed(16, 3),
            "order of the trace not known: got 3, expected 0 to 2");
  EXPECT_EQ(changed(20, 21),
            "trace's number of tokens does not fit its header: got 21, "
            "expected 20");
  EXPECT_EQ(changed(24, 0xffffffff),
            "number of heads of the trace out of range: got 4294967295, "
            "expected 1 to 4096");
  EXPECT_EQ(changed(28, 3),
            "trace's number of query tiles does not fit its header: got 3, "
            "expected 2");
  EXPECT_EQ(changed(32, 2),
            "trace's number of key tiles does not fit its header: got 2, "
            "expected 3");
  EXPECT_EQ(changed(36, 0),
            "tile size of the trace out of range: got 0, expected 8 to 4096");
  EXPECT_EQ(changed(44, 0xffffffff),
            "trace has a wrong size: got 78 bytes, expected 4294967295 "
            "instances of 18 bytes after 60");
  EXPECT_EQ(changed(48, 4),
            "flags of the trace not known: got 4, expected 0 to 3");
  EXPECT_EQ(changed(56, 2),
            "trace's row size does not fit its header: got 2, expected 1");
  EXPECT_EQ(changed(68, 4), "load of instance 0 head 0 differs from its rows: "
                            "got 4, expected 3");
  std::vector<uint8_t> bytes = good;
  bytes[76] = 0b111;
  EXPECT_EQ(messageOf(bytes), "row load of instance 0 head 0 query tile 0 "
                              "differs from the mask: got 2, expected 3");
  bytes[76] = 0b1001;
  EXPECT_EQ(messageOf(bytes), "trace's mask goes beyond the key tiles: got a "
                              "bit at or above 3, expected none");
}

TEST(TraceFile, RefusesAMissingFile) {
  EXPECT_EQ(TraceFile::read("no/such/file.bmt").message(),
            "trace file cannot be opened: got no/such/file.bmt, expected a "
            "readable file");
  Expected<TraceFile> loads = TraceFile::read(tracePath("wi2v_loads_p90.bmt"));
  ASSERT_TRUE(loads.ok()) << loads.message();
  EXPECT_EQ(loads->mask(0).message(),
            "trace has no masks: got loads only, expected flag 2");
}

} // namespace

//===- ReportPartsTest.cpp - Text, pictures and frames of a page ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Charts.h"
#include "FrameGrid.h"
#include "HtmlText.h"

#include "llvm/Support/Base64.h"

#include "gtest/gtest.h"

#include <set>
#include <zlib.h>

using namespace mlir::sparseattn::report;

TEST(ReportText, Numbers) {
  EXPECT_EQ(countText(0), "0");
  EXPECT_EQ(countText(999), "999");
  EXPECT_EQ(countText(1000), "1,000");
  EXPECT_EQ(countText(-1234567), "-1,234,567");
  EXPECT_EQ(countText(1, "rank"), "1 rank");
  EXPECT_EQ(bytesText(999), "999 B");
  EXPECT_EQ(bytesText(1000), "1.0 kB");
  EXPECT_EQ(bytesText(999960), "1.0 MB");
  EXPECT_EQ(bytesText(16174080), "16.2 MB");
  EXPECT_EQ(bytesText(123456789), "123 MB");
  EXPECT_EQ(bytesText(INT64_MAX), "9223 PB");
  EXPECT_EQ(millisecondsText(0.0852), "85 \u00b5s");
  EXPECT_EQ(millisecondsText(0.00312), "3.1 \u00b5s");
  EXPECT_EQ(millisecondsText(0.9999), "1.0 ms");
  EXPECT_EQ(millisecondsText(64.2), "64 ms");
  EXPECT_EQ(millisecondsText(999.9), "1.0 s");
  EXPECT_EQ(shortText(0), "0");
  EXPECT_EQ(shortText(4.7e-5), "4.7e-05");
  EXPECT_EQ(orDash(std::nullopt, 2), "\u2013");
}

TEST(ReportText, Escapes) {
  EXPECT_EQ(escape("a<b>&\"'\n\x02"), "a&lt;b&gt;&amp;&quot;&#39;\n&#65533;");
  EXPECT_EQ(escape("\xc3\xa9"), "\xc3\xa9");
  // Bytes that are no UTF-8 become U+FFFD.
  EXPECT_EQ(escape("\xff"), "\xef\xbf\xbd");
}

TEST(ReportAxis, RoundNumbersEncloseTheValues) {
  for (auto [low, high] : {std::pair<double, double>{0, 1},
                           {1, 1.404},
                           {11.63, 24.7},
                           {0.9276, 0.9311},
                           {-3, 1e7},
                           {5, 5},
                           {0, 0}}) {
    Axis axis(low, high);
    EXPECT_LE(axis.begin, low + 1e-6 * axis.step);
    EXPECT_GE(axis.end(), high - 1e-6 * axis.step);
    EXPECT_GE(axis.ticks, 1);
    EXPECT_LE(axis.ticks, 8) << low << " " << high;
  }
  Axis axis(1, 1.404);
  EXPECT_DOUBLE_EQ(axis.begin, 1);
  EXPECT_NEAR(axis.step, 0.2, 1e-12);
}

namespace {

struct Chunk {
  std::string type, data;
};

uint32_t wordAt(const std::string &bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i)
    value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

/// Chunks of a PNG data URI; checks magic and checksums.
std::vector<Chunk> chunksOf(const std::string &uri) {
  const std::string prefix = "data:image/png;base64,";
  EXPECT_EQ(uri.substr(0, prefix.size()), prefix);
  std::vector<char> decoded;
  EXPECT_FALSE(bool(llvm::decodeBase64(uri.substr(prefix.size()), decoded)));
  std::string bytes(decoded.begin(), decoded.end());
  EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
  std::vector<Chunk> chunks;
  for (size_t at = 8; at + 12 <= bytes.size();) {
    size_t size = wordAt(bytes, at);
    std::string body = bytes.substr(at + 4, size + 4);
    EXPECT_EQ(wordAt(bytes, at + 8 + size),
              crc32(0, reinterpret_cast<const Bytef *>(body.data()),
                    static_cast<uInt>(body.size())));
    chunks.push_back({body.substr(0, 4), body.substr(4)});
    at += size + 12;
  }
  return chunks;
}

} // namespace

TEST(ReportPng, KnownPicture) {
  // 10 x 2 pixels of one bit: two bytes a row.
  std::string pixels("\x80\x40\x01\x80", 4);
  std::vector<Chunk> chunks =
      chunksOf(pngUri(10, 2, 1, pixels, {0x00000000, 0x2f86ccff}));
  ASSERT_EQ(chunks.size(), 5u);
  EXPECT_EQ(chunks[0].type, "IHDR");
  EXPECT_EQ(wordAt(chunks[0].data, 0), 10u);
  EXPECT_EQ(wordAt(chunks[0].data, 4), 2u);
  EXPECT_EQ(chunks[0].data.substr(8), std::string("\x01\x03\0\0\0", 5));
  EXPECT_EQ(chunks[1].data, std::string("\0\0\0\x2f\x86\xcc", 6));
  EXPECT_EQ(chunks[2].data, std::string("\0\xff", 2));
  EXPECT_EQ(chunks[4].type, "IEND");
  std::string rows(6, '?');
  uLongf size = rows.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef *>(rows.data()), &size,
                       reinterpret_cast<const Bytef *>(chunks[3].data.data()),
                       chunks[3].data.size()),
            Z_OK);
  EXPECT_EQ(rows, std::string("\0\x80\x40\0\x01\x80", 6));
}

TEST(ReportFrames, KnownLayout) {
  // Two frames of 1 x 2 tokens between one token of text each: all frames fit
  // side by side, strips lie above and below.
  sart::Order order;
  order.kind = sart::OrderKind::Stripes;
  order.grid = {2, 1, 2};
  order.prefix = order.suffix = 1;
  FrameGrid frames(order);
  EXPECT_EQ(frames.framesPerRow(), 1);
  EXPECT_EQ(frames.width(), 2);
  EXPECT_EQ(frames.height(), 5 + 1 + 1 + 1 + 5);
  // Stripes: (w, t) -> position 1 + 2 w + t. Mark positions 2 and 5.
  std::string pixels = frames.pixels([](int64_t position) {
    return position == 2 ? 3 : position == 5 ? 2 : 1;
  });
  ASSERT_EQ(pixels.size(), 13u);
  auto pixel = [&](int64_t row, int64_t column) {
    return static_cast<uint8_t>(pixels[static_cast<size_t>(row)]) >>
               (6 - 2 * column) &
           3;
  };
  EXPECT_EQ(pixel(0, 0), 1); // text before
  EXPECT_EQ(pixel(4, 0), 0); // gap
  EXPECT_EQ(pixel(5, 0), 1); // frame 0, w 0: position 1
  EXPECT_EQ(pixel(5, 1), 1); // frame 0, w 1: position 3
  EXPECT_EQ(pixel(6, 0), 0);
  EXPECT_EQ(pixel(7, 0), 3); // frame 1, w 0: position 2
  EXPECT_EQ(pixel(7, 1), 1);
  EXPECT_EQ(pixel(8, 0), 0);
  EXPECT_EQ(pixel(9, 1), 2); // text behind: position 5
}

TEST(ReportFrames, EveryTokenOfASmallClipIsShownOnce) {
  for (sart::OrderKind kind :
       {sart::OrderKind::Raster, sart::OrderKind::Cubes,
        sart::OrderKind::Hilbert, sart::OrderKind::Stripes,
        sart::OrderKind::Tiles}) {
    sart::Order order;
    order.kind = kind;
    order.tiles = {2, 3};
    order.grid = {3, 5, 7};
    FrameGrid frames(order);
    std::multiset<int64_t> seen;
    frames.pixels([&](int64_t position) {
      seen.insert(position);
      return 1;
    });
    ASSERT_EQ(seen.size(), 105u);
    int64_t next = 0;
    for (int64_t position : seen)
      EXPECT_EQ(position, next++);
  }
}

TEST(ReportFrames, LargeClipsAreReduced) {
  sart::Order order;
  order.grid = {100, 90, 160};
  FrameGrid frames(order);
  EXPECT_EQ(frames.frames().size(), 24u);
  EXPECT_EQ(frames.frames().front(), 0);
  EXPECT_EQ(frames.frames().back(), 99);
  EXPECT_EQ(frames.every(), 2);
  EXPECT_LT(frames.width() * frames.height(), 120000);
}

//===- SegmentsTest.cpp - Copies between segment lists --------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Transport.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace sart;

/// Cuts [0, size) of `bytes` at the given borders.
static SegmentList cut(std::vector<char> &bytes,
                       const std::vector<size_t> &borders) {
  SegmentList list;
  size_t begin = 0;
  for (size_t border : borders) {
    list.push_back(
        {bytes.data() + begin, static_cast<int64_t>(border - begin)});
    begin = border;
  }
  list.push_back(
      {bytes.data() + begin, static_cast<int64_t>(bytes.size() - begin)});
  return list;
}

TEST(Segments, BordersNeedNotAgree) {
  std::vector<char> from(97), to(97, 0);
  std::iota(from.begin(), from.end(), 1);
  // Empty pieces at the front, inside and at the end.
  ASSERT_TRUE(copySegments(cut(from, {0, 5, 5, 40, 97}),
                           cut(to, {0, 0, 1, 60, 60, 90, 97}))
                  .ok());
  EXPECT_EQ(from, to);
}

TEST(Segments, EmptyListsAgree) {
  EXPECT_TRUE(copySegments({}, {}).ok());
  EXPECT_TRUE(copySegments({{nullptr, 0}}, {}).ok());
  EXPECT_TRUE(copySegments({}, {{nullptr, 0}}).ok());
}

TEST(Segments, RefusesDifferentSizes) {
  std::vector<char> from(8, 1), to(9, 2);
  Status status = copySegments(cut(from, {}), cut(to, {}));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "sizes of source and destination differ: got 8 "
                              "bytes, expected 9 bytes");
  EXPECT_EQ(to, std::vector<char>(9, 2)) << "nothing may be written";
}

TEST(Segments, PieceThatStandsInItsPlaceStays) {
  std::vector<char> bytes = {1, 2, 3, 4};
  EXPECT_TRUE(copySegments(cut(bytes, {2}), cut(bytes, {3})).ok());
  EXPECT_EQ(bytes, (std::vector<char>{1, 2, 3, 4}));
}

TEST(Segments, TotalBytes) {
  std::vector<char> bytes(10);
  EXPECT_EQ(totalBytes({}), 0);
  EXPECT_EQ(totalBytes(cut(bytes, {3, 3, 7})), 10);
}

//===- Segments.cpp - Lists of contiguous memory --------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/Transport.h"

#include <algorithm>
#include <cstring>

using namespace sart;

int64_t sart::totalBytes(const SegmentList &segments) {
  int64_t bytes = 0;
  for (const Segment &segment : segments)
    bytes += segment.bytes;
  return bytes;
}

Status sart::copySegments(const SegmentList &from, const SegmentList &to) {
  int64_t fromBytes = totalBytes(from), toBytes = totalBytes(to);
  if (fromBytes != toBytes)
    return makeError("sizes of source and destination differ: got ", fromBytes,
                     " bytes, expected ", toBytes, " bytes");
  size_t source = 0;
  int64_t sourceOffset = 0;
  for (const Segment &target : to) {
    int64_t done = 0;
    while (done < target.bytes) {
      const Segment &piece = from[source];
      int64_t bytes = std::min(piece.bytes - sourceOffset, target.bytes - done);
      const char *begin = static_cast<const char *>(piece.data) + sourceOffset;
      char *destination = static_cast<char *>(target.data) + done;
      // A rank's own part of a collective may already stand in its place.
      if (bytes > 0 && begin != destination)
        std::memmove(destination, begin, static_cast<size_t>(bytes));
      done += bytes;
      sourceOffset += bytes;
      if (sourceOffset == piece.bytes) {
        ++source;
        sourceOffset = 0;
      }
    }
  }
  return Status::success();
}

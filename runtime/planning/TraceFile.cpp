//===- TraceFile.cpp - Recorded block masks and loads (.bmt) --------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/TraceFile.h"

#include <cstdio>
#include <cstring>
#include <memory>

using namespace sart;

namespace {

/// Reads little-endian integers; the caller asks for the room first.
class ByteReader {
public:
  ByteReader(const uint8_t *bytes, size_t size) : bytes(bytes), left(size) {}
  size_t remaining() const { return left; }
  const uint8_t *take(size_t count) {
    const uint8_t *begin = bytes;
    bytes += count;
    left -= count;
    return begin;
  }
  uint32_t u32() {
    const uint8_t *b = take(4);
    return uint32_t(b[0]) | uint32_t(b[1]) << 8 | uint32_t(b[2]) << 16 |
           uint32_t(b[3]) << 24;
  }
  uint16_t u16() {
    const uint8_t *b = take(2);
    return static_cast<uint16_t>(b[0] | b[1] << 8);
  }

private:
  const uint8_t *bytes;
  size_t left;
};

constexpr size_t headerBytes = 4 + 14 * 4;

struct Header {
  uint32_t grid[3], order, tokens, heads, qTiles, kvTiles, tileQ, tileK,
      instances, flags, topPMilli, rowBytes;
};

Status checkField(const char *what, uint64_t got, uint64_t expected) {
  if (got != expected)
    return makeError("trace's ", what, " does not fit its header: got ", got,
                     ", expected ", expected);
  return Status::success();
}

Status verifyHeader(const Header &h) {
  if (h.order > 2)
    return makeError("order of the trace not known: got ", h.order,
                     ", expected 0 to 2");
  for (uint32_t size : {h.tileQ, h.tileK})
    if (size < 8 || size > 4096)
      return makeError("tile size of the trace out of range: got ", size,
                       ", expected 8 to 4096");
  if (h.heads == 0 || h.heads > 4096)
    return makeError("number of heads of the trace out of range: got ", h.heads,
                     ", expected 1 to 4096");
  if (h.flags > 3)
    return makeError("flags of the trace not known: got ", h.flags,
                     ", expected 0 to 3");
  uint64_t tokens = h.tokens;
  SART_RETURN_IF_ERROR(checkField("number of query tiles", h.qTiles,
                                  (tokens + h.tileQ - 1) / h.tileQ));
  SART_RETURN_IF_ERROR(checkField("number of key tiles", h.kvTiles,
                                  (tokens + h.tileK - 1) / h.tileK));
  return checkField("row size", h.rowBytes, (uint64_t(h.kvTiles) + 7) / 8);
}

/// Tiles of one mask row; refuses bits beyond the last key tile.
Expected<int64_t> countRow(const uint8_t *bits, const TraceFile &trace) {
  int64_t count = 0;
  for (int64_t i = 0; i < trace.rowBytes(); ++i)
    count += __builtin_popcount(bits[i]);
  int64_t tail = trace.kvTiles % 8;
  if (tail != 0 && bits[trace.rowBytes() - 1] >> tail != 0)
    return makeError("trace's mask goes beyond the key tiles: got a bit at or "
                     "above ",
                     trace.kvTiles, ", expected none");
  return count;
}

Status verifyInstance(const TraceFile &trace, const TraceFile::Instance &one,
                      size_t number) {
  for (int64_t head = 0; head < trace.heads; ++head) {
    int64_t fromRows = 0, fromMask = 0;
    for (int64_t i = 0; i < trace.qTiles; ++i) {
      size_t row = static_cast<size_t>(head * trace.qTiles + i);
      if (trace.hasRows)
        fromRows += one.rows[row];
      if (!trace.hasMasks)
        continue;
      Expected<int64_t> count = countRow(
          one.maskBits.data() + row * static_cast<size_t>(trace.rowBytes()),
          trace);
      if (!count)
        return count.status();
      fromMask += *count;
      if (trace.hasRows && *count != one.rows[row])
        return makeError("row load of instance ", number, " head ", head,
                         " query tile ", i, " differs from the mask: got ",
                         one.rows[row], ", expected ", *count);
    }
    int64_t load = one.loads[static_cast<size_t>(head)];
    if (trace.hasRows && load != fromRows)
      return makeError("load of instance ", number, " head ", head,
                       " differs from its rows: got ", load, ", expected ",
                       fromRows);
    if (trace.hasMasks && load != fromMask)
      return makeError("load of instance ", number, " head ", head,
                       " differs from its mask: got ", load, ", expected ",
                       fromMask);
    if (load > trace.qTiles * trace.kvTiles)
      return makeError("load of instance ", number, " head ", head,
                       " above the number of tiles: got ", load,
                       ", expected at most ", trace.qTiles * trace.kvTiles);
  }
  return Status::success();
}

} // namespace

Expected<TraceFile> TraceFile::parse(const uint8_t *bytes, size_t size) {
  if (size < headerBytes || std::memcmp(bytes, "BMT1", 4) != 0)
    return makeError("not a block-mask trace: got ", size,
                     " bytes, expected at least ", headerBytes,
                     " that begin with BMT1");
  ByteReader reader(bytes, size);
  reader.take(4);
  Header h;
  for (uint32_t &axis : h.grid)
    axis = reader.u32();
  for (uint32_t *field :
       {&h.order, &h.tokens, &h.heads, &h.qTiles, &h.kvTiles, &h.tileQ,
        &h.tileK, &h.instances, &h.flags, &h.topPMilli, &h.rowBytes})
    *field = reader.u32();
  SART_RETURN_IF_ERROR(verifyHeader(h));

  TraceFile trace;
  trace.order.kind = static_cast<OrderKind>(h.order);
  for (size_t axis = 0; axis < 3; ++axis)
    trace.order.grid[axis] = h.grid[axis];
  SART_RETURN_IF_ERROR(trace.order.verify());
  SART_RETURN_IF_ERROR(checkField("number of tokens", h.tokens,
                                  static_cast<uint64_t>(trace.order.tokens())));
  trace.tokens = h.tokens;
  trace.heads = h.heads;
  trace.qTiles = h.qTiles;
  trace.kvTiles = h.kvTiles;
  trace.tileQ = h.tileQ;
  trace.tileK = h.tileK;
  trace.topPMilli = h.topPMilli;
  trace.hasRows = h.flags & 1;
  trace.hasMasks = h.flags & 2;

  // Heads, tokens and tile sizes are bounded, so these products fit 64 bits.
  size_t rows = size_t(h.heads) * h.qTiles;
  size_t perInstance = 8 + 4 * size_t(h.heads) +
                       (trace.hasRows ? 2 * rows : 0) +
                       (trace.hasMasks ? rows * h.rowBytes : 0);
  if (reader.remaining() / perInstance < h.instances ||
      reader.remaining() != perInstance * h.instances)
    return makeError("trace has a wrong size: got ", size, " bytes, expected ",
                     h.instances, " instances of ", perInstance,
                     " bytes after ", headerBytes);
  for (uint32_t number = 0; number < h.instances; ++number) {
    Instance one;
    one.layer = reader.u32();
    one.step = reader.u32();
    for (int64_t head = 0; head < trace.heads; ++head)
      one.loads.push_back(reader.u32());
    for (size_t row = 0; trace.hasRows && row < rows; ++row)
      one.rows.push_back(reader.u16());
    if (trace.hasMasks) {
      const uint8_t *bits = reader.take(rows * h.rowBytes);
      one.maskBits.assign(bits, bits + rows * h.rowBytes);
    }
    SART_RETURN_IF_ERROR(verifyInstance(trace, one, number));
    trace.instances.push_back(std::move(one));
  }
  return trace;
}

Expected<TraceFile> TraceFile::read(const std::string &path) {
  std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(path.c_str(), "rb"),
                                              &std::fclose);
  if (!file)
    return makeError("trace file cannot be opened: got ", path,
                     ", expected a readable file");
  std::vector<uint8_t> bytes;
  uint8_t buffer[1 << 16];
  size_t count = 0;
  do {
    count = std::fread(buffer, 1, sizeof(buffer), file.get());
    bytes.insert(bytes.end(), buffer, buffer + count);
  } while (count == sizeof(buffer));
  if (std::ferror(file.get()))
    return makeError("trace file cannot be read: got ", path,
                     ", expected a readable file");
  return parse(bytes.data(), bytes.size());
}

Expected<BlockMask> TraceFile::mask(int64_t instance, int64_t mergeK) const {
  if (!hasMasks)
    return makeError("trace has no masks: got loads only, expected flag 2");
  int64_t count = static_cast<int64_t>(instances.size());
  if (instance < 0 || instance >= count)
    return makeError("instance of the trace out of range: got ", instance,
                     ", expected 0 to ", count - 1);
  if (mergeK < 1)
    return makeError("number of merged kv-tiles out of range: got ", mergeK,
                     ", expected at least 1");
  const std::vector<uint8_t> &bits =
      instances[static_cast<size_t>(instance)].maskBits;
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> indices;
  for (int64_t row = 0; row < heads * qTiles; ++row) {
    const uint8_t *rowBits = bits.data() + row * rowBytes();
    int64_t last = -1;
    for (int64_t j = 0; j < kvTiles; ++j) {
      if (!(rowBits[j / 8] >> (j % 8) & 1) || j / mergeK == last)
        continue;
      last = j / mergeK;
      indices.push_back(static_cast<int32_t>(last));
    }
    offsets.push_back(static_cast<int64_t>(indices.size()));
  }
  return BlockMask::fromRows(heads, qTiles,
                             kvTiles / mergeK + (kvTiles % mergeK != 0),
                             std::move(offsets), std::move(indices));
}

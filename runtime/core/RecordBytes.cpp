//===- RecordBytes.cpp - A rank's record on its way to rank 0 -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ByteReader.h"
#include "ByteWriter.h"
#include "ExecutorState.h"

using namespace sart;

static std::string asText(const std::vector<uint8_t> &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

static ByteReader readerOf(const std::string &bytes) {
  return {"record", reinterpret_cast<const uint8_t *>(bytes.data()),
          bytes.size()};
}

static uint64_t bitsOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double doubleOf(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

static void writeRows(ByteWriter &writer,
                      const std::vector<std::vector<int32_t>> &rows,
                      const std::vector<uint8_t> &known) {
  uint32_t count = 0;
  for (uint8_t one : known)
    count += one;
  writer.u32(count);
  for (size_t i = 0; i < known.size(); ++i) {
    if (!known[i])
      continue;
    writer.u64(i);
    writer.list(rows[i]);
  }
}

std::string RecordedRows::toBytes() const {
  std::vector<uint8_t> bytes;
  ByteWriter writer(bytes);
  writeRows(writer, rows, known);
  return asText(bytes);
}

Status RecordedRows::fromBytes(const std::string &bytes, int64_t kvBlocks) {
  ByteReader reader = readerOf(bytes);
  size_t count = reader.count("rows", 12);
  for (size_t i = 0; i < count && reader.ok(); ++i) {
    uint64_t index = reader.u64();
    std::vector<int32_t> row = reader.list32("kv-blocks");
    if (!reader.ok())
      break;
    if (index >= rows.size())
      return makeError("row of a gathered mask out of range: got ", index,
                       ", expected less than ", rows.size());
    for (int32_t block : row)
      if (block < 0 || block >= kvBlocks)
        return makeError("kv-block of a gathered mask out of range: got ",
                         block, ", expected 0 to ", kvBlocks - 1);
    auto place = static_cast<int64_t>(index);
    record(place / qBlocksPerHead, place % qBlocksPerHead, row.data(),
           static_cast<int64_t>(row.size()));
  }
  return reader.status();
}

std::string RankRecord::toBytes(bool withRows) const {
  std::vector<uint8_t> bytes;
  ByteWriter writer(bytes);
  for (int64_t value : {exchange, moved, routed, tiles, planNs,
                        withRows ? selected : selected + rows.tiles(),
                        routing.rows, routing.nearThreshold})
    writer.i64(value);
  writer.u64(bitsOf(routing.keptPooledMass));
  writer.list(sent);
  writer.count(events.size());
  for (const TraceEvent &event : events) {
    writer.text(event.name);
    for (int64_t value : {event.rank, event.phase, event.instruction,
                          event.beginNs, event.endNs, event.bytes, event.tiles})
      writer.i64(value);
  }
  std::string result = asText(bytes);
  return withRows ? result + rows.toBytes() : result;
}

Status RankRecord::fromBytes(const std::string &bytes, int64_t kvBlocks) {
  ByteReader reader = readerOf(bytes);
  for (int64_t *value : {&exchange, &moved, &routed, &tiles, &planNs, &selected,
                         &routing.rows, &routing.nearThreshold})
    *value = reader.i64();
  routing.keptPooledMass = doubleOf(reader.u64());
  std::vector<int64_t> toRanks = reader.list64("ranks");
  if (reader.ok() && toRanks.size() != sent.size())
    return makeError("ranks of a gathered record: got ", toRanks.size(),
                     ", expected ", sent.size());
  sent = std::move(toRanks);
  size_t count = reader.count("events", 4);
  for (size_t i = 0; i < count && reader.ok(); ++i) {
    TraceEvent event;
    event.name = reader.text("event name");
    for (int64_t *value :
         {&event.rank, &event.phase, &event.instruction, &event.beginNs,
          &event.endNs, &event.bytes, &event.tiles})
      *value = reader.i64();
    events.push_back(std::move(event));
  }
  SART_RETURN_IF_ERROR(reader.status());
  return reader.left() ? rows.fromBytes(bytes.substr(reader.offset()), kvBlocks)
                       : Status::success();
}

//===- NpzWriter.cpp - Writes NumPy archives ------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "AtomicFile.h"
#include "NpzFormat.h"
#include "sparseattn-rt/CheckedMath.h"

#include <algorithm>
#include <zlib.h>

using namespace sart;
using namespace sart::npz;

namespace {

/// Little-endian fields.
class Record {
public:
  template <typename T>
  Record &add(T value) {
    for (size_t i = 0; i < sizeof(T); ++i)
      text += static_cast<char>(value >> (8 * i) & 0xFF);
    return *this;
  }
  Record &add(const std::string &value) {
    text += value;
    return *this;
  }
  const std::string &bytes() const { return text; }

private:
  std::string text;
};

// 1980-01-01, the earliest: archives of the same data are the same bytes.
constexpr uint16_t fixedTime = 0, fixedDate = 0x21;

uint32_t clamp32(uint64_t value) {
  return value >= limit32 ? limit32 : static_cast<uint32_t>(value);
}

struct Entry {
  std::string name;
  uint32_t crc = 0;
  uint64_t size = 0, offset = 0;
};

/// 64-bit values that their 32-bit fields cannot hold.
std::string extraOf(const Entry &entry, bool local) {
  Record values;
  if (entry.size >= limit32)
    values.add<uint64_t>(entry.size).add<uint64_t>(entry.size);
  if (!local && entry.offset >= limit32)
    values.add<uint64_t>(entry.offset);
  if (values.bytes().empty())
    return {};
  return Record()
      .add<uint16_t>(extra64)
      .add<uint16_t>(static_cast<uint16_t>(values.bytes().size()))
      .add(values.bytes())
      .bytes();
}

/// The fields that local header and directory share.
void addCommon(Record &record, const Entry &entry, const std::string &extra) {
  record
      .add<uint16_t>(extra.empty() ? 20 : 45) // version needed
      .add<uint16_t>(0x800)                   // names are UTF-8
      .add<uint16_t>(methodStored)
      .add<uint16_t>(fixedTime)
      .add<uint16_t>(fixedDate)
      .add<uint32_t>(entry.crc)
      .add<uint32_t>(clamp32(entry.size))
      .add<uint32_t>(clamp32(entry.size))
      .add<uint16_t>(static_cast<uint16_t>(entry.name.size()))
      .add<uint16_t>(static_cast<uint16_t>(extra.size()));
}

std::string localHeader(const Entry &entry) {
  Record record;
  std::string extra = extraOf(entry, /*local=*/true);
  record.add<uint32_t>(localSignature);
  addCommon(record, entry, extra);
  return record.add(entry.name).add(extra).bytes();
}

std::string centralHeader(const Entry &entry) {
  Record record;
  std::string extra = extraOf(entry, /*local=*/false);
  record.add<uint32_t>(centralSignature).add<uint16_t>(45); // version made by
  addCommon(record, entry, extra);
  return record
      .add<uint16_t>(0) // comment
      .add<uint16_t>(0) // disk
      .add<uint16_t>(0)
      .add<uint32_t>(0)
      .add<uint32_t>(clamp32(entry.offset))
      .add(entry.name)
      .add(extra)
      .bytes();
}

std::string endRecords(uint64_t count, uint64_t bytes, uint64_t offset) {
  Record record;
  if (count >= limit16 || bytes >= limit32 || offset >= limit32) {
    record.add<uint32_t>(end64Signature)
        .add<uint64_t>(end64Bytes - 12)
        .add<uint16_t>(45)
        .add<uint16_t>(45)
        .add<uint32_t>(0)
        .add<uint32_t>(0)
        .add<uint64_t>(count)
        .add<uint64_t>(count)
        .add<uint64_t>(bytes)
        .add<uint64_t>(offset)
        .add<uint32_t>(locator64Signature)
        .add<uint32_t>(0)
        .add<uint64_t>(offset + bytes)
        .add<uint32_t>(1);
  }
  auto count16 = static_cast<uint16_t>(std::min<uint64_t>(count, limit16));
  return record.add<uint32_t>(endSignature)
      .add<uint16_t>(0)
      .add<uint16_t>(0)
      .add<uint16_t>(count16)
      .add<uint16_t>(count16)
      .add<uint32_t>(clamp32(bytes))
      .add<uint32_t>(clamp32(offset))
      .add<uint16_t>(0)
      .bytes();
}

Status checkArray(const std::string &name, const NpzArray &array) {
  int64_t bytes = elementBytes(array.dtype);
  if (bytes == 0)
    return makeError("dtype of array '", name, "' not supported: got '",
                     array.dtype,
                     "', expected f2, f4, f8, b1 or an integer dtype");
  if (name.empty() || name.size() > 1024)
    return makeError("name of an array out of range: got ", name.size(),
                     " characters, expected 1 to 1024");
  if (array.shape.size() > 32 ||
      std::any_of(array.shape.begin(), array.shape.end(),
                  [](int64_t size) { return size < 0; }))
    return makeError("shape of array '", name, "' out of range: got ",
                     array.shape.size(),
                     " dimensions, expected at most 32 of at least 0");
  bool empty = std::count(array.shape.begin(), array.shape.end(), 0) > 0;
  std::optional<int64_t> extent = checkedExtent(bytes, array.shape);
  if (!extent)
    return makeError("size of array '", name, "' out of range");
  int64_t total = empty ? 0 : *extent;
  if (static_cast<uint64_t>(total) != array.data.size())
    return makeError("data of array '", name,
                     "' does not match its shape: got ", array.data.size(),
                     " bytes, expected ", total);
  return Status::success();
}

} // namespace

Status sart::writeNpz(const std::string &path, const NpzArchive &archive) {
  for (const auto &[name, array] : archive)
    SART_RETURN_IF_ERROR(checkArray(name, array));
  AtomicFile file;
  SART_RETURN_IF_ERROR(file.open(path));
  std::vector<Entry> entries;
  uint64_t offset = 0;
  auto write = [&](const void *data, size_t size) {
    offset += size;
    return file.write(data, size);
  };
  for (const auto &[name, array] : archive) {
    std::string header = npyHeader(array);
    Entry entry;
    entry.name = name + ".npy";
    entry.offset = offset;
    entry.size = header.size() + array.data.size();
    entry.crc = static_cast<uint32_t>(
        ::crc32_z(checksum(reinterpret_cast<const uint8_t *>(header.data()),
                           header.size()),
                  array.data.data(), array.data.size()));
    // zlib takes a null pointer for a request to start over.
    if (array.data.empty())
      entry.crc = checksum(reinterpret_cast<const uint8_t *>(header.data()),
                           header.size());
    std::string local = localHeader(entry);
    SART_RETURN_IF_ERROR(write(local.data(), local.size()));
    SART_RETURN_IF_ERROR(write(header.data(), header.size()));
    SART_RETURN_IF_ERROR(write(array.data.data(), array.data.size()));
    entries.push_back(std::move(entry));
  }
  uint64_t directory = offset;
  for (const Entry &entry : entries) {
    std::string central = centralHeader(entry);
    SART_RETURN_IF_ERROR(write(central.data(), central.size()));
  }
  std::string end = endRecords(entries.size(), offset - directory, directory);
  SART_RETURN_IF_ERROR(write(end.data(), end.size()));
  return file.commit();
}

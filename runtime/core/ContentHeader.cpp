//===- ContentHeader.cpp - Magic, version and hash before a body ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ContentHeader.h"

#include "ByteReader.h"
#include "ByteWriter.h"

#include <algorithm>
#include <iomanip>

using namespace sart;

static constexpr size_t magicBytes = sizeof(ContentHeader::magic) - 1;

static std::string hexadecimalBytes(const uint8_t *bytes, size_t size) {
  std::ostringstream stream;
  stream << std::hex << std::setfill('0');
  for (size_t i = 0; i < size; ++i)
    stream << (i > 0 ? " " : "") << std::setw(2) << static_cast<int>(bytes[i]);
  return size > 0 ? stream.str() : "no bytes";
}

static std::string hexadecimal(uint64_t value) {
  std::ostringstream stream;
  stream << "0x" << std::hex << std::setw(16) << std::setfill('0') << value;
  return stream.str();
}

Status sart::checkContentHeader(const ContentHeader &expected,
                                const uint8_t *bytes, size_t size) {
  if (size < magicBytes || std::memcmp(bytes, expected.magic, magicBytes) != 0)
    return makeError(
        expected.subject, " magic differs: got ",
        hexadecimalBytes(bytes, std::min(size, magicBytes)), ", expected ",
        hexadecimalBytes(reinterpret_cast<const uint8_t *>(expected.magic),
                         magicBytes),
        " (\"", expected.magic, "\")");
  ByteReader in(expected.subject, bytes + magicBytes, size - magicBytes);
  uint16_t version = in.u16();
  uint64_t hash = in.u64();
  if (!in.ok())
    return makeError(expected.subject, " header truncated: got ", size,
                     " bytes, expected at least ", contentHeaderBytes);
  if (version != expected.version)
    return makeError(expected.subject, " version is not supported: got ",
                     version, ", expected ", expected.version);
  uint64_t actual =
      hashBytes(bytes + contentHeaderBytes, size - contentHeaderBytes);
  if (actual != hash)
    return makeError(expected.subject, " hash differs: got ",
                     hexadecimal(actual), ", expected ", hexadecimal(hash),
                     " (truncated or changed bytes)");
  return Status::success();
}

std::vector<uint8_t> sart::withContentHeader(const ContentHeader &header,
                                             const std::vector<uint8_t> &body) {
  std::vector<uint8_t> bytes(header.magic, header.magic + magicBytes);
  bytes.reserve(contentHeaderBytes + body.size());
  ByteWriter out(bytes);
  out.u16(header.version);
  out.u64(hashBytes(body.data(), body.size()));
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

//===- ZipBuilder.h - Archives of any shape ---------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_TEST_UNIT_NPZ_ZIPBUILDER_H
#define SPARSEATTN_TEST_UNIT_NPZ_ZIPBUILDER_H

#include "sparseattn-rt/Npz.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <unistd.h>
#include <zlib.h>

namespace sart::test {

/// A folder of its own, removed at the end.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = ::testing::TempDir() + "sparseattn-npz-XXXXXX";
    path = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    for (const std::string &file : files)
      std::remove(file.c_str());
    ::rmdir(path.c_str());
  }
  std::string file(const std::string &name) {
    files.push_back(path + "/" + name);
    return files.back();
  }
  std::string path;

private:
  std::vector<std::string> files;
};

inline std::string readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void writeBytes(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

template <typename T>
void appendNumber(std::string &bytes, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    bytes += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xFF);
}

/// The .npy file of a header dictionary and raw data, version 1 or 2.
inline std::string npyFile(const std::string &header, const std::string &data,
                           int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  if (version == 1)
    appendNumber<uint16_t>(bytes, static_cast<uint16_t>(header.size()));
  else
    appendNumber<uint32_t>(bytes, static_cast<uint32_t>(header.size()));
  return bytes + header + data;
}

struct ZipMember {
  std::string name;
  std::string content;
  bool deflated = false;
  bool zip64 = false;       ///< sizes in the extra field, as NumPy writes them
  uint16_t method = 0xFFFF; ///< other than the real one
  uint16_t flags = 0;
};

inline std::string deflateRaw(const std::string &content) {
  z_stream stream = {};
  EXPECT_EQ(
      ::deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY),
      Z_OK);
  std::string packed(::deflateBound(&stream, content.size()), '\0');
  stream.next_in =
      reinterpret_cast<Bytef *>(const_cast<char *>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

/// A zip archive; `comment` follows the end record.
inline std::string zipOf(const std::vector<ZipMember> &members,
                         const std::string &comment = "") {
  std::string bytes, directory;
  for (const ZipMember &member : members) {
    std::string packed =
        member.deflated ? deflateRaw(member.content) : member.content;
    auto crc = static_cast<uint32_t>(
        ::crc32(0, reinterpret_cast<const Bytef *>(member.content.data()),
                static_cast<uInt>(member.content.size())));
    uint16_t method = member.method != 0xFFFF ? member.method
                      : member.deflated       ? uint16_t(8)
                                              : uint16_t(0);
    std::string extra;
    if (member.zip64) {
      appendNumber<uint16_t>(extra, 1);
      appendNumber<uint16_t>(extra, 16);
      appendNumber<uint64_t>(extra, member.content.size());
      appendNumber<uint64_t>(extra, packed.size());
    }
    auto common = [&](std::string &record) {
      appendNumber<uint16_t>(record, 45);
      appendNumber<uint16_t>(record, member.flags);
      appendNumber<uint16_t>(record, method);
      appendNumber<uint32_t>(record, 0x210000);
      appendNumber<uint32_t>(record, crc);
      appendNumber<uint32_t>(record, member.zip64 ? 0xFFFFFFFF : packed.size());
      appendNumber<uint32_t>(record,
                             member.zip64 ? 0xFFFFFFFF : member.content.size());
      appendNumber<uint16_t>(record, member.name.size());
      appendNumber<uint16_t>(record, extra.size());
    };
    size_t offset = bytes.size();
    appendNumber<uint32_t>(bytes, 0x04034b50);
    common(bytes);
    bytes += member.name + extra + packed;
    appendNumber<uint32_t>(directory, 0x02014b50);
    appendNumber<uint16_t>(directory, 45);
    common(directory);
    appendNumber<uint16_t>(directory, 0);
    appendNumber<uint32_t>(directory, 0);
    appendNumber<uint32_t>(directory, 0);
    appendNumber<uint32_t>(directory, offset);
    directory += member.name + extra;
  }
  size_t start = bytes.size();
  bytes += directory;
  appendNumber<uint32_t>(bytes, 0x06054b50);
  appendNumber<uint32_t>(bytes, 0);
  appendNumber<uint16_t>(bytes, members.size());
  appendNumber<uint16_t>(bytes, members.size());
  appendNumber<uint32_t>(bytes, directory.size());
  appendNumber<uint32_t>(bytes, start);
  appendNumber<uint16_t>(bytes, comment.size());
  return bytes + comment;
}

inline Expected<NpzArchive> readZip(const std::string &bytes) {
  // Exactly as large as the archive, so that sanitizers see reads beyond it.
  std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  return parseNpz(copy.data(), copy.size());
}

} // namespace sart::test

#endif // SPARSEATTN_TEST_UNIT_NPZ_ZIPBUILDER_H

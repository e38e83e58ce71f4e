//===- NpzReader.cpp - Reads NumPy archives -------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "NpzFormat.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sys/stat.h>
#include <zlib.h>

using namespace sart;
using namespace sart::npz;

uint32_t npz::checksum(const uint8_t *data, size_t size) {
  return static_cast<uint32_t>(::crc32_z(::crc32_z(0, nullptr, 0), data, size));
}

namespace {

/// Deflate makes nothing larger than this from one byte.
constexpr uint64_t maxDeflateRatio = 1032;

Expected<std::vector<uint8_t>> readWhole(const std::string &path) {
  auto unreadable = [&](const char *reason) {
    return makeError("file '", path, "' cannot be read: got '", reason,
                     "', expected a NumPy archive");
  };
  // Opening a pipe without a writer would wait for ever.
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return unreadable("not a regular file");
  std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(path.c_str(), "rb"),
                                              &std::fclose);
  if (!file)
    return unreadable(std::strerror(errno));
  std::vector<uint8_t> bytes;
  size_t filled = 0;
  // Grown as it is read: the file may be written meanwhile.
  size_t count = 0, wanted = 0;
  do {
    bytes.resize(std::max<size_t>(size_t(1) << 16, bytes.size() * 2));
    wanted = bytes.size() - filled;
    errno = 0;
    count = std::fread(bytes.data() + filled, 1, wanted, file.get());
    filled += count;
  } while (count == wanted);
  if (std::ferror(file.get()))
    return unreadable(std::strerror(errno));
  bytes.resize(filled);
  return bytes;
}

struct Member {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t crc = 0;
  uint64_t packed = 0, size = 0, localOffset = 0;
};

class Reader {
public:
  Reader(const uint8_t *bytes, size_t size) : bytes(bytes), fileBytes(size) {}

  Expected<NpzArchive> read() {
    SART_RETURN_IF_ERROR(findDirectory());
    NpzArchive archive;
    uint64_t packedTotal = 0;
    size_t position = static_cast<size_t>(directory);
    for (uint64_t i = 0; i < members; ++i) {
      Member member;
      SART_RETURN_IF_ERROR(readEntry(position, member));
      // Members that share bytes could grow to far more than the file.
      packedTotal += member.packed;
      if (packedTotal > fileBytes)
        return located(member, "overlaps other members: got more packed bytes "
                               "than the file has");
      auto array = readMember(member);
      if (!array)
        return array.status();
      std::string name =
          member.name.substr(0, member.name.size() - suffix.size());
      if (!archive.emplace(name, std::move(*array)).second)
        return located(member, "stands twice in the archive");
    }
    return archive;
  }

private:
  static constexpr std::string_view suffix = ".npy";

  template <typename T>
  T load(size_t at) const {
    T value = 0;
    for (size_t i = 0; i < sizeof(T); ++i)
      value |= static_cast<T>(static_cast<T>(bytes[at + i]) << (8 * i));
    return value;
  }
  bool fits(uint64_t at, uint64_t size) const {
    return at <= fileBytes && size <= fileBytes - at;
  }

  template <typename... Parts>
  Status located(const Member &member, const Parts &...parts) const {
    return makeError("member '", member.name, "' at offset ",
                     member.localOffset, ": ", concat(parts...));
  }
  static Status truncated(const char *what, uint64_t at) {
    return makeError(what, " truncated at offset ", at,
                     ": expected a complete zip archive");
  }

  /// Finds the central directory through the record at the end of the file.
  Status findDirectory() {
    if (fileBytes < endBytes)
      return makeError("archive truncated: got ", fileBytes,
                       " bytes, expected at least ", endBytes);
    // A comment of up to 65,535 bytes may follow the record.
    size_t last = fileBytes - endBytes;
    size_t first = last > limit16 ? last - limit16 : 0;
    size_t end = last + 1;
    while (end > first && load<uint32_t>(end - 1) != endSignature)
      --end;
    if (end == first)
      return makeError("end record of the archive missing: got ", fileBytes,
                       " bytes without it, expected a complete zip archive");
    size_t record = end - 1;
    if (load<uint16_t>(record + 20) != fileBytes - record - endBytes)
      return makeError("bytes after the end record at offset ", record,
                       ": got ", fileBytes - record - endBytes, ", expected ",
                       load<uint16_t>(record + 20));
    uint32_t disks = load<uint16_t>(record + 4) | load<uint16_t>(record + 6);
    members = load<uint16_t>(record + 10);
    directoryBytes = load<uint32_t>(record + 12);
    directory = load<uint32_t>(record + 16);
    uint64_t limit = record;
    if ((members == limit16 || directoryBytes == limit32 ||
         directory == limit32) &&
        record >= locator64Bytes &&
        load<uint32_t>(record - locator64Bytes) == locator64Signature) {
      uint64_t at = load<uint64_t>(record - locator64Bytes + 8);
      if (!fits(at, end64Bytes) ||
          load<uint32_t>(static_cast<size_t>(at)) != end64Signature)
        return truncated("zip64 end record", at);
      auto big = static_cast<size_t>(at);
      disks = load<uint32_t>(big + 16) | load<uint32_t>(big + 20);
      members = load<uint64_t>(big + 32);
      directoryBytes = load<uint64_t>(big + 40);
      directory = load<uint64_t>(big + 48);
      limit = at;
    }
    if (disks != 0)
      return makeError("archive of several parts not supported: expected one "
                       "file");
    if (directory > limit || directoryBytes > limit - directory)
      return makeError("central directory out of range: got ", directoryBytes,
                       " bytes at offset ", directory,
                       ", expected it before offset ", limit);
    if (members > directoryBytes / centralBytes)
      return makeError("number of members out of range: got ", members,
                       ", expected at most ", directoryBytes / centralBytes);
    return Status::success();
  }

  /// Reads one entry of the central directory, whose sizes are the reliable
  /// ones, and moves on.
  Status readEntry(size_t &position, Member &member) {
    uint64_t end = directory + directoryBytes;
    if (end - position < centralBytes ||
        load<uint32_t>(position) != centralSignature)
      return truncated("central directory", position);
    member.flags = load<uint16_t>(position + 8);
    member.method = load<uint16_t>(position + 10);
    member.crc = load<uint32_t>(position + 16);
    member.packed = load<uint32_t>(position + 20);
    member.size = load<uint32_t>(position + 24);
    size_t nameBytes = load<uint16_t>(position + 28);
    size_t extraBytes = load<uint16_t>(position + 30);
    size_t commentBytes = load<uint16_t>(position + 32);
    member.localOffset = load<uint32_t>(position + 42);
    size_t at = position + centralBytes;
    if (end - at < nameBytes + extraBytes + commentBytes)
      return truncated("central directory", position);
    member.name.assign(reinterpret_cast<const char *>(bytes + at), nameBytes);
    SART_RETURN_IF_ERROR(readExtra(at + nameBytes, extraBytes, member));
    position = at + nameBytes + extraBytes + commentBytes;
    return Status::success();
  }

  /// 64-bit sizes stand in an extra field, those that do not fit, in order.
  Status readExtra(size_t at, size_t size, Member &member) {
    size_t end = at + size;
    while (end - at >= 4) {
      uint16_t id = load<uint16_t>(at);
      size_t length = load<uint16_t>(at + 2);
      at += 4;
      if (length > end - at)
        return located(member, "extra field truncated");
      if (id == extra64) {
        size_t field = at;
        for (uint64_t *value :
             {&member.size, &member.packed, &member.localOffset}) {
          if (*value != limit32)
            continue;
          if (at + length - field < 8)
            return located(member, "zip64 extra field truncated");
          *value = load<uint64_t>(field);
          field += 8;
        }
      }
      at += length;
    }
    return Status::success();
  }

  Expected<NpzArray> readMember(const Member &member) {
    if (member.name.size() <= suffix.size() ||
        member.name.compare(member.name.size() - suffix.size(), suffix.size(),
                            suffix) != 0)
      return located(member, "is no array: expected a name that ends in .npy");
    if (member.flags & 1)
      return located(member, "is encrypted: expected a plain archive");
    if (member.method != methodStored && member.method != methodDeflated)
      return located(member, "compression not supported: got method ",
                     member.method, ", expected stored or deflated");
    auto local = static_cast<size_t>(member.localOffset);
    if (!fits(member.localOffset, localBytes) ||
        load<uint32_t>(local) != localSignature)
      return located(member, "local header missing");
    size_t nameBytes = load<uint16_t>(local + 26);
    uint64_t data = member.localOffset + localBytes + nameBytes +
                    load<uint16_t>(local + 28);
    if (!fits(data, member.packed) || data + member.packed > directory)
      return located(member, "data truncated: got ",
                     directory - std::min(directory, data), " bytes, expected ",
                     member.packed);
    if (nameBytes != member.name.size() ||
        std::memcmp(bytes + local + localBytes, member.name.data(),
                    nameBytes) != 0 ||
        load<uint16_t>(local + 8) != member.method)
      return located(member, "local header differs from the directory");
    const uint8_t *packed = bytes + data;
    std::vector<uint8_t> inflated;
    if (member.method == methodDeflated) {
      SART_RETURN_IF_ERROR(inflateInto(member, packed, inflated));
      packed = inflated.data();
    } else if (member.packed != member.size) {
      return located(member, "size does not match: got ", member.packed,
                     " stored bytes, expected ", member.size);
    }
    auto size = static_cast<size_t>(member.size);
    if (uint32_t crc = checksum(packed, size); crc != member.crc)
      return located(member, "checksum does not match: got ", crc,
                     ", expected ", member.crc);
    auto array = parseNpy(packed, size);
    if (!array)
      return located(member, array.message());
    return array;
  }

  Status inflateInto(const Member &member, const uint8_t *packed,
                     std::vector<uint8_t> &result) {
    if (member.size / maxDeflateRatio > member.packed)
      return located(member, "size out of range: got ", member.size,
                     " bytes from ", member.packed, " deflated ones");
    result.resize(static_cast<size_t>(member.size));
    z_stream stream = {};
    // Raw deflate: zip has its own header.
    if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      return located(member, "cannot be inflated: got no memory");
    uint64_t consumed = 0, produced = 0;
    int code = Z_OK;
    while (code == Z_OK) {
      auto input = static_cast<uInt>(
          std::min<uint64_t>(member.packed - consumed, 1u << 30));
      auto output = static_cast<uInt>(
          std::min<uint64_t>(member.size - produced, 1u << 30));
      // An empty output still needs an address.
      uint8_t none = 0;
      stream.next_in = const_cast<uint8_t *>(packed + consumed);
      stream.avail_in = input;
      stream.next_out = output > 0 ? result.data() + produced : &none;
      stream.avail_out = output;
      code = ::inflate(&stream, Z_NO_FLUSH);
      consumed += input - stream.avail_in;
      produced += output - stream.avail_out;
    }
    ::inflateEnd(&stream);
    if (code != Z_STREAM_END || produced != member.size ||
        consumed != member.packed)
      return located(member, "deflated data corrupt: got ", produced,
                     " bytes from ", consumed, ", expected ", member.size,
                     " from ", member.packed);
    return Status::success();
  }

  const uint8_t *bytes;
  const size_t fileBytes;
  uint64_t members = 0, directory = 0, directoryBytes = 0;
};

} // namespace

Expected<NpzArchive> sart::parseNpz(const uint8_t *bytes, size_t size) {
  return Reader(bytes, size).read();
}

Expected<NpzArchive> sart::readNpz(const std::string &path) {
  auto bytes = readWhole(path);
  if (!bytes)
    return bytes.status();
  auto archive = parseNpz(bytes->data(), bytes->size());
  if (!archive)
    return makeError("file '", path, "': ", archive.message());
  return archive;
}

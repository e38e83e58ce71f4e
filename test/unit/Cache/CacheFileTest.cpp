//===- CacheFileTest.cpp - Cache files and executables as bytes -----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn-rt/CacheFile.h"
#include "sparseattn-rt/Executable.h"

#include <gtest/gtest.h>

#include <random>

using namespace sart;

namespace {

using Bytes = std::vector<uint8_t>;

constexpr size_t headerBytes = 16;

Expected<CacheEntry> readBack(const Bytes &bytes) {
  // An exact copy on the heap, so that a sanitizer sees every byte outside.
  Bytes exact(bytes);
  exact.shrink_to_fit();
  return readCacheFile(exact.data(), exact.size());
}

Expected<Executable> readExecutable(const Bytes &bytes) {
  Bytes exact(bytes);
  exact.shrink_to_fit();
  return deserializeExecutable(exact.data(), exact.size());
}

/// Makes the header's hash fit the body again.
Bytes repaired(Bytes bytes) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (size_t i = headerBytes; i < bytes.size(); ++i)
    hash = (hash ^ bytes[i]) * 0x100000001b3ull;
  for (size_t i = 0; i < 8; ++i)
    bytes[8 + i] = static_cast<uint8_t>(hash >> (8 * i));
  return bytes;
}

CacheEntry sample() {
  return {std::string("key\n\0 with \xff", 12), std::string("\0payload", 8)};
}

DeviceLaunch sampleLaunch() {
  DeviceLaunch launch;
  launch.entry = "attend_bf16";
  launch.threads = 384;
  launch.sharedBytes = 163968;
  launch.persistent = true;
  launch.tilesPerCta = 2;
  launch.tileRows = 128;
  launch.qBoxRows = 127;
  launch.kvBoxRows = 64;
  launch.boxCols = 63;
  return launch;
}

Executable sampleExecutable() {
  return {{{"attend_f32", 4096, 0},
           {"attend_bf16@sm_90a", 0, 0, sampleLaunch()},
           {"route_d32", 64, 12}},
          std::string("\x7f"
                      "ELF\0\1",
                      6)};
}

} // namespace

TEST(CacheFile, HasTheDocumentedBytes) {
  Bytes bytes = writeCacheFile({"k", "pq"});
  Bytes body = {1, 0, 0, 0, 'k', 2, 0, 0, 0, 'p', 'q'};
  Bytes expected = {'S', 'A', 'C', 'A', 'C', 'H', 1, 0};
  uint64_t hash = 0xcbf29ce484222325ull;
  for (uint8_t byte : body)
    hash = (hash ^ byte) * 0x100000001b3ull;
  for (int i = 0; i < 8; ++i)
    expected.push_back(static_cast<uint8_t>(hash >> (8 * i)));
  expected.insert(expected.end(), body.begin(), body.end());
  EXPECT_EQ(bytes, expected);
}

TEST(CacheFile, RoundTrip) {
  for (const CacheEntry &entry :
       {sample(), CacheEntry{"", ""},
        CacheEntry{std::string(70000, 'k'), std::string(300000, 'p')}}) {
    Expected<CacheEntry> read = readBack(writeCacheFile(entry));
    ASSERT_TRUE(read.ok()) << read.message();
    EXPECT_EQ(read->key, entry.key);
    EXPECT_EQ(read->payload, entry.payload);
  }
}

TEST(CacheFile, EveryCutIsRefused) {
  Bytes whole = writeCacheFile(sample());
  for (size_t size = 0; size < whole.size(); ++size) {
    Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(readBack(cut).ok()) << size;
    if (size > headerBytes)
      EXPECT_FALSE(readBack(repaired(cut)).ok()) << size;
  }
}

TEST(CacheFile, EveryChangedBitIsRefused) {
  Bytes whole = writeCacheFile(sample());
  for (size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      Bytes changed = whole;
      changed[at] ^= static_cast<uint8_t>(1 << bit);
      EXPECT_FALSE(readBack(changed).ok()) << at << " " << bit;
    }
}

TEST(CacheFile, SaysWhatIsWrong) {
  Bytes whole = writeCacheFile(sample());
  EXPECT_EQ(readBack({}).message(),
            "cache file magic differs: got no bytes, expected 53 41 43 41 43 "
            "48 (\"SACACH\")");
  EXPECT_EQ(readBack({'S', 'A', 'C', 'A', 'C', 'H', 1}).message(),
            "cache file header truncated: got 7 bytes, expected at least 16");
  Bytes older = whole;
  older[6] = 0;
  EXPECT_EQ(readBack(older).message(),
            "cache file version is not supported: got 0, expected 1");
  Bytes longer = whole;
  longer.push_back(0);
  EXPECT_EQ(readBack(repaired(longer)).message(),
            "cache file has trailing bytes: got 1, expected 0");
  Bytes counted = whole;
  counted[headerBytes + 3] = 0x7f; // 2 GiB of key
  EXPECT_EQ(readBack(repaired(counted)).message(),
            "number of key characters at offset 0 exceeds the input: got "
            "2130706444, expected at most 24");
}

TEST(CacheFile, RandomBodiesAreReadOrRefused) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes = writeCacheFile(sample());
    bytes.resize(headerBytes + random() % 40);
    for (size_t at = headerBytes; at < bytes.size(); ++at)
      if (random() % 2)
        bytes[at] = static_cast<uint8_t>(random() % 4);
    bytes = repaired(bytes);
    // What is read stands for these bytes and no others.
    if (Expected<CacheEntry> read = readBack(bytes))
      EXPECT_EQ(writeCacheFile(*read), bytes);
  }
}

TEST(ExecutableFormat, RoundTrip) {
  Executable executable = sampleExecutable();
  Expected<Executable> read = readExecutable(serialize(executable));
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(read->binary, executable.binary);
  ASSERT_EQ(read->kernels.size(), 3u);
  EXPECT_EQ(read->kernels[0].name, "attend_f32");
  EXPECT_EQ(read->kernels[0].scratchBytes, 4096);
  EXPECT_FALSE(read->kernels[0].launch.has_value());
  ASSERT_TRUE(read->kernels[1].launch.has_value());
  EXPECT_TRUE(*read->kernels[1].launch == sampleLaunch());
  EXPECT_EQ(read->kernels[2].scratchBytesPerKvBlock, 12);
}

TEST(ExecutableFormat, RefusesCutsAndWrongFields) {
  Bytes whole = serialize(sampleExecutable());
  for (size_t size = headerBytes; size < whole.size(); ++size) {
    Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(readExecutable(cut).ok()) << size;
    EXPECT_FALSE(readExecutable(repaired(cut)).ok()) << size;
  }
  EXPECT_EQ(readExecutable(writeCacheFile(sample())).message(),
            "executable magic differs: got 53 41 43 41 43 48, expected 53 41 "
            "45 58 45 43 (\"SAEXEC\")");
  Executable executable = sampleExecutable();
  executable.kernels[1].name = "attend_f32";
  EXPECT_EQ(readExecutable(serialize(executable)).message(),
            "kernel name at offset 35: got 'attend_f32', expected one that is "
            "not empty and not there yet");
  executable.kernels[1].name = "";
  EXPECT_FALSE(readExecutable(serialize(executable)).ok());
  executable = sampleExecutable();
  executable.kernels[0].scratchBytes = -1;
  EXPECT_EQ(readExecutable(serialize(executable)).message(),
            "scratch bytes at offset 18 out of range: got -1, expected 0 to "
            "1099511627776");
  executable.kernels[0].scratchBytes = (int64_t(1) << 40) + 1;
  EXPECT_FALSE(readExecutable(serialize(executable)).ok());
}

TEST(ExecutableFormat, HasTheDocumentedLaunchBytes) {
  Executable executable = {{{"k", 1, 2, sampleLaunch()}}, "b"};
  Bytes bytes = serialize(executable);
  Bytes expected = {
      1,   0,   0,   0,    1,    0,   0,   0,   'k', // kernels, name
      1,   0,   0,   0,    0,    0,   0,   0,        // scratch
      2,   0,   0,   0,    0,    0,   0,   0,        // per kv-block
      1,   11,  0,   0,    0,                        // launch, entry
      'a', 't', 't', 'e',  'n',  'd', '_', 'b', 'f', '1', '6', 0x80,
      1,   0,   0,   0x80, 0x80, 2,   0,      // threads, shared
      1,                                      // persistent
      2,   0,   0,   0,    128,  0,   0,   0, // tiles, tile rows
      127, 0,   0,   0,    64,   0,   0,   0,   63,  0,   0,   0, // boxes
      1,   0,   0,   0,    'b'};
  EXPECT_EQ(Bytes(bytes.begin() + headerBytes, bytes.end()), expected);
  EXPECT_EQ(bytes[6], 2) << "version";
}

TEST(ExecutableFormat, RefusesLaunchesThatNoDeviceDoes) {
  struct {
    int32_t DeviceLaunch::*field;
    int32_t value;
    const char *message;
  } cases[] = {
      {&DeviceLaunch::threads, 0,
       "threads of a launch at offset 41 out of range: got 0, expected 1 to "
       "1024"},
      {&DeviceLaunch::threads, 1025,
       "threads of a launch at offset 41 out of range: got 1025, expected 1 to "
       "1024"},
      {&DeviceLaunch::sharedBytes, -1,
       "shared bytes of a launch at offset 45 out of range: got -1, expected 0 "
       "to 1048576"},
      {&DeviceLaunch::tilesPerCta, 0,
       "tiles per CTA of a launch at offset 50 out of range: got 0, expected 1 "
       "to 64"},
      {&DeviceLaunch::tileRows, 1025,
       "tile rows of a launch at offset 54 out of range: got 1025, expected 0 "
       "to 1024"},
      {&DeviceLaunch::qBoxRows, 257,
       "q box rows of a launch at offset 58 out of range: got 257, expected 0 "
       "to 256"},
      {&DeviceLaunch::kvBoxRows, -5,
       "kv box rows of a launch at offset 62 out of range: got -5, expected 0 "
       "to 256"},
      {&DeviceLaunch::boxCols, 300,
       "box columns of a launch at offset 66 out of range: got 300, expected 0 "
       "to 256"},
  };
  for (const auto &wrong : cases) {
    Executable executable = {{{"k", 1, 2, sampleLaunch()}}, "b"};
    (*executable.kernels[0].launch).*wrong.field = wrong.value;
    EXPECT_EQ(readExecutable(serialize(executable)).message(), wrong.message);
  }
  Executable executable = {{{"k", 1, 2, sampleLaunch()}}, "b"};
  executable.kernels[0].launch->entry = "";
  EXPECT_EQ(readExecutable(serialize(executable)).message(),
            "entry of a launch at offset 26: got '', expected a name of a "
            "function without zero characters");
  executable.kernels[0].launch->entry = std::string("a\0b", 3);
  EXPECT_EQ(readExecutable(serialize(executable)).message(),
            "entry of a launch at offset 26: got 'a', expected a name of a "
            "function without zero characters");
  Bytes flagged = serialize(executable);
  flagged[headerBytes + 25] = 2;
  EXPECT_EQ(readExecutable(repaired(flagged)).message(),
            "presence of a launch at offset 25 is unknown: got 2, expected 0 "
            "to 1");
}

TEST(ExecutableFormat, RandomBodiesAreReadOrRefused) {
  std::mt19937 random(11);
  Bytes whole = serialize(sampleExecutable());
  int readable = 0;
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes = whole;
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes)
      bytes[headerBytes + random() % (bytes.size() - headerBytes)] =
          static_cast<uint8_t>(random() % 4);
    bytes = repaired(bytes);
    if (Expected<Executable> read = readExecutable(bytes)) {
      EXPECT_EQ(serialize(*read), bytes);
      ++readable;
    }
  }
  EXPECT_GT(readable, 100);
}

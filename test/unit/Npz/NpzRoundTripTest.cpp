//===- NpzRoundTripTest.cpp - Archives that are written and read ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "ZipBuilder.h"

using namespace sart;
using namespace sart::test;

namespace {

NpzArray arrayOf(const std::string &dtype, std::vector<int64_t> shape,
                 size_t bytes) {
  NpzArray array;
  array.dtype = dtype;
  array.shape = std::move(shape);
  array.data.resize(bytes);
  for (size_t i = 0; i < bytes; ++i)
    array.data[i] = static_cast<uint8_t>(i * 37 + 11);
  return array;
}

void expectSame(const NpzArray &a, const NpzArray &b) {
  EXPECT_EQ(a.dtype, b.dtype);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.data, b.data);
}

} // namespace

TEST(NpzRoundTrip, EveryDtypeAndRank) {
  TemporaryFolder folder;
  NpzArchive archive;
  archive["q"] = arrayOf("f4", {3, 5, 8}, 480);
  archive["half"] = arrayOf("f2", {7}, 14);
  archive["double"] = arrayOf("f8", {2, 2}, 32);
  archive["bf16"] = arrayOf("u2", {1, 9}, 18);
  archive["mask"] = arrayOf("b1", {2, 3, 4}, 24);
  archive["scalar"] = arrayOf("i4", {}, 4);
  archive["i1"] = arrayOf("i1", {5}, 5);
  archive["i2"] = arrayOf("i2", {5}, 10);
  archive["i8"] = arrayOf("i8", {1, 1, 1, 1, 2}, 16);
  archive["u1"] = arrayOf("u1", {300}, 300);
  archive["u4"] = arrayOf("u4", {3}, 12);
  archive["u8"] = arrayOf("u8", {3}, 24);
  archive["empty"] = arrayOf("f4", {4, 0, 16}, 0);
  archive["empty and huge"] = arrayOf("f8", {int64_t(1) << 59, 0}, 0);
  std::string path = folder.file("all.npz");
  Status written = writeNpz(path, archive);
  ASSERT_TRUE(written.ok()) << written.message();
  auto read = readNpz(path);
  ASSERT_TRUE(read.ok()) << read.message();
  ASSERT_EQ(read->size(), archive.size());
  for (const auto &[name, array] : archive) {
    SCOPED_TRACE(name);
    expectSame(read->at(name), array);
  }
  EXPECT_EQ(read->at("q").elements(), 120);
  EXPECT_EQ(read->at("scalar").elements(), 1);
  EXPECT_EQ(read->at("empty and huge").elements(), 0);
}

TEST(NpzRoundTrip, EmptyArchive) {
  TemporaryFolder folder;
  std::string path = folder.file("none.npz");
  ASSERT_TRUE(writeNpz(path, {}).ok());
  auto read = readNpz(path);
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_TRUE(read->empty());
}

TEST(NpzRoundTrip, SameArraysGiveTheSameBytes) {
  TemporaryFolder folder;
  NpzArchive archive;
  archive["b"] = arrayOf("f4", {16}, 64);
  archive["a"] = arrayOf("u2", {2, 3}, 12);
  std::string first = folder.file("1.npz"), second = folder.file("2.npz");
  ASSERT_TRUE(writeNpz(first, archive).ok());
  ASSERT_TRUE(writeNpz(second, archive).ok());
  EXPECT_EQ(readBytes(first), readBytes(second));
}

TEST(NpzRoundTrip, DataStandOnA64ByteBorderOfTheMember) {
  TemporaryFolder folder;
  NpzArchive archive;
  for (size_t dims = 0; dims < 20; ++dims) {
    archive.clear();
    archive["x"] = arrayOf("f4", std::vector<int64_t>(dims, 1), 4);
    std::string path = folder.file("x.npz");
    ASSERT_TRUE(writeNpz(path, archive).ok());
    std::string bytes = readBytes(path);
    size_t header = bytes.find("\x93NUMPY");
    ASSERT_NE(header, std::string::npos);
    size_t length = 10 + static_cast<uint8_t>(bytes[header + 8]) +
                    256 * static_cast<uint8_t>(bytes[header + 9]);
    EXPECT_EQ(length % 64, 0u);
    EXPECT_EQ(bytes[header + length - 1], '\n');
  }
}

TEST(NpzRoundTrip, WriterRefusesArraysThatDoNotFitThemselves) {
  TemporaryFolder folder;
  auto refusal = [&](const std::string &name, const NpzArray &array) {
    NpzArchive archive;
    archive[name] = array;
    std::string path = folder.path + "/never.npz";
    std::string message = writeNpz(path, archive).message();
    EXPECT_NE(::access(path.c_str(), F_OK), 0) << "a file was left";
    return message;
  };
  EXPECT_EQ(refusal("x", arrayOf("f4", {3}, 11)),
            "data of array 'x' does not match its shape: got 11 bytes, "
            "expected 12");
  EXPECT_EQ(refusal("x", arrayOf("c8", {3}, 24)),
            "dtype of array 'x' not supported: got 'c8', expected f2, f4, f8, "
            "b1 or an integer dtype");
  EXPECT_EQ(refusal("", arrayOf("f4", {3}, 12)),
            "name of an array out of range: got 0 characters, expected 1 to "
            "1024");
  EXPECT_NE(refusal("x", arrayOf("f4", {-3}, 12)), "");
  EXPECT_EQ(
      refusal("x", arrayOf("f4", {int64_t(1) << 40, int64_t(1) << 40}, 0)),
      "size of array 'x' out of range");
  EXPECT_EQ(
      refusal("x", arrayOf("f4", {0, int64_t(1) << 40, int64_t(1) << 40}, 0)),
      "size of array 'x' out of range");
}

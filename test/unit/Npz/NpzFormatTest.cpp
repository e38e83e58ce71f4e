//===- NpzFormatTest.cpp - Archives as others write them ------------------===//
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

const std::string data12("\0\1\2\3\4\5\6\7\10\11\12\13", 12);

std::string header(const std::string &descr, const std::string &order,
                   const std::string &shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order +
         ", 'shape': " + shape + ", }\n";
}

class NpzFormat : public ::testing::Test {
protected:
  std::string messageOf(const std::string &npy) {
    auto archive = readZip(zipOf({{"x.npy", npy}}));
    EXPECT_FALSE(archive.ok());
    return archive.message();
  }
  NpzArray arrayOf(const std::string &npy) {
    auto archive = readZip(zipOf({{"x.npy", npy}}));
    EXPECT_TRUE(archive.ok()) << archive.message();
    return archive.ok() ? archive->at("x") : NpzArray();
  }
};

} // namespace

TEST_F(NpzFormat, DeflatedAndZip64Members) {
  std::string big(100000, '\7');
  std::string npy = npyFile(header("|u1", "False", "(100000,)"), big);
  auto archive = readZip(zipOf({{"a.npy", npy, true, false},
                                {"b.npy", npy, false, true},
                                {"c.npy", npy, true, true}},
                               "a comment"));
  ASSERT_TRUE(archive.ok()) << archive.message();
  ASSERT_EQ(archive->size(), 3u);
  for (const char *name : {"a", "b", "c"})
    EXPECT_EQ(archive->at(name).data, std::vector<uint8_t>(100000, 7)) << name;
}

TEST_F(NpzFormat, HeaderVersionsAndSpellings) {
  // NumPy's own spacing, no trailing comma, other key order, Python 2 longs.
  for (const std::string &text :
       {header("<f4", "False", "(3,)"),
        std::string("{'descr':'<f4','fortran_order':False,'shape':(3,)}"),
        std::string("{\"shape\": (3L,), \"fortran_order\": False, "
                    "\"descr\": \"=f4\"}   \n")}) {
    NpzArray array = arrayOf(npyFile(text, data12));
    EXPECT_EQ(array.dtype, "f4") << text;
    EXPECT_EQ(array.shape, std::vector<int64_t>{3}) << text;
    array = arrayOf(npyFile(text, data12, 2));
    EXPECT_EQ(array.data, std::vector<uint8_t>(data12.begin(), data12.end()));
  }
}

TEST_F(NpzFormat, FortranOrderIsTransposed) {
  NpzArray array = arrayOf(npyFile(header("|i1", "True", "(3, 4)"), data12));
  EXPECT_EQ(array.shape, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(array.data,
            (std::vector<uint8_t>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
  array = arrayOf(npyFile(header("<i2", "True", "(1, 2, 3)"), data12));
  EXPECT_EQ(array.data,
            (std::vector<uint8_t>{0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11}));
  array = arrayOf(npyFile(header("<i2", "True", "(6,)"), data12));
  EXPECT_EQ(array.data, std::vector<uint8_t>(data12.begin(), data12.end()));
  array =
      arrayOf(npyFile(header("<f8", "True", "(1073741824, 536870912, 0)"), ""));
  EXPECT_TRUE(array.data.empty());
}

TEST_F(NpzFormat, RefusesWhatItCannotRead) {
  EXPECT_EQ(messageOf(npyFile(header(">f4", "False", "(3,)"), data12)),
            "member 'x.npy' at offset 0: byte order not supported: got "
            "big-endian '>f4', expected little-endian '<f4'");
  EXPECT_EQ(messageOf(npyFile(header("<c8", "False", "(3,)"), data12)),
            "member 'x.npy' at offset 0: dtype not supported: got '<c8', "
            "expected f2, f4, f8, b1 or an integer dtype (bfloat16 as u2)");
  EXPECT_EQ(messageOf(npyFile("{'descr': [('a', '<f4')], ", data12)),
            "member 'x.npy' at offset 0: dtype not supported: got a structured "
            "dtype, expected f2, f4, f8, b1 or an integer dtype");
  EXPECT_EQ(messageOf(npyFile(header("|O", "False", "(3,)"), data12)),
            "member 'x.npy' at offset 0: dtype not supported: got '|O', "
            "expected f2, f4, f8, b1 or an integer dtype (bfloat16 as u2)");
  EXPECT_EQ(messageOf(npyFile(header("<f4", "False", "(4,)"), data12)),
            "member 'x.npy' at offset 0: data of an array does not match its "
            "shape: got 12 bytes, expected 16");
  EXPECT_EQ(messageOf(npyFile(header("<f4", "False", "(2,)"), data12)),
            "member 'x.npy' at offset 0: data of an array does not match its "
            "shape: got 12 bytes, expected 8");
  EXPECT_EQ(messageOf(npyFile(
                header("<f4", "False", "(4611686018427387904, 16)"), data12)),
            "member 'x.npy' at offset 0: size of an array out of range: "
            "expected below 2^63 bytes");
  EXPECT_EQ(
      messageOf(npyFile(
          header("<f4", "False", "(0, 1099511627776, 1099511627776)"), "")),
      "member 'x.npy' at offset 0: size of an array out of range: "
      "expected below 2^63 bytes");
  EXPECT_EQ(messageOf(npyFile(header("<f4", "False", "(99999999999999999999,)"),
                              data12)),
            "member 'x.npy' at offset 0: size of an array out of range: "
            "expected below 2^63");
  EXPECT_EQ(messageOf(npyFile(header("<f4", "None", "(3,)"), data12)),
            "member 'x.npy' at offset 0: npy header malformed at character "
            "34: got 'N', expected True or False");
  EXPECT_EQ(messageOf(npyFile("{'descr': '<f4', 'descr': '<f4'}", data12)),
            "member 'x.npy' at offset 0: key of an npy header stands twice: "
            "got 'descr', expected descr, fortran_order and shape");
  EXPECT_EQ(messageOf(npyFile("{'descr': '<f4'}", data12)),
            "member 'x.npy' at offset 0: npy header not complete: expected "
            "descr, fortran_order and shape");
  EXPECT_EQ(messageOf(npyFile(header("<f4", "False", "(-3,)"), data12)),
            "member 'x.npy' at offset 0: npy header malformed at character "
            "51: got '-', expected a size");
  EXPECT_EQ(messageOf(npyFile(header("<f4", "False", "(3,)"), data12, 4)),
            "member 'x.npy' at offset 0: npy version not supported: got 4, "
            "expected 1 to 3");
  EXPECT_EQ(messageOf("no array at all"),
            "member 'x.npy' at offset 0: npy magic missing: got 15 bytes "
            "without it, expected an array that NumPy saved");
}

TEST_F(NpzFormat, RefusesOddMembers) {
  std::string npy = npyFile(header("<f4", "False", "(3,)"), data12);
  auto refusal = [&](const std::vector<ZipMember> &members) {
    auto archive = readZip(zipOf(members));
    EXPECT_FALSE(archive.ok());
    return archive.message();
  };
  EXPECT_EQ(refusal({{"x.txt", npy}}),
            "member 'x.txt' at offset 0: is no array: expected a name that "
            "ends in .npy");
  EXPECT_EQ(refusal({{".npy", npy}}),
            "member '.npy' at offset 0: is no array: expected a name that ends "
            "in .npy");
  EXPECT_EQ(refusal({{"x.npy", npy}, {"x.npy", npy}}),
            "member 'x.npy' at offset 115: stands twice in the archive");
  EXPECT_EQ(refusal({{"x.npy", npy, false, false, 12}}),
            "member 'x.npy' at offset 0: compression not supported: got method "
            "12, expected stored or deflated");
  EXPECT_EQ(refusal({{"x.npy", npy, false, false, 0xFFFF, 1}}),
            "member 'x.npy' at offset 0: is encrypted: expected a plain "
            "archive");
}

TEST_F(NpzFormat, RefusesWrongChecksums) {
  std::string npy = npyFile(header("<f4", "False", "(3,)"), data12);
  for (bool deflated : {false, true}) {
    std::string bytes = zipOf({{"x.npy", npy, deflated}});
    size_t field = bytes.rfind("PK\1\2") + 16;
    bytes[field] = static_cast<char>(bytes[field] ^ 1);
    auto archive = readZip(bytes);
    ASSERT_FALSE(archive.ok());
    EXPECT_NE(archive.message().find("checksum does not match: got "),
              std::string::npos)
        << archive.message();
  }
}

TEST_F(NpzFormat, RefusesSizesThatTheFileCannotJustify) {
  // The directory says 2 GB from a few bytes: refused before any allocation.
  std::string npy = npyFile(header("|u1", "False", "(12,)"), data12);
  std::string bytes = zipOf({{"x.npy", npy, true}});
  size_t field = bytes.rfind("PK\1\2") + 24;
  for (size_t i = 0; i < 4; ++i)
    bytes[field + i] = static_cast<char>(i == 3 ? 0x7F : 0xFF);
  auto archive = readZip(bytes);
  ASSERT_FALSE(archive.ok());
  EXPECT_NE(archive.message().find("size out of range: got 2147483647 bytes"),
            std::string::npos)
      << archive.message();
}

TEST_F(NpzFormat, NamesTheFileOfAnError) {
  TemporaryFolder folder;
  std::string path = folder.file("damaged.npz");
  writeBytes(path, "PK");
  EXPECT_EQ(readNpz(path).message(),
            "file '" + path +
                "': archive truncated: got 2 bytes, expected at least 22");
}

TEST_F(NpzFormat, NamesFilesThatCannotBeRead) {
  TemporaryFolder folder;
  auto missing = readNpz(folder.path + "/none.npz");
  EXPECT_EQ(missing.message(), "file '" + folder.path +
                                   "/none.npz' cannot be read: got 'No such "
                                   "file or directory', expected a NumPy "
                                   "archive");
  EXPECT_EQ(readNpz(folder.path).message(),
            "file '" + folder.path +
                "' cannot be read: got 'not a regular file', expected a NumPy "
                "archive");
}

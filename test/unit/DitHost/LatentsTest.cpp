//===- LatentsTest.cpp - Reading, standardising and cropping latents ------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Latents.h"

#include "Support.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>
#include <fstream>

using namespace dit;

namespace {

/// An .npy file of these bytes that goes away with the test.
class File {
public:
  explicit File(const std::string &bytes)
      : path(testing::TempDir() + "latents-" +
             testing::UnitTest::GetInstance()->current_test_info()->name() +
             ".npy") {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ~File() { std::remove(path.c_str()); }
  const std::string path;
};

std::string npy(const std::string &type, const std::string &shape,
                const std::string &data, const char *fortran = "False") {
  std::string header = "{'descr': '" + type + "', 'fortran_order': " + fortran +
                       ", 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += std::string("\1\0", 2);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + data;
}

/// Channel c of token i is c * 100 + i.
std::string numbers(int64_t tokens) {
  std::string data;
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < tokens; ++i) {
      float value = static_cast<float>(c * 100 + i);
      data.append(reinterpret_cast<const char *>(&value), 4);
    }
  return data;
}

std::string errorOf(const std::string &bytes) {
  File file(bytes);
  try {
    readLatents(file.path);
  } catch (const Error &error) {
    std::string text = error.what();
    size_t at = text.find(file.path);
    return at == std::string::npos ? text
                                   : text.replace(at, file.path.size(), "F");
  }
  return "";
}

TEST(ReadLatents, StandardisesEveryChannel) {
  File file(npy("<f4", "(16, 1, 2, 3)", numbers(6)));
  Latents latents = readLatents(file.path);
  EXPECT_EQ(latents.grid, (std::array<int64_t, 3>{1, 2, 3}));
  double deviation = std::sqrt(35.0 / 12); // of 0 to 5
  for (int64_t c = 0; c < channels; ++c) {
    EXPECT_FLOAT_EQ(latents.mean[c], c * 100 + 2.5f);
    EXPECT_FLOAT_EQ(latents.deviation[c], float(deviation));
    for (int64_t i = 0; i < 6; ++i)
      EXPECT_NEAR(latents.values[i * channels + c], (i - 2.5) / deviation,
                  1e-6);
  }
}

TEST(ReadLatents, TakesHalfPrecision) {
  std::string data;
  for (int64_t i = 0; i < channels; ++i)
    data += std::string("\x00\x3c", 2); // 1.0
  File file(npy("<f2", "(16, 1, 1, 1)", data));
  Latents latents = readLatents(file.path);
  EXPECT_EQ(latents.mean[3], 1.0f);
  EXPECT_EQ(latents.values[3], 0.0f) << "a channel without content";
}

TEST(ReadLatents, RefusesWhatItCannotUse) {
  std::string good = npy("<f4", "(16, 1, 2, 3)", numbers(6));
  EXPECT_EQ(errorOf("PNG"), "start of 'F': got other bytes, expected those of "
                            "an .npy file");
  EXPECT_EQ(errorOf(good.substr(0, 40)), "header of 'F': got 30, expected 118");
  EXPECT_EQ(errorOf(good.substr(0, good.size() - 1)),
            "bytes of the array in 'F': got 383, expected 384");
  EXPECT_EQ(errorOf(good + "x"),
            "bytes of the array in 'F': got 385, expected 384");
  EXPECT_EQ(errorOf(npy("<f8", "(16, 1, 2, 3)", "")),
            "element type of 'F': got '<f8', expected <f2 or <f4");
  EXPECT_EQ(errorOf(npy("<f4", "(16, 1, 2, 3)", "", "True")),
            "order of 'F': got columns first, expected rows first");
  EXPECT_EQ(errorOf(npy("<f4", "(8, 1, 2, 3)", "")),
            "shape of 'F': got [8, 1, 2, 3], expected [16, T, H, W]");
  EXPECT_EQ(errorOf(npy("<f4", "(16, 6)", "")),
            "shape of 'F': got [16, 6], expected [16, T, H, W]");
  EXPECT_EQ(errorOf(npy("<f4", "(16, 0, 2, 3)", "")),
            "shape of 'F': got [16, 0, 2, 3], expected [16, T, H, W]");
  EXPECT_EQ(errorOf(npy("<f4", "(16, 2048, 2048, 2048)", "")),
            "tokens of 'F': got [16, 2048, 2048, 2048], expected at most "
            "1048576");
  EXPECT_EQ(errorOf(npy("<f4", "(16, 99999999999999999999, 2, 3)", "")),
            "shape of 'F': got [16], expected [16, T, H, W]");
  std::string bad = numbers(6);
  bad.replace(40, 4, std::string("\x00\x00\xc0\x7f", 4));
  EXPECT_EQ(errorOf(npy("<f4", "(16, 1, 2, 3)", bad)),
            "element 10 of 'F': got nan, expected a finite number");
  EXPECT_THROW(readLatents(testing::TempDir() + "no/such/file.npy"), Error);
  EXPECT_THROW(readLatents(testing::TempDir()), Error);
}

TEST(CropLatents, TakesTheMiddle) {
  Latents latents;
  latents.grid = {3, 4, 5};
  for (int64_t i = 0; i < 60 * channels; ++i)
    latents.values.push_back(static_cast<float>(i));
  Latents part = cropLatents(latents, {1, 2, 3});
  ASSERT_EQ(part.values.size(), size_t(6 * channels));
  EXPECT_EQ(part.values[0], ((1 * 4 + 1) * 5 + 1) * channels);
  EXPECT_EQ(part.values[3 * channels], ((1 * 4 + 2) * 5 + 1) * channels);
  EXPECT_EQ(cropLatents(latents, latents.grid).values, latents.values);
  EXPECT_THROW(cropLatents(latents, {3, 4, 6}), Error);
}

} // namespace

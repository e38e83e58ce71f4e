//===- NpzDamageTest.cpp - Truncated and changed archives -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every damage is refused or gives the same arrays; none crashes. Run with the
// address sanitizer, reads outside the file are found too.
//
//===----------------------------------------------------------------------===//
#include "ZipBuilder.h"

#include <random>

using namespace sart;
using namespace sart::test;

namespace {

std::string smallArchive(bool zip64) {
  std::string data(96, '\0');
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<char>(i % 17);
  std::string q = npyFile("{'descr': '<f4', 'fortran_order': False, "
                          "'shape': (2, 3, 4), }\n",
                          data);
  std::string mask = npyFile("{'descr': '|b1', 'fortran_order': True, "
                             "'shape': (8, 12), }\n",
                             data);
  return zipOf({{"q.npy", q, false, zip64}, {"mask.npy", mask, true, zip64}});
}

bool same(const NpzArchive &a, const NpzArchive &b) {
  if (a.size() != b.size())
    return false;
  for (const auto &[name, array] : a) {
    auto other = b.find(name);
    if (other == b.end() || other->second.dtype != array.dtype ||
        other->second.shape != array.shape || other->second.data != array.data)
      return false;
  }
  return true;
}

} // namespace

TEST(NpzDamage, EveryTruncationIsRefused) {
  for (bool zip64 : {false, true}) {
    std::string bytes = smallArchive(zip64);
    ASSERT_TRUE(readZip(bytes).ok());
    for (size_t size = 0; size < bytes.size(); ++size) {
      auto archive = readZip(bytes.substr(0, size));
      EXPECT_FALSE(archive.ok()) << "truncated to " << size;
      EXPECT_NE(archive.message(), "");
    }
  }
}

TEST(NpzDamage, EverySingleByteChangeIsRefusedOrHarmless) {
  std::string bytes = smallArchive(false);
  auto original = readZip(bytes);
  ASSERT_TRUE(original.ok());
  int refused = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int flip : {0x01, 0x80, 0xFF}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      auto archive = readZip(changed);
      refused += !archive.ok();
      // Names are outside every checksum, but stand in two places.
      if (archive.ok())
        EXPECT_TRUE(same(*archive, *original)) << "byte " << at;
    }
  }
  // Times and versions are not looked at; all else is.
  EXPECT_GT(refused, static_cast<int>(bytes.size()) * 2);
}

TEST(NpzDamage, RandomChangesNeverCrash) {
  std::mt19937 random(7);
  for (bool zip64 : {false, true}) {
    std::string bytes = smallArchive(zip64);
    auto original = readZip(bytes);
    ASSERT_TRUE(original.ok());
    for (int round = 0; round < 20000; ++round) {
      std::string changed = bytes;
      int changes = 1 + static_cast<int>(random() % 6);
      for (int i = 0; i < changes; ++i) {
        size_t at = random() % changed.size();
        switch (random() % 4) {
        case 0:
          changed[at] = static_cast<char>(random());
          break;
        case 1:
          changed.erase(at, 1 + random() % 8);
          break;
        case 2:
          changed.insert(at, std::string(1 + random() % 8, '\xFF'));
          break;
        default:
          // Sizes and offsets at their limits.
          for (size_t j = at; j < std::min(at + 4, changed.size()); ++j)
            changed[j] = '\xFF';
          break;
        }
        if (changed.empty())
          break;
      }
      auto archive = readZip(changed);
      if (archive.ok() && changed.size() == bytes.size())
        EXPECT_TRUE(same(*archive, *original)) << "round " << round;
    }
  }
}

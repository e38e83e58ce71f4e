//===- SerializationTest.cpp - Programs to bytes and back -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramTestSupport.h"

#include <random>

using namespace sart;
using namespace sart::test;

namespace {

constexpr size_t headerBytes = 16;

Expected<Program> readBack(const std::vector<uint8_t> &bytes) {
  // An exact copy on the heap, so that a sanitizer sees every byte outside.
  std::vector<uint8_t> exact(bytes);
  exact.shrink_to_fit();
  return deserialize(exact.data(), exact.size());
}

/// Makes the header's hash fit the body again.
void repairHash(std::vector<uint8_t> &bytes) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (size_t i = headerBytes; i < bytes.size(); ++i)
    hash = (hash ^ bytes[i]) * 0x100000001b3ull;
  for (size_t i = 0; i < 8; ++i)
    bytes[8 + i] = static_cast<uint8_t>(hash >> (8 * i));
}

/// Programs with every field away from its default.
std::vector<Program> samples() {
  TemplateOptions options;
  options.policy.kind = RoutingPolicy::Kind::TopK;
  options.policy.p = 0.75f;
  options.policy.k = 3;
  options.policy.minBlocks = 2;
  options.policy.windowBlocks = 5;
  options.policy.keep = {{0, 1}, {3, 4}};
  options.planner.augment = true;
  options.planner.k1Milli = options.planner.k2Milli = 1000;
  options.planner.n1Milli = 700;
  options.planner.cost = {2, 3, 5, 7, 11};
  options.scale = 0.3f;
  options.outDtype = DType::F32;
  Placement placement = makePlacement(2, 2, 5, 5, 200, 180);
  placement.shape.causal = true;
  placement.shape.dtype = DType::BF16;
  Program named = templateOf(placement, options);
  named.name = "layer \"7\"\n\xff";
  return {named, boundOf(placement, maskFor(placement, 0.4, 9), options),
          swapProgram(), ringProgram()};
}

TEST(Serialization, RoundTripKeepsEverything) {
  for (const Program &program : samples()) {
    std::vector<uint8_t> bytes = serialize(program);
    Expected<Program> read = readBack(bytes);
    ASSERT_TRUE(read.ok()) << read.message();
    EXPECT_EQ(serialize(*read), bytes);
    EXPECT_EQ(contentHash(*read), contentHash(program));
    EXPECT_EQ(read->name, program.name);
    EXPECT_EQ(read->bound, program.bound);
    EXPECT_EQ(read->mask.has_value(), program.mask.has_value());
    if (program.mask)
      EXPECT_TRUE(*read->mask == *program.mask);
    EXPECT_EQ(read->policy.kind, program.policy.kind);
    EXPECT_EQ(read->policy.p, program.policy.p);
    EXPECT_EQ(read->policy.keep, program.policy.keep);
    EXPECT_EQ(read->planner.cost.scheduleNs, program.planner.cost.scheduleNs);
    EXPECT_EQ(read->placement.shape.dtype, program.placement.shape.dtype);
    EXPECT_EQ(read->statics.values, program.statics.values);
    EXPECT_EQ(
        textOf(program.bound ? validateBound(*read) : validateTemplate(*read)),
        "");
  }
}

TEST(Serialization, HashDependsOnContent) {
  Program program = swapProgram();
  uint64_t hash = contentHash(program);
  at(program, 1, 3).phase += 1;
  EXPECT_NE(contentHash(program), hash);
  at(program, 1, 3).phase -= 1;
  EXPECT_EQ(contentHash(program), hash);
  program.scale *= 2;
  EXPECT_NE(contentHash(program), hash);
}

TEST(Serialization, FormatIsStable) {
  // Bytes that are stored somewhere stay readable: a change of the format needs
  // a new version.
  std::vector<uint8_t> bytes = serialize(ringProgram());
  EXPECT_EQ(std::string(bytes.begin(), bytes.begin() + 6), "SAPROG");
  EXPECT_EQ(bytes[6], 2);
  EXPECT_EQ(bytes[7], 0);
  EXPECT_EQ(bytes.size(), 5765u);
  EXPECT_EQ(contentHash(ringProgram()), 8608992088100863520u);
}

TEST(Serialization, EveryTruncationIsRefused) {
  for (const Program &program :
       {ringProgram(), templateOf(makePlacement(1, 2, 2, 1, 64, 64))}) {
    std::vector<uint8_t> bytes = serialize(program);
    for (size_t size = 0; size < bytes.size(); ++size) {
      std::vector<uint8_t> cut(
          bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(readBack(cut).ok()) << size;
      if (size < headerBytes)
        continue;
      // Also where the hash does not give it away.
      repairHash(cut);
      EXPECT_FALSE(readBack(cut).ok()) << size;
    }
  }
}

TEST(Serialization, WindowsWhoseBytesDoNotFit) {
  Program program = swapProgram();
  program.windows[1].rowElements = 0x6b5f6c6f6f700020;
  program.windows[1].rows = 0;
  Expected<Program> read = readBack(serialize(program));
  EXPECT_EQ(read.message(),
            "window at offset 246: size of window k_shard out of range: got "
            "2x0x7737021910712582176, expected 1 to 4194304 slots and at most "
            "70368744177664 bytes");
}

TEST(Serialization, ChangedBytesAreRefusedOrReadWhole) {
  std::mt19937_64 random(2026);
  size_t accepted = 0, valid = 0;
  for (const Program &program : samples()) {
    std::vector<uint8_t> bytes = serialize(program);
    for (int i = 0; i < 1250; ++i) {
      std::vector<uint8_t> changed = bytes;
      size_t at = headerBytes + random() % (bytes.size() - headerBytes);
      changed[at] ^= static_cast<uint8_t>(1 + random() % 255);
      EXPECT_FALSE(readBack(changed).ok()) << at;
      repairHash(changed);
      Expected<Program> read = readBack(changed);
      if (!read)
        continue;
      ++accepted;
      EXPECT_EQ(serialize(*read), changed);
      // What can be read can be judged.
      valid += validate(*read).ok();
      if (read->bound)
        (void)contentHash(*read);
    }
  }
  EXPECT_GT(accepted, 500u);
  EXPECT_LT(valid, accepted);
}

std::string messageFor(const std::vector<uint8_t> &bytes) {
  return readBack(bytes).message();
}

TEST(Serialization, Messages) {
  std::vector<uint8_t> bytes = serialize(ringProgram());
  EXPECT_EQ(messageFor({}), "program magic differs: got no bytes, expected "
                            "53 41 50 52 4f 47 (\"SAPROG\")");
  EXPECT_EQ(messageFor({'S', 'A', 'P', 'R', 'O', 'G', 1}),
            "program header truncated: got 7 bytes, expected at least 16");
  std::vector<uint8_t> changed = bytes;
  changed[0] = 'X';
  EXPECT_EQ(messageFor(changed),
            "program magic differs: got 58 41 50 52 4f 47, expected "
            "53 41 50 52 4f 47 (\"SAPROG\")");
  changed = bytes;
  changed[6] = 7;
  EXPECT_EQ(messageFor(changed),
            "program version is not supported: got 7, expected 2");
  changed = bytes;
  changed[20] ^= 1;
  EXPECT_NE(messageFor(changed).find("program hash differs: got 0x"),
            std::string::npos);
  changed = bytes;
  changed.push_back(0);
  repairHash(changed);
  EXPECT_EQ(messageFor(changed),
            "program has trailing bytes: got 1, expected 0");
  // The length of the name.
  changed = bytes;
  changed[headerBytes + 3] = 0x7f;
  repairHash(changed);
  EXPECT_EQ(messageFor(changed),
            "number of name characters at offset 0 exceeds the input: got "
            "2130706437, expected at most 5745");
  // The causal flag, after the name, the mesh and seven sizes.
  changed = bytes;
  changed[headerBytes + 4 + 5 + 9 * 8] = 2;
  repairHash(changed);
  EXPECT_EQ(messageFor(changed),
            "causal flag at offset 81 is unknown: got 2, expected 0 to 1");
}

} // namespace

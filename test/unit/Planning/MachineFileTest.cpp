//===- MachineFileTest.cpp - Machines as JSON -----------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MachineTestSupport.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

using namespace sart;
using namespace sart::test;

namespace {

/// The file of islands() with `from` in place of `to`; the first one.
std::string edited(const std::string &from, const std::string &to) {
  std::string text = islands().text();
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string messageOf(const std::string &text) {
  return Machine::parse(text).message();
}

void expectSame(const MachineNumber &a, const MachineNumber &b) {
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.source, b.source);
}

void expectSame(const Machine &a, const Machine &b) {
  EXPECT_EQ(a.name, b.name);
  ASSERT_EQ(a.sources.size(), b.sources.size());
  for (size_t i = 0; i < a.sources.size(); ++i) {
    EXPECT_EQ(a.sources[i].name, b.sources[i].name);
    EXPECT_EQ(a.sources[i].evidence, b.sources[i].evidence);
    EXPECT_EQ(a.sources[i].text, b.sources[i].text);
  }
  EXPECT_EQ(a.device.name, b.device.name);
  EXPECT_EQ(a.device.ranks, b.device.ranks);
  expectSame(a.device.multiprocessors, b.device.multiprocessors);
  expectSame(a.device.memoryBytesPerS, b.device.memoryBytesPerS);
  expectSame(a.device.launchPs, b.device.launchPs);
  expectSame(a.device.scorePs, b.device.scorePs);
  ASSERT_EQ(a.device.kernels.size(), b.device.kernels.size());
  for (size_t i = 0; i < a.device.kernels.size(); ++i) {
    const MachineKernel &x = a.device.kernels[i], &y = b.device.kernels[i];
    EXPECT_EQ(x.dtype, y.dtype);
    EXPECT_EQ(x.blockQ, y.blockQ);
    EXPECT_EQ(x.blockK, y.blockK);
    EXPECT_EQ(x.headDim, y.headDim);
    expectSame(x.tilePs, y.tilePs);
    expectSame(x.rowPs, y.rowPs);
  }
  expectSame(a.planPs, b.planPs);
  expectSame(a.syncPs, b.syncPs);
  EXPECT_EQ(a.portPerLink, b.portPerLink);
  ASSERT_EQ(a.links.size(), b.links.size());
  for (size_t i = 0; i < a.links.size(); ++i) {
    EXPECT_EQ(a.links[i].name, b.links[i].name);
    EXPECT_EQ(a.links[i].ranks, b.links[i].ranks);
    expectSame(a.links[i].bytesPerS, b.links[i].bytesPerS);
    expectSame(a.links[i].latencyPs, b.links[i].latencyPs);
  }
}

TEST(MachineFile, ReadsWhatItWrites) {
  Machine machine = islands();
  machine.sources.push_back({"other", Evidence::Measured, "a \"run\""});
  machine.device.kernels[0].tilePs = {13001, 1};
  machine.links[1].bytesPerS.value = 12500000000;
  machine.portPerLink = true;
  Expected<Machine> read = Machine::parse(machine.text());
  ASSERT_TRUE(read.ok()) << read.message();
  expectSame(machine, *read);
  EXPECT_EQ(read->text(), machine.text());
}

TEST(MachineFile, UnitsOfTheFile) {
  Expected<Machine> read =
      Machine::parse(edited("\"value\": 5,", "\"value\": 0.0000015,"));
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(read->device.launchPs.value, 2); // 1.5 ps
}

TEST(MachineFile, ThatComeAlong) {
  std::set<std::string> names;
  for (const auto &entry :
       std::filesystem::directory_iterator(SPARSEATTN_MACHINES)) {
    if (entry.path().extension() != ".json")
      continue;
    SCOPED_TRACE(entry.path().filename().string());
    names.insert(entry.path().stem().string());
    std::ifstream stream(entry.path());
    std::string text((std::istreambuf_iterator<char>(stream)), {});
    Expected<Machine> read = Machine::parse(text);
    ASSERT_TRUE(read.ok()) << read.message();
    Expected<Machine> again = Machine::parse(read->text());
    ASSERT_TRUE(again.ok()) << again.message();
    expectSame(*read, *again);
  }
  for (const char *name : {"a100x8-pcie", "cpu", "h200x32", "h200x512",
                           "h200x8", "h200x8-islands"})
    EXPECT_EQ(names.count(name), 1u) << name;
}

TEST(MachineFile, RefusesWhatIsNoJson) {
  EXPECT_EQ(messageOf(""), "line 1: got no JSON, expected JSON");
  EXPECT_EQ(messageOf("{\n\"a\": 1,\n}"), "line 3: got no JSON, expected JSON");
  EXPECT_EQ(messageOf(islands().text() + "x"),
            "line 101: got no JSON, expected JSON");
  EXPECT_EQ(messageOf(std::string(100, '[')),
            "depth: got more than 64, expected less");
  EXPECT_EQ(messageOf("{\"a\": 1, \"a\": 2}"),
            "member 'a': got it twice, expected it once");
  EXPECT_EQ(messageOf(std::string((1 << 20) + 1, ' ')),
            "bytes of the file: got 1048577, expected at most 1048576");
  std::string many = "{";
  for (int i = 0; i < 1100; ++i)
    many += concat("\"", i, "\": 0,");
  EXPECT_EQ(messageOf(many),
            "members: got more than 1024 in one object, expected less");
}

TEST(MachineFile, RefusesOtherMembers) {
  EXPECT_EQ(messageOf("[]"), "file: got [], expected an object");
  EXPECT_EQ(messageOf(edited("\"planning_us\"", "\"planing_us\"")),
            "member of file: got 'planing_us', expected format, version, name, "
            "sources, device, planning_us, sync_us, ports, links");
  EXPECT_EQ(messageOf(edited("\"head_dim\": 128,", "")),
            "device.kernels[0].head_dim: got none, expected one");
  EXPECT_EQ(messageOf(edited("sparseattn machine", "machine")),
            "format: got \"machine\", expected \"sparseattn machine\"");
  EXPECT_EQ(messageOf(edited("\"version\": 1", "\"version\": 2")),
            "version: got 2, expected 1");
  EXPECT_EQ(messageOf(edited("\"ports\": \"one\"", "\"ports\": \"two\"")),
            "ports: got \"two\", expected \"one\" or \"one per link\"");
}

TEST(MachineFile, RefusesValues) {
  EXPECT_EQ(messageOf(edited("\"two islands\"", "7")),
            "name: got 7, expected a text");
  EXPECT_EQ(messageOf(edited("\"value\": 5,", "\"value\": -5,")),
            "device.launch_us.value: got -5, expected a number from 0 to "
            "1e+07");
  EXPECT_EQ(messageOf(edited("\"value\": 5,", "\"value\": \"5\",")),
            "device.launch_us.value: got \"5\", expected a number from 0 to "
            "1e+07");
  EXPECT_EQ(messageOf(edited("\"value\": 400,", "\"value\": 1e400,")),
            "line 79: got no JSON, expected JSON");
  EXPECT_EQ(messageOf(edited("\"source\": \"test\"", "\"source\": \"best\"")),
            "device.multiprocessors.source: got 'best', expected a member of "
            "sources");
  EXPECT_EQ(messageOf(edited("\"assumed\"", "\"guessed\"")),
            "sources.test.mark: got 'guessed', expected measured, datasheet, "
            "published or assumed");
  EXPECT_EQ(messageOf(edited("\"bf16\"", "\"bf17\"")).substr(0, 25),
            "device.kernels[0].dtype: ");
  EXPECT_EQ(messageOf(edited("\"head_dim\": 128", "\"head_dim\": 128.5")),
            "device.kernels[0].head_dim: got 128.5, expected an integer from "
            "32 to 256");
  EXPECT_EQ(
      messageOf(edited("\"ranks\": 4", "\"ranks\": 18446744073709551615")),
      "links[0].ranks: got 18446744073709551615, expected an integer "
      "from 2 to 1024");
  EXPECT_EQ(messageOf(edited("\"ranks\": 8", "\"ranks\": 9")),
            "links[1].ranks: got 9, expected a multiple of 4 from 8 to 1024");
}

} // namespace

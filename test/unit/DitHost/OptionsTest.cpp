//===- OptionsTest.cpp - The command line of the host ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Options.h"

#include "LayerText.h"
#include "Support.h"

#include "gtest/gtest.h"

#include <vector>

using namespace dit;

namespace {

Options parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "host");
  std::vector<char *> pointers;
  for (std::string &argument : arguments)
    pointers.push_back(argument.data());
  Options options;
  std::string help;
  parseOptions(static_cast<int>(pointers.size()), pointers.data(), options,
               help);
  return options;
}

std::string errorOf(std::vector<std::string> arguments) {
  try {
    parse(std::move(arguments));
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Options, HaveTheDocumentedDefaults) {
  Options options = parse({});
  EXPECT_EQ(options.out, "build/quickstart");
  EXPECT_EQ(options.ranks, 4);
  EXPECT_EQ(options.ulysses, 4);
  EXPECT_EQ(options.p, 0.9);
  EXPECT_EQ(options.order, "hilbert");
  EXPECT_EQ(options.check, Check::Sample);
}

TEST(Options, MeshMultipliesToTheRanks) {
  EXPECT_EQ(parse({"--ranks", "6"}).ulysses, 6);
  Options options = parse({"--mesh=ring=3,ulysses=2"});
  EXPECT_EQ(options.ranks, 6);
  EXPECT_EQ(options.ring, 3);
  EXPECT_EQ(parse({"--mesh", "ring=2"}).ulysses, 1);
  EXPECT_EQ(errorOf({"--mesh", "ulysses=2,ring=3", "--ranks", "4"}),
            "--mesh ulysses=2,ring=3 must multiply to --ranks: got 6, expected "
            "4");
  EXPECT_EQ(errorOf({"--mesh", "ulysses=16,ring=16"}),
            "ranks of --mesh ulysses=16,ring=16: got 256, expected at most 64");
  EXPECT_EQ(errorOf({"--mesh", "rows=2"}),
            "--mesh: got 'rows=2', expected ulysses=U,ring=R");
  EXPECT_EQ(errorOf({"--mesh", "ring=2,ring=2"}),
            "--mesh: got 'ring=2,ring=2', expected each axis once");
}

TEST(Options, RefuseWhatIsMalformed) {
  EXPECT_EQ(errorOf({"--ranks", "0"}),
            "--ranks: got '0', expected an integer from 1 to 64");
  EXPECT_EQ(errorOf({"--steps", "4x"}),
            "--steps: got '4x', expected an integer from 1 to 1000");
  EXPECT_EQ(errorOf({"--p", "nan"}),
            "--p: got 'nan', expected a number above 0 and at most 1");
  EXPECT_EQ(errorOf({"--sigma", "1"}),
            "--sigma: got '1', expected a number above 0 and below 1");
  EXPECT_EQ(errorOf({"--block", "128"}),
            "--block: got '128', expected QxK, for example 128x128");
  EXPECT_EQ(errorOf({"--dtype", "int8"}),
            "--dtype: got 'int8', expected one of fp32, bf16, fp16");
  EXPECT_EQ(errorOf({"--out"}), "--out: got no value, expected one after it");
  EXPECT_EQ(errorOf({"--check=all"}),
            "--check: got 'all', expected full, or no value");
  EXPECT_EQ(errorOf({"--threads", "0"}),
            "--threads: got '0', expected an integer from 1 to 1024");
  EXPECT_EQ(errorOf({"--check", "--no-check"}),
            "--check: got it with --no-check, expected one of them");
  EXPECT_EQ(errorOf({"--no-check", "--check=full"}),
            "--check: got it with --no-check, expected one of them");
  EXPECT_EQ(errorOf({"--ranks", "2", "--ranks=2"}),
            "--ranks: got it twice, expected once");
  EXPECT_EQ(errorOf({"--dense", "--dense"}),
            "--dense: got it twice, expected once");
  EXPECT_EQ(errorOf({"extra"}),
            "option: got 'extra', expected one that --help lists");
}

TEST(Options, DenseIsDenseAtEveryStep) {
  EXPECT_EQ(parse({"--dense", "--steps", "7"}).denseSteps, 7);
  EXPECT_EQ(parse({"--check=full"}).check, Check::Full);
  EXPECT_EQ(parse({"--no-check"}).check, Check::None);
  EXPECT_EQ(parse({"--cache-dir", "/c/x"}).cacheDir, "/c/x");
  EXPECT_EQ(parse({"--cache-dir="}).cacheDir, "");
  EXPECT_EQ(parse({"--cache-dir=none"}).cacheDir, "");
  EXPECT_EQ(parse({}).cacheDir, "default");
}

TEST(Options, ReadOrders) {
  EXPECT_EQ(parse({"--order", "stripes"}).order, "stripes");
  Options options = parse({"--order", "tiles<t=2,h=4>"});
  EXPECT_EQ(options.tiles, (std::array<int64_t, 2>{2, 4}));
  EXPECT_NE(makeLayerText(options, {3, 10, 16})
                .find("order = <tiles, tiles = [2, 4], grid = [3, 10, 16]>"),
            std::string::npos);
  EXPECT_EQ(errorOf({"--order", "tiles"}),
            "--order: got 'tiles', expected one of raster, cubes, hilbert, "
            "stripes, tiles<t=N,h=N>");
  EXPECT_EQ(errorOf({"--order", "tiles<t=2,h=0>"}),
            "--order h: got '0', expected an integer from 1 to 64");
}

TEST(LayerText, NamesShapesOrderAndPolicy) {
  Options options = parse({"--heads", "7", "--block", "64x32", "--p", "1"});
  std::string text = makeLayerText(options, {3, 10, 16});
  for (const char *part :
       {"tensor<7x480x128xf32>", "mask<7x8x15, block = 64x32, tokens = 480x480",
        "order = <hilbert, grid = [3, 10, 16]>",
        "top_p<p = 1.000000000000, min_blocks = 12>", "scale 0.088388347648"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

} // namespace

//===- MachineTest.cpp - Costs, choices and predictions -------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"

#include <fstream>

using namespace capi_test;

namespace {

std::string machineText(const char *name = "h200x8") {
  std::ifstream stream(std::string(SPARSEATTN_MACHINES "/") + name + ".json");
  return std::string((std::istreambuf_iterator<char>(stream)), {});
}

struct Machines : testing::Test {
  Machines() {
    options.struct_size = sizeof options;
    options.machine = machine.data();
    options.machine_size = machine.size();
  }
  std::string choice(sa_layer *layer) {
    const char *text = nullptr;
    size_t length = 0;
    EXPECT_EQ(sa_layer_get_choice(layer, &text, &length), SA_OK);
    return std::string(text, length);
  }
  std::string error() {
    return layerError(sharedEngine("cpu"), routedText(shape), options);
  }
  std::string machine = machineText();
  sa_layer_options options = {};
  Shape shape;
};

} // namespace

TEST_F(Machines, ChoosesAMesh) {
  options.auto_ranks = 4;
  Layer layer = makeLayer(sharedEngine("cpu"), routedText(shape), options);
  ASSERT_TRUE(layer);
  std::string text = choice(layer.get());
  EXPECT_NE(text.find("candidates\n  ulysses=4,ring=1, balance none: "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" <- chosen\n"), std::string::npos) << text;
  sa_layer_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(sa_layer_get_info(layer.get(), &info), SA_OK);
  EXPECT_EQ(info.ranks, 4);
}

TEST_F(Machines, NothingOpenNothingChosen) {
  options.ulysses = 2;
  Layer layer = makeLayer(sharedEngine("cpu"), routedText(shape), options);
  ASSERT_TRUE(layer);
  EXPECT_EQ(choice(layer.get()), "");
}

TEST_F(Machines, Predicts) {
  options.ulysses = 2;
  Layer layer = makeLayer(sharedEngine("cpu"), routedText(shape), options);
  ASSERT_TRUE(layer);
  const char *text = nullptr;
  size_t length = 0;
  EXPECT_EQ(sa_layer_predict(layer.get(), machine.data(), machine.size(), &text,
                             &length),
            SA_ERROR);
  EXPECT_STREQ(sa_last_error(),
               "layer: got no finished run, expected one before");
  Tensors tensors(shape);
  sa_run_stats stats = emptyStats();
  ASSERT_EQ(runWhole(layer.get(), tensors, &stats), "");
  ASSERT_EQ(sa_layer_predict(layer.get(), machine.data(), machine.size(), &text,
                             &length),
            SA_OK);
  EXPECT_NE(std::string(text, length).find("predicted on 8 x H200, NVLink"),
            std::string::npos);
  EXPECT_EQ(sa_layer_predict(layer.get(), "{}", 2, &text, &length), SA_ERROR);
  EXPECT_STREQ(sa_last_error(), "machine: format: got none, expected one");
  EXPECT_EQ(sa_layer_predict(layer.get(), nullptr, 0, &text, &length),
            SA_ERROR);
}

TEST_F(Machines, Refusals) {
  options.auto_ranks = 2;
  options.ulysses = 2;
  EXPECT_EQ(error(), "auto_ranks: got it with ulysses 2 and ring 0, expected "
                     "neither of them");
  options.ulysses = 0;
  options.auto_ranks = -1;
  EXPECT_EQ(error(), "auto_ranks: got -1, expected 0 to 1024");
  options.auto_ranks = 9;
  EXPECT_EQ(error(),
            "ranks: got 9, expected 1 to 8 of the machine '8 x H200, NVLink'");
  options.machine_size = 10;
  EXPECT_EQ(error(), "machine: line 2: got no JSON, expected JSON");
  options.machine = nullptr;
  EXPECT_EQ(error(), "auto_ranks: got auto without a machine, expected one");
  options.auto_ranks = 0;
  options.balance = "auto";
  EXPECT_EQ(error(), "balance: got auto without a machine, expected one");
}

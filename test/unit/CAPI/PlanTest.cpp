//===- PlanTest.cpp - Plans and programs out and in -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"

#include <numeric>

using namespace capi_test;

namespace {
/// Heads 0 and 1 attend broadly, 2 and 3 narrowly: a swap pays.
struct Plans : testing::Test {
  Plans() {
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t i = 0; i < shape.sq * shape.dim; ++i)
        if (i % shape.dim)
          tensors.qData[static_cast<size_t>(h * shape.sq * shape.dim + i)] *=
              1e-3f;
  }
  Layer make(const char *balance, const char *device = "cpu") {
    sa_layer_options options = layerOptions(2, 2);
    options.balance = balance;
    return makeLayer(sharedEngine(device), routedText(shape), options);
  }
  sa_run_stats run(sa_layer *layer) {
    sa_run_stats stats = emptyStats();
    EXPECT_EQ(runWhole(layer, tensors, &stats), "");
    EXPECT_LT(tensors.error(lastMask(layer, shape)), 2e-4);
    return stats;
  }
  Shape shape;
  Tensors tensors{shape};
};
} // namespace

TEST_F(Plans, PlanOfOneLayerRunsInAnother) {
  for (const char *device : {"cpu", "reference"}) {
    Layer swap = make(nullptr, device), none = make("none", device);
    ASSERT_TRUE(swap && none);
    sa_run_stats planned = run(swap.get());
    EXPECT_GT(planned.moves, 0);
    EXPECT_LT(planned.rho_after, planned.rho_before);
    EXPECT_GT(planned.bytes_moved, 0);
    std::string plan = textOf(sa_layer_get_plan, swap.get());
    EXPECT_NE(plan.find("moves = [["), std::string::npos);

    sa_run_stats unplanned = run(none.get());
    EXPECT_EQ(unplanned.moves, 0);
    EXPECT_NE(unplanned.plan_hash, planned.plan_hash);
    std::string still = textOf(sa_layer_get_plan, none.get());
    // The plan that moves runs in place of the layer's own, and back.
    ASSERT_SA_OK(sa_layer_set_plan(swap.get(), still.data(), still.size()));
    EXPECT_EQ(run(swap.get()).moves, 0);
    ASSERT_SA_OK(sa_layer_set_plan(swap.get(), nullptr, 0));
    EXPECT_EQ(run(swap.get()).plan_hash, planned.plan_hash);
    ASSERT_SA_OK(sa_layer_set_plan(swap.get(), plan.data(), plan.size()));
    EXPECT_EQ(run(swap.get()).plan_hash, planned.plan_hash);
  }
}

TEST_F(Plans, PlanTextIsALayerThatCarriesItsPlan) {
  Layer first = make("swap");
  ASSERT_TRUE(first);
  sa_run_stats planned = run(first.get());
  std::string plan = textOf(sa_layer_get_plan, first.get());
  Layer second = makeLayer(sharedEngine(), plan, layerOptions());
  ASSERT_TRUE(second);
  EXPECT_EQ(run(second.get()).plan_hash, planned.plan_hash);
  EXPECT_EQ(textOf(sa_layer_get_plan, second.get()), plan);
}

TEST_F(Plans, PlansThatDoNotFit) {
  Layer layer = make("swap");
  ASSERT_TRUE(layer);
  sa_run_stats before = run(layer.get());
  auto errorOf = [&](const std::string &text) {
    EXPECT_EQ(sa_layer_set_plan(layer.get(), text.data(), text.size()),
              SA_ERROR);
    return std::string(sa_last_error());
  };
  EXPECT_SA_ERROR(sa_layer_set_plan(nullptr, "", 0),
                  "layer: got a null pointer, expected a layer");
  EXPECT_EQ(errorOf(routedText(shape)),
            "balance ops with a plan: got 0, expected one");
  EXPECT_EQ(errorOf("nonsense"), "line 1, column 1: custom op 'nonsense' is "
                                 "unknown (tried 'builtin.nonsense' as well)");
  Layer other =
      makeLayer(sharedEngine(), routedText(shape), layerOptions(4, 1));
  ASSERT_TRUE(other);
  run(other.get());
  EXPECT_EQ(errorOf(textOf(sa_layer_get_plan, other.get())),
            "plan's mesh axis ulysses does not match the placement: got 4, "
            "expected 2");
  // None of them took the place of the layer's own.
  EXPECT_EQ(run(layer.get()).plan_hash, before.plan_hash);
}

TEST_F(Plans, ProgramTextAndBytesRunAlike) {
  Layer layer = make("swap");
  ASSERT_TRUE(layer);
  sa_run_stats planned = run(layer.get());
  std::vector<float> out = tensors.outData, lse = tensors.lseData;
  std::vector<uint8_t> mask = lastMask(layer.get(), shape);
  std::string text = textOf(sa_layer_get_program, layer.get());
  const void *bytes = nullptr;
  size_t length = 0;
  ASSERT_SA_OK(sa_layer_get_program_bytes(layer.get(), &bytes, &length));
  std::string binary(static_cast<const char *>(bytes), length);
  EXPECT_EQ(binary.substr(0, 6), "SAPROG");
  for (const char *device : {"cpu", "reference"})
    for (const std::string &program : {text, binary}) {
      sa_layer *created = nullptr;
      ASSERT_SA_OK(sa_layer_create_from_program(sharedEngine(device),
                                                program.data(), program.size(),
                                                nullptr, &created));
      Layer bound(created);
      sa_run_stats stats = run(created);
      EXPECT_EQ(lastMask(created, shape), mask);
      EXPECT_EQ(stats.tiles, planned.tiles);
      EXPECT_EQ(stats.bytes_moved, planned.bytes_moved);
      EXPECT_EQ(stats.bytes_routed, planned.bytes_routed);
      if (std::string(device) == "cpu") {
        EXPECT_EQ(tensors.outData, out);
        EXPECT_EQ(tensors.lseData, lse);
      }
      EXPECT_EQ(textOf(sa_layer_get_program, created), text);
      // A program is bound: there is nothing to plan.
      std::string plan = textOf(sa_layer_get_plan, layer.get());
      EXPECT_SA_ERROR(sa_layer_set_plan(created, plan.data(), plan.size()),
                      "plan of a bound program: got one, expected none: its "
                      "plan is folded in");
      const char *unused = nullptr;
      EXPECT_SA_ERROR(
          sa_layer_get_plan(created, &unused, &length),
          "plan of a program: got a layer without its module, expected one "
          "compiled from sparseattn text");
      sa_layer_options options = layerOptions();
      options.dense_steps = 1;
      EXPECT_SA_ERROR(
          sa_layer_create_from_program(sharedEngine(device), program.data(),
                                       program.size(), &options, &created),
          "dense steps of a constant mask: got 1, expected 0: only "
          "routed layers re-route");
    }
}

TEST_F(Plans, DamagedProgramBytesAreRefused) {
  Layer layer = make("none", "reference");
  ASSERT_TRUE(layer);
  run(layer.get());
  const void *bytes = nullptr;
  size_t length = 0;
  ASSERT_SA_OK(sa_layer_get_program_bytes(layer.get(), &bytes, &length));
  std::string binary(static_cast<const char *>(bytes), length);
  for (size_t at = 0; at < binary.size(); at += 1 + binary.size() / 61) {
    std::string damaged = binary;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    sa_layer *created = nullptr;
    EXPECT_EQ(sa_layer_create_from_program(sharedEngine("reference"),
                                           damaged.data(), damaged.size(),
                                           nullptr, &created),
              SA_ERROR)
        << at;
    EXPECT_EQ(sa_layer_create_from_program(sharedEngine("reference"),
                                           binary.data(), at, nullptr,
                                           &created),
              SA_ERROR)
        << at;
  }
}

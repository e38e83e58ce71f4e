//===- ThreadsTest.cpp - Layers in several threads, lives of handles ------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"

#include <thread>

using namespace capi_test;

TEST(Threads, LayersOfOneEngineMayRunAtOnce) {
  Engine engine = makeEngine();
  Shape shape;
  std::vector<std::string> programs(3);
  std::vector<std::thread> threads;
  for (std::string &program : programs)
    threads.emplace_back([&] {
      Tensors tensors(shape);
      Layer layer =
          makeLayer(engine.get(), routedText(shape), layerOptions(2, 2));
      ASSERT_TRUE(layer);
      for (int round = 0; round < 4; ++round) {
        ASSERT_EQ(runWhole(layer.get(), tensors), "");
        EXPECT_LT(tensors.error(lastMask(layer.get(), shape)), 2e-4);
        program = textOf(sa_layer_get_program, layer.get());
        std::string plan = textOf(sa_layer_get_plan, layer.get());
        EXPECT_EQ(sa_layer_set_plan(layer.get(), plan.data(), plan.size()),
                  SA_OK)
            << sa_last_error();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_NE(programs[0], "");
  EXPECT_EQ(programs[0], programs[1]);
  EXPECT_EQ(programs[0], programs[2]);
}

TEST(Threads, LayerOutlivesItsEngine) {
  Shape shape;
  Tensors tensors(shape);
  Engine engine = makeEngine();
  Layer layer = makeLayer(engine.get(), routedText(shape), layerOptions(2, 1));
  ASSERT_TRUE(layer);
  engine.reset();
  ASSERT_EQ(runWhole(layer.get(), tensors), "");
  EXPECT_LT(tensors.error(lastMask(layer.get(), shape)), 2e-4);
  std::string plan = textOf(sa_layer_get_plan, layer.get());
  EXPECT_SA_ERROR(sa_layer_set_plan(layer.get(), "", 0),
                  "balance ops with a plan: got 0, expected one");
  EXPECT_EQ(sa_layer_set_plan(layer.get(), plan.data(), plan.size()), SA_OK);
  EXPECT_NE(textOf(sa_layer_get_program, layer.get()), "");
}

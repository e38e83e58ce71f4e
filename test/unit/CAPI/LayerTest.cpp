//===- LayerTest.cpp - Layers from text and from programs -----------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"

#include <cstring>

using namespace capi_test;

static sa_layer_info infoOf(sa_layer *layer) {
  sa_layer_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(sa_layer_get_info(layer, &info), SA_OK) << sa_last_error();
  return info;
}

TEST(Layer, InfoIsTheTextsAndTheOptions) {
  Shape shape;
  shape.causal = true;
  Layer layer =
      makeLayer(sharedEngine(), routedText(shape), layerOptions(3, 2));
  ASSERT_TRUE(layer);
  sa_layer_info info = infoOf(layer.get());
  EXPECT_EQ(info.heads, 4);
  EXPECT_EQ(info.kv_heads, 2);
  EXPECT_EQ(info.sq, 200);
  EXPECT_EQ(info.skv, 150);
  EXPECT_EQ(info.head_dim, 32);
  EXPECT_EQ(info.block_q, 32);
  EXPECT_EQ(info.block_k, 32);
  EXPECT_EQ(info.q_blocks, 7);
  EXPECT_EQ(info.kv_blocks, 5);
  EXPECT_EQ(info.ulysses, 3);
  EXPECT_EQ(info.ring, 2);
  EXPECT_EQ(info.ranks, 6);
  EXPECT_EQ(info.causal, 1);
  EXPECT_EQ(info.dtype, SA_F32);
  EXPECT_EQ(info.scale, 0.25);
  EXPECT_GT(info.jit_ms, 0);
  EXPECT_EQ(info.permuted, 0);
}

TEST(Layer, InfoFillsWhatTheCallersStructHolds) {
  Layer layer =
      makeLayer(sharedEngine("reference"), routedText(Shape()), layerOptions());
  ASSERT_TRUE(layer);
  sa_layer_info info;
  std::memset(&info, 0x5a, sizeof info);
  info.struct_size = offsetof(sa_layer_info, sq);
  ASSERT_SA_OK(sa_layer_get_info(layer.get(), &info));
  EXPECT_EQ(info.struct_size, offsetof(sa_layer_info, sq));
  EXPECT_EQ(info.kv_heads, 2);
  EXPECT_EQ(info.sq, 0x5a5a5a5a5a5a5a5a);
}

TEST(Layer, OptionsBeyondTheCallersStructAreDefaults) {
  sa_layer_options options = layerOptions(2, 1);
  options.struct_size = offsetof(sa_layer_options, balance);
  options.balance = "never read";
  options.dense_steps = -1;
  options.mask = reinterpret_cast<const uint8_t *>("x");
  Layer layer =
      makeLayer(sharedEngine("reference"), routedText(Shape()), options);
  ASSERT_TRUE(layer);
  EXPECT_EQ(infoOf(layer.get()).ulysses, 2);
}

TEST(Layer, NoOptionsMeanTheText) {
  sa_layer *layer = nullptr;
  std::string text = routedText(Shape());
  ASSERT_SA_OK(sa_layer_create(sharedEngine("reference"), text.data(),
                               text.size(), nullptr, &layer));
  EXPECT_EQ(infoOf(layer).ranks, 1);
  sa_layer_destroy(layer);
  sa_layer_destroy(nullptr);
}

TEST(Layer, ElementTypeInPlaceOfTheTexts) {
  Shape shape;
  std::vector<uint16_t> outs[2];
  for (int device = 0; device < 2; ++device)
    for (const char *dtype : {"f16", "bf16"}) {
      sa_layer_options options = layerOptions(2, 2);
      options.dtype = dtype;
      Layer layer = makeLayer(sharedEngine(device ? "reference" : "cpu"),
                              routedText(shape), options);
      ASSERT_TRUE(layer) << dtype;
      bool bf16 = !std::strcmp(dtype, "bf16");
      EXPECT_EQ(infoOf(layer.get()).dtype, bf16 ? SA_BF16 : SA_F16);
      Tensors floats(shape);
      EXPECT_EQ(runWhole(layer.get(), floats),
                bf16 ? "dtype of q: got 0, expected 1 (bf16)"
                     : "dtype of q: got 0, expected 2 (f16)");
      if (!bf16)
        continue;
      // The upper half of a float is a bf16.
      std::vector<uint16_t> halves[4];
      sa_tensor tensors[5] = {floats.q(), floats.k(), floats.v(), floats.out(),
                              floats.lse()};
      const std::vector<float> *from[4] = {&floats.qData, &floats.kData,
                                           &floats.vData, &floats.outData};
      for (int t = 0; t < 4; ++t) {
        for (float value : *from[t]) {
          uint32_t bits;
          std::memcpy(&bits, &value, sizeof bits);
          halves[t].push_back(static_cast<uint16_t>(bits >> 16));
        }
        tensors[t].dtype = SA_BF16;
        tensors[t].data = halves[t].data();
      }
      ASSERT_SA_OK(sa_layer_run_whole(layer.get(), &tensors[0], &tensors[1],
                                      &tensors[2], &tensors[3], &tensors[4],
                                      nullptr, nullptr));
      outs[device] = halves[3];
    }
  ASSERT_EQ(outs[0].size(), outs[1].size());
  for (size_t i = 0; i < outs[0].size(); ++i) {
    float values[2];
    for (int device = 0; device < 2; ++device) {
      uint32_t bits = static_cast<uint32_t>(outs[device][i]) << 16;
      std::memcpy(&values[device], &bits, sizeof bits);
    }
    ASSERT_NEAR(values[0], values[1], 2e-2) << i;
  }
}

TEST(Layer, EmptyTensorsRun) {
  // No query, then no key: rows without keys are zero and -infinity.
  for (auto [sq, skv] : {std::pair<int64_t, int64_t>{0, 100}, {100, 0}}) {
    Shape shape;
    shape.sq = sq;
    shape.skv = skv;
    Tensors tensors(shape);
    Layer layer =
        makeLayer(sharedEngine(), routedText(shape), layerOptions(2, 2));
    if (!layer)
      continue;
    EXPECT_EQ(runWhole(layer.get(), tensors), "");
    std::vector<uint8_t> mask(1);
    EXPECT_LT(tensors.error(mask), 1e-6) << sq << " " << skv;
  }
}

//===- InspectTest.cpp - What is known after a run ------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

using namespace capi_test;

namespace {
struct Inspect : testing::Test {
  Inspect() {
    layer = makeLayer(sharedEngine(), routedText(shape), layerOptions(2, 2));
  }
  Shape shape;
  Tensors tensors{shape};
  Layer layer;
};
} // namespace

TEST_F(Inspect, NothingBeforeTheFirstRun) {
  ASSERT_TRUE(layer);
  const char *none = "layer: got no finished run, expected one before";
  const char *text = nullptr;
  const void *bytes = nullptr;
  size_t length = 0;
  uint8_t bit = 0;
  sa_tensor q = tensors.q(), k = tensors.k(), v = tensors.v();
  int64_t row = 0;
  double value = 0;
  EXPECT_SA_ERROR(sa_layer_get_plan(layer.get(), &text, &length), none);
  EXPECT_SA_ERROR(sa_layer_get_program(layer.get(), &text, &length), none);
  EXPECT_SA_ERROR(sa_layer_get_program_bytes(layer.get(), &bytes, &length),
                  none);
  EXPECT_SA_ERROR(sa_layer_explain(layer.get(), &text, &length), none);
  EXPECT_SA_ERROR(sa_layer_get_trace(layer.get(), "", 0, &text, &length), none);
  EXPECT_SA_ERROR(sa_layer_get_mask(layer.get(), &bit, 1), none);
  EXPECT_SA_ERROR(sa_layer_reference(layer.get(), &q, &k, &v, 0, &row, 1,
                                     nullptr, &value, nullptr),
                  none);
  // Over all keys no mask is needed.
  EXPECT_EQ(sa_layer_reference(layer.get(), &q, &k, &v, 0, &row, 1, nullptr,
                               nullptr, &value),
            SA_OK);
  EXPECT_LT(value, -50);
}

TEST_F(Inspect, NullPointers) {
  ASSERT_TRUE(layer);
  ASSERT_EQ(runWhole(layer.get(), tensors), "");
  const char *null = "arguments: got a null pointer, expected none";
  const char *text = nullptr;
  const void *bytes = nullptr;
  size_t length = 0;
  EXPECT_SA_ERROR(sa_layer_get_plan(nullptr, &text, &length), null);
  EXPECT_SA_ERROR(sa_layer_get_program(layer.get(), nullptr, &length), null);
  EXPECT_SA_ERROR(sa_layer_get_program_bytes(layer.get(), &bytes, nullptr),
                  null);
  EXPECT_SA_ERROR(sa_layer_explain(layer.get(), &text, nullptr), null);
  EXPECT_SA_ERROR(sa_layer_get_trace(layer.get(), "", 0, nullptr, &length),
                  null);
  EXPECT_SA_ERROR(sa_layer_get_mask(layer.get(), nullptr, 140), null);
  EXPECT_SA_ERROR(sa_layer_reference(nullptr, nullptr, nullptr, nullptr, 0,
                                     nullptr, 0, nullptr, nullptr, nullptr),
                  null);
}

TEST_F(Inspect, MaskOfAnotherSize) {
  ASSERT_TRUE(layer);
  ASSERT_EQ(runWhole(layer.get(), tensors), "");
  std::vector<uint8_t> bits(139, 9);
  EXPECT_SA_ERROR(sa_layer_get_mask(layer.get(), bits.data(), bits.size()),
                  "size of the mask: got 139, expected 140");
  EXPECT_EQ(bits[0], 9);
}

TEST_F(Inspect, ExplanationNamesEveryRank) {
  ASSERT_TRUE(layer);
  ASSERT_EQ(runWhole(layer.get(), tensors), "");
  std::string text = textOf(sa_layer_explain, layer.get());
  for (const char *part : {"rank 0", "rank 1", "rank 2", "rank 3"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST_F(Inspect, TraceIsEventsOfEveryRank) {
  ASSERT_TRUE(layer);
  ASSERT_EQ(runWhole(layer.get(), tensors), "");
  const char *text = nullptr;
  size_t length = 0;
  ASSERT_SA_OK(
      sa_layer_get_trace(layer.get(), "step \"3\"\\\n", 5e6, &text, &length));
  auto events = nlohmann::json::parse("[" + std::string(text, length) + "]",
                                      nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(events.is_array()) << text;
  std::set<int> ranks;
  int labelled = 0;
  for (const auto &event : events) {
    ranks.insert(event["tid"].get<int>());
    labelled += event["name"] == "step \"3\"\\\n";
    if (event["ph"] == "X") {
      EXPECT_GE(event["ts"].get<double>(), 5e6);
    }
  }
  EXPECT_EQ(ranks, (std::set<int>{0, 1, 2, 3}));
  EXPECT_EQ(labelled, 4);
  ASSERT_SA_OK(sa_layer_get_trace(layer.get(), nullptr, 0, &text, &length));
}

TEST_F(Inspect, ReferenceIsTheRunsResult) {
  ASSERT_TRUE(layer);
  ASSERT_EQ(runWhole(layer.get(), tensors), "");
  sa_tensor q = tensors.q(), k = tensors.k(), v = tensors.v();
  const int64_t rows[3] = {0, 199, 33};
  std::vector<double> out(96), lse(3), dense(3);
  for (int64_t head = 0; head < 4; ++head) {
    ASSERT_SA_OK(sa_layer_reference(layer.get(), &q, &k, &v, head, rows, 3,
                                    out.data(), lse.data(), dense.data()));
    for (size_t r = 0; r < 3; ++r) {
      auto at = static_cast<size_t>(head * shape.sq + rows[r]);
      EXPECT_NEAR(lse[r], tensors.lseData[at], 2e-4);
      EXPECT_LE(lse[r], dense[r] + 1e-12);
      for (size_t d = 0; d < 32; ++d)
        EXPECT_NEAR(out[r * 32 + d], tensors.outData[at * 32 + d], 2e-4);
    }
  }
}

TEST_F(Inspect, ReferenceRefusesWhatIsOutOfRange) {
  ASSERT_TRUE(layer);
  ASSERT_EQ(runWhole(layer.get(), tensors), "");
  sa_tensor q = tensors.q(), k = tensors.k(), v = tensors.v();
  int64_t rows[2] = {0, 200};
  double lse[2];
  auto reference = [&](int64_t head, int64_t count) {
    return sa_layer_reference(layer.get(), &q, &k, &v, head, rows, count,
                              nullptr, lse, nullptr);
  };
  EXPECT_SA_ERROR(reference(4, 1), "head: got 4, expected 0 to 3");
  EXPECT_SA_ERROR(reference(-1, 1), "head: got -1, expected 0 to 3");
  EXPECT_SA_ERROR(reference(0, 2), "row 1: got 200, expected 0 to 199");
  EXPECT_SA_ERROR(reference(0, -1),
                  "count of rows: got -1, expected at least 0");
  k.sizes[0] = 4;
  EXPECT_SA_ERROR(reference(0, 1),
                  "size 0 of k must equal the layer's: got 4, expected 2");
  k = tensors.k();
  EXPECT_EQ(reference(0, 0), SA_OK);
}

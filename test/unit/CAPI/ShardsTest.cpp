//===- ShardsTest.cpp - Runs on one tensor per rank -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"

#include <cmath>

using namespace capi_test;

namespace {

/// A rank's part of a whole tensor, with gaps between rows and heads.
struct Shard {
  Shard(const sa_tensor &whole, int64_t begin, int64_t end, int64_t gap)
      : whole(whole), begin(begin) {
    int64_t heads = whole.sizes[0], tokens = end - begin,
            elements = whole.sizes[2];
    int64_t row = elements + gap, head = tokens * row + 3 * gap;
    data.assign(static_cast<size_t>(heads * head + 1), kGap);
    tensor = {data.data(), SA_F32, {heads, tokens, elements}, {head, row, 1}};
    forEach([](float &own, float &given) { own = given; });
  }
  template <typename Function>
  void forEach(Function function) {
    for (int64_t h = 0; h < tensor.sizes[0]; ++h)
      for (int64_t i = 0; i < tensor.sizes[1]; ++i)
        for (int64_t d = 0; d < tensor.sizes[2]; ++d)
          function(data[static_cast<size_t>(h * tensor.strides[0] +
                                            i * tensor.strides[1] + d)],
                   static_cast<float *>(
                       whole.data)[h * whole.strides[0] +
                                   (begin + i) * whole.strides[1] + d]);
  }
  /// Elements that are neither of the tensor nor as they were.
  int64_t spilled() {
    std::vector<float> copy = data;
    data.swap(copy);
    forEach([](float &own, float &) { own = kGap; });
    int64_t count = 0;
    for (float value : data)
      count += value != kGap;
    data.swap(copy);
    return count;
  }
  static constexpr float kGap = 12345.0f;
  sa_tensor whole;
  int64_t begin;
  std::vector<float> data;
  sa_tensor tensor;
};

/// Shards of all ranks for all five tensors.
struct Shards {
  Shards(sa_layer *layer, Tensors &tensors, int64_t ranks) {
    sa_tensor whole[5] = {tensors.q(), tensors.k(), tensors.v(), tensors.out(),
                          tensors.lse()};
    for (int64_t rank = 0; rank < ranks; ++rank) {
      sa_shard shard = {};
      EXPECT_EQ(sa_layer_get_shard(layer, rank, &shard), SA_OK);
      for (int t = 0; t < 5; ++t) {
        bool keys = t == 1 || t == 2;
        parts[t].emplace_back(whole[t], keys ? shard.kv_begin : shard.q_begin,
                              keys ? shard.kv_end : shard.q_end, 2 + rank + t);
      }
    }
    for (int t = 0; t < 5; ++t)
      for (Shard &part : parts[t]) {
        part.tensor.data = part.data.data();
        views[t].push_back(part.tensor);
      }
  }
  /// Outputs into the whole tensors; counts what was written outside.
  int64_t gather() {
    int64_t spilled = 0;
    for (int t = 0; t < 5; ++t)
      for (Shard &part : parts[t]) {
        spilled += part.spilled();
        if (t >= 3)
          part.forEach([](float &own, float &given) { given = own; });
      }
    return spilled;
  }
  std::vector<Shard> parts[5];
  std::vector<sa_tensor> views[5];
};

} // namespace

TEST(Shards, PartitionTheTokens) {
  Shape shape;
  for (auto [ulysses, ring] :
       {std::pair<int64_t, int64_t>{1, 1}, {4, 1}, {2, 3}, {3, 8}}) {
    Layer layer = makeLayer(sharedEngine("reference"), routedText(shape),
                            layerOptions(ulysses, ring));
    ASSERT_TRUE(layer);
    int64_t q = 0, kv = 0;
    for (int64_t rank = 0; rank < ulysses * ring; ++rank) {
      sa_shard shard = {-1, -1, -1, -1};
      ASSERT_SA_OK(sa_layer_get_shard(layer.get(), rank, &shard));
      EXPECT_EQ(shard.q_begin, q);
      EXPECT_EQ(shard.kv_begin, kv);
      q = shard.q_end;
      kv = shard.kv_end;
    }
    EXPECT_EQ(q, shape.sq);
    EXPECT_EQ(kv, shape.skv);
  }
}

TEST(Shards, RunInPlaceThroughAnyStrides) {
  Shape shape;
  Tensors tensors(shape);
  for (const char *device : {"cpu", "reference"})
    for (auto [ulysses, ring] :
         {std::pair<int64_t, int64_t>{2, 2}, {3, 1}, {1, 8}}) {
      Layer layer = makeLayer(sharedEngine(device), routedText(shape),
                              layerOptions(ulysses, ring));
      ASSERT_TRUE(layer);
      ASSERT_EQ(runWhole(layer.get(), tensors), "");
      std::vector<float> out = tensors.outData, lse = tensors.lseData;
      tensors.poison();
      Shards shards(layer.get(), tensors, ulysses * ring);
      ASSERT_SA_OK(sa_layer_run(layer.get(), shards.views[0].data(),
                                shards.views[1].data(), shards.views[2].data(),
                                shards.views[3].data(), shards.views[4].data(),
                                nullptr, nullptr));
      EXPECT_EQ(shards.gather(), 0) << "written outside the tensors";
      EXPECT_EQ(tensors.outData, out) << device << ulysses << " x " << ring;
      EXPECT_EQ(tensors.lseData, lse) << device << ulysses << " x " << ring;
    }
}

TEST(Shards, BeginAndFinishMakeOneRun) {
  Shape shape;
  Tensors tensors(shape);
  for (const char *device : {"cpu", "reference"}) {
    Layer layer =
        makeLayer(sharedEngine(device), routedText(shape), layerOptions(2, 2));
    ASSERT_TRUE(layer);
    sa_run_stats whole = emptyStats(), parts = emptyStats();
    ASSERT_EQ(runWhole(layer.get(), tensors, &whole), "");
    std::vector<float> out = tensors.outData, lse = tensors.lseData;
    tensors.poison();
    Shards shards(layer.get(), tensors, 4);
    auto *views = shards.views;
    ASSERT_SA_OK(
        sa_layer_begin(layer.get(), views[0].data(), views[1].data(), nullptr));
    EXPECT_TRUE(std::isnan(tensors.outData[0]));
    // A finish that is refused may be tried again.
    EXPECT_SA_ERROR(
        sa_layer_finish(layer.get(), nullptr, views[3].data(), views[4].data(),
                        nullptr),
        "tensors: got a null pointer, expected one tensor per rank");
    ASSERT_SA_OK(sa_layer_finish(layer.get(), views[2].data(), views[3].data(),
                                 views[4].data(), &parts));
    EXPECT_EQ(shards.gather(), 0);
    EXPECT_EQ(tensors.outData, out);
    EXPECT_EQ(tensors.lseData, lse);
    EXPECT_EQ(parts.tiles, whole.tiles);
    EXPECT_EQ(parts.plan_hash, whole.plan_hash);
    const char *unbegun = "sa_layer_finish: got no begun run, expected "
                          "sa_layer_begin before";
    EXPECT_SA_ERROR(sa_layer_finish(layer.get(), views[2].data(),
                                    views[3].data(), views[4].data(), nullptr),
                    unbegun);
    // A whole run in between takes the begun one's place.
    ASSERT_SA_OK(
        sa_layer_begin(layer.get(), views[0].data(), views[1].data(), nullptr));
    ASSERT_EQ(runWhole(layer.get(), tensors), "");
    EXPECT_SA_ERROR(sa_layer_finish(layer.get(), views[2].data(),
                                    views[3].data(), views[4].data(), nullptr),
                    unbegun);
  }
}

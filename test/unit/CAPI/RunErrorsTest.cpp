//===- RunErrorsTest.cpp - Runs that are refused --------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"

#include <cmath>
#include <string>

using namespace capi_test;

namespace {
struct RunErrors : testing::Test {
  RunErrors() {
    layer = makeLayer(sharedEngine(), routedText(shape), layerOptions());
    q = tensors.q();
    k = tensors.k();
    v = tensors.v();
    out = tensors.out();
    lse = tensors.lse();
  }
  sa_status run() {
    return sa_layer_run_whole(layer.get(), &q, &k, &v, &out, &lse, nullptr,
                              nullptr);
  }
  ~RunErrors() override {
    // Whatever was refused, the layer runs afterwards.
    EXPECT_EQ(runWhole(layer.get(), tensors), "");
    EXPECT_LT(tensors.error(lastMask(layer.get(), shape)), 2e-4);
  }
  Shape shape;
  Tensors tensors{shape};
  Layer layer;
  sa_tensor q, k, v, out, lse;
};
} // namespace

TEST_F(RunErrors, NullTensors) {
  EXPECT_SA_ERROR(sa_layer_run_whole(layer.get(), nullptr, &k, &v, &out, &lse,
                                     nullptr, nullptr),
                  "tensor q: got a null pointer, expected a tensor");
  EXPECT_SA_ERROR(sa_layer_run_whole(layer.get(), &q, &k, &v, &out, nullptr,
                                     nullptr, nullptr),
                  "tensor lse: got a null pointer, expected a tensor");
  EXPECT_SA_ERROR(
      sa_layer_run(layer.get(), &q, nullptr, &v, &out, &lse, nullptr, nullptr),
      "tensors: got a null pointer, expected one tensor per rank");
  EXPECT_SA_ERROR(sa_layer_begin(layer.get(), &q, nullptr, nullptr),
                  "tensors: got a null pointer, expected one tensor per rank");
  const char *noLayer = "layer: got a null pointer, expected a layer";
  EXPECT_SA_ERROR(
      sa_layer_run(nullptr, &q, &k, &v, &out, &lse, nullptr, nullptr), noLayer);
  EXPECT_SA_ERROR(
      sa_layer_run_whole(nullptr, &q, &k, &v, &out, &lse, nullptr, nullptr),
      noLayer);
  EXPECT_SA_ERROR(sa_layer_begin(nullptr, &q, &k, nullptr), noLayer);
  EXPECT_SA_ERROR(sa_layer_finish(nullptr, &v, &out, &lse, nullptr), noLayer);
}

TEST_F(RunErrors, TensorsThatAreNotTheLayers) {
  v.dtype = SA_BF16;
  EXPECT_SA_ERROR(run(), "dtype of v: got 1, expected 0 (f32)");
  v = tensors.v();
  lse.dtype = SA_F16;
  EXPECT_SA_ERROR(run(), "dtype of lse: got 2, expected 0 (f32)");
  lse = tensors.lse();
  k.sizes[1] = 151;
  EXPECT_SA_ERROR(run(),
                  "size 1 of k must equal the layer's: got 151, expected 150");
  k = tensors.k();
  q.sizes[0] = -4;
  EXPECT_SA_ERROR(run(),
                  "size 0 of q must equal the layer's: got -4, expected 4");
  q = tensors.q();
  lse.sizes[2] = 2;
  EXPECT_SA_ERROR(run(),
                  "size 2 of lse must equal the layer's: got 2, expected 1");
  lse = tensors.lse();
  out.data = nullptr;
  EXPECT_SA_ERROR(run(),
                  "data of out: got a null pointer, expected 25600 elements");
  out = tensors.out();
  q.strides[2] = 2;
  EXPECT_SA_ERROR(run(), "last stride of q: got 2, expected 1");
  q = tensors.q();
  out.strides[1] = 0;
  EXPECT_SA_ERROR(run(), "stride 1 of out: got 0, expected more than 0");
  out.strides[1] = -32;
  EXPECT_SA_ERROR(run(), "stride 1 of out: got -32, expected more than 0");
  out = tensors.out();
  for (int axis : {0, 1}) {
    SCOPED_TRACE(axis);
    q.strides[axis] = INT64_MAX;
    std::string message = "strides of q: got " + std::to_string(q.strides[0]) +
                          " and " + std::to_string(q.strides[1]) +
                          ", expected a tensor of less than 2^63 bytes";
    EXPECT_SA_ERROR(run(), message.c_str());
    q = tensors.q();
  }
  q.strides[0] = q.strides[1] = int64_t(1) << 55;
  EXPECT_SA_ERROR(run(), "strides of q: got 36028797018963968 and "
                         "36028797018963968, expected a tensor of less than "
                         "2^63 bytes");
}

TEST_F(RunErrors, ShardsNameTheirRank) {
  Layer two = makeLayer(sharedEngine(), routedText(shape), layerOptions(2, 1));
  ASSERT_TRUE(two);
  sa_tensor qs[2] = {q, q}, ks[2] = {k, k};
  for (int rank = 0; rank < 2; ++rank) {
    qs[rank].sizes[1] = 100;
    ks[rank].sizes[1] = 75;
  }
  ks[1].sizes[1] = 74;
  EXPECT_SA_ERROR(
      sa_layer_begin(two.get(), qs, ks, nullptr),
      "rank 1: size 1 of k must equal the layer's: got 74, expected 75");
}

TEST_F(RunErrors, Options) {
  sa_run_options options = {sizeof options, -1, 0};
  EXPECT_SA_ERROR(sa_layer_run_whole(layer.get(), &q, &k, &v, &out, &lse,
                                     &options, nullptr),
                  "step: got -1, expected at least 0");
  EXPECT_SA_ERROR(sa_layer_begin(layer.get(), &q, &k, &options),
                  "step: got -1, expected at least 0");
  options = {0, 0, 0};
  EXPECT_SA_ERROR(sa_layer_run_whole(layer.get(), &q, &k, &v, &out, &lse,
                                     &options, nullptr),
                  "struct_size of the run options: got 0, expected at least 8");
  sa_run_stats stats = {};
  EXPECT_SA_ERROR(
      sa_layer_run_whole(layer.get(), &q, &k, &v, &out, &lse, nullptr, &stats),
      "struct_size of the run stats: got 0, expected at least 8");
}

TEST_F(RunErrors, NaNInTheInputIsNoCrash) {
  float saved = tensors.qData[5];
  tensors.qData[5] = std::nanf("");
  std::string first = runWhole(layer.get(), tensors);
  std::string second = runWhole(layer.get(), tensors);
  EXPECT_EQ(first, second);
  tensors.qData[5] = saved;
}

//===- CompileOnlyTest.cpp - Engines that compile and do not run ----------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CapiTestSupport.h"

#include <dlfcn.h>

using namespace capi_test;

namespace {

Engine compileOnlyEngine(const char *device) {
  sa_engine_options options = {};
  options.struct_size = sizeof options;
  options.device = device;
  options.compile_only = 1;
  sa_engine *engine = nullptr;
  EXPECT_EQ(sa_engine_create(&options, &engine), SA_OK) << sa_last_error();
  return Engine(engine);
}

/// A layer that GPU kernels serve.
Shape gpuShape() {
  Shape shape;
  shape.dim = 128;
  shape.block = 64;
  return shape;
}

std::string cudaError(const Shape &shape, const char *dtype = nullptr) {
  Engine engine = compileOnlyEngine("cuda");
  sa_layer_options options = layerOptions();
  options.dtype = dtype;
  return layerError(engine.get(), routedText(shape), options);
}

} // namespace

TEST(CompileOnly, LayersSayWhatTheyAreAndDoNotRun) {
  Engine engine = compileOnlyEngine("cpu");
  Shape shape;
  Layer layer = makeLayer(engine.get(), routedText(shape), layerOptions());
  ASSERT_NE(layer, nullptr);
  sa_layer_info info = {};
  info.struct_size = sizeof info;
  ASSERT_SA_OK(sa_layer_get_info(layer.get(), &info));
  EXPECT_EQ(info.heads, shape.heads);
  sa_compile_info compiled = {};
  compiled.struct_size = sizeof compiled;
  ASSERT_SA_OK(sa_layer_get_compile_info(layer.get(), &compiled));
  EXPECT_EQ(compiled.kernel_count, 3);
  EXPECT_STREQ(compiled.notice, "");
  Tensors tensors(shape);
  sa_tensor q = tensors.q(), k = tensors.k(), v = tensors.v(),
            out = tensors.out(), lse = tensors.lse();
  const char *refusal =
      "layer of an engine with compile_only: got a run, expected none";
  EXPECT_SA_ERROR(
      sa_layer_run_whole(layer.get(), &q, &k, &v, &out, &lse, nullptr, nullptr),
      refusal);
  EXPECT_SA_ERROR(
      sa_layer_run(layer.get(), &q, &k, &v, &out, &lse, nullptr, nullptr),
      refusal);
  EXPECT_SA_ERROR(sa_layer_begin(layer.get(), &q, &k, nullptr), refusal);
  const char *text = nullptr;
  size_t length = 0;
  EXPECT_EQ(sa_layer_get_program(layer.get(), &text, &length), SA_ERROR);
}

TEST(CompileOnly, PtxasIsForGpus) {
  sa_engine_options options = {};
  options.struct_size = sizeof options;
  options.ptxas = "/usr/bin/ptxas";
  sa_engine *engine = nullptr;
  EXPECT_SA_ERROR(
      sa_engine_create(&options, &engine),
      "ptxas: got '/usr/bin/ptxas' with device cpu, expected device cuda");
  options.device = "cuda";
  options.ptxas = "/no/such/ptxas";
  // Whether there is a GPU does not matter.
  for (int compileOnly : {0, 1}) {
    options.compile_only = compileOnly;
    EXPECT_SA_ERROR(
        sa_engine_create(&options, &engine),
        "ptxas: got '/no/such/ptxas', which does not exist, expected NVIDIA's "
        "assembler");
    EXPECT_EQ(engine, nullptr);
  }
}

TEST(CompileOnly, RunsOnAGpuNeedADriver) {
  if (void *library = ::dlopen("libcuda.so.1", RTLD_LAZY)) {
    ::dlclose(library);
    GTEST_SKIP() << "there is a driver";
  }
  sa_engine_options options = {};
  options.struct_size = sizeof options;
  options.device = "cuda";
  sa_engine *engine = nullptr;
  ASSERT_EQ(sa_engine_create(&options, &engine), SA_ERROR);
  std::string message = sa_last_error();
  EXPECT_EQ(message.find("device cuda: cuda driver: got 'libcuda.so.1: "), 0u)
      << message;
  EXPECT_NE(message.find("', expected the library libcuda.so.1 of an NVIDIA "
                         "driver"),
            std::string::npos)
      << message;
}

TEST(CompileOnly, WhatNoGpuKernelServesIsRefused) {
  Shape shape = gpuShape();
  shape.causal = true;
  shape.skv = shape.sq;
  EXPECT_EQ(cudaError(shape),
            "mask on device cuda: got a causal one, expected one of whole "
            "blocks (device cpu runs token-level masks)");
  shape = gpuShape();
  shape.dim = 96;
  EXPECT_EQ(cudaError(shape), "head dimension on device cuda: got 96, expected "
                              "64, 128 or 256 (device cpu runs it)");
  shape = gpuShape();
  shape.block = 32;
  EXPECT_EQ(cudaError(shape),
            "blocks on device cuda: got 32x32, expected 128x128, 128x64, "
            "64x128 or 64x64 (device cpu runs them)");
  EXPECT_EQ(cudaError(gpuShape(), "f32"),
            "element type of q, k and v on device cuda: got f32, expected bf16 "
            "or f16 (device cpu runs it)");
  // As the run would say, but before the kernels are made.
  std::string text = routedText(gpuShape());
  for (size_t at; (at = text.find("scale 0.25")) != std::string::npos;)
    text.replace(at, 10, "scale -0.5");
  EXPECT_EQ(layerError(compileOnlyEngine("cuda").get(), text, layerOptions()),
            "scale on device cuda: got -0.5, expected above 0 (device cpu runs "
            "it)");
}
